import assert from 'node:assert/strict';
import { test } from 'node:test';
import { event } from '@kruise/api/core/event';
import { node } from '@kruise/api/core/node';
import { service } from '@kruise/api/core/service';
import { type Cluster, startCluster } from '../testing/cluster.ts';
import { runCloudControllerManager } from './cloud-controller-manager.ts';
import { localProvider } from './local/provider.ts';
import type { CloudProvider, Route } from './provider.ts';

const web = { namespace: 'default', name: 'web' };

async function start(provider: CloudProvider): Promise<Cluster> {
  const cluster = await startCluster();
  const stop = new AbortController();
  const { client, clock, clientOfAccount: clientOf } = cluster;
  const { promise: started, resolve: onRunning } = Promise.withResolvers<unknown>();
  const options = {
    provider,
    client,
    clientOf,
    clock,
    random: { next: () => 0.5 },
    clusterRanges: ['10.0.0.0/16'],
    onRunning,
  };
  const done = runCloudControllerManager(options, stop.signal);
  await started;
  await cluster.advance(0);
  const close = async () => {
    stop.abort();
    await cluster.advance(0);
    await done;
    await cluster.close();
  };
  return { ...cluster, close, [Symbol.asyncDispose]: close };
}

const addressesOf = async ({ client }: Cluster) =>
  (await client.get(service, web)).status?.loadBalancer?.ingress?.map(({ ip }) => ip) ?? [];
const eventsOf = async ({ client }: Cluster, name: string) =>
  (await client.list(event)).items
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ reason }) => reason);

test('a Service of type LoadBalancer has an address as long as it has that type', async () => {
  await using cluster = await start(localProvider({ addressRanges: ['10.9.0.0/24'] }));
  const { client } = cluster;
  await client.create(node, { metadata: { name: 'a' } });
  await client.create(service, {
    metadata: web,
    spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port: 80 }] },
  });
  await cluster.advance(1);
  const [address] = await addressesOf(cluster);
  assert.match(address ?? '', /^10\.9\.0\./);
  assert.deepEqual((await client.get(service, web)).metadata.finalizers, [
    'service.kubernetes.io/load-balancer-cleanup',
  ]);
  assert.deepEqual(await eventsOf(cluster, 'web'), ['EnsuringLoadBalancer', 'EnsuredLoadBalancer']);

  await client.create(node, { metadata: { name: 'b' } });
  await cluster.advance(1);
  assert.equal((await eventsOf(cluster, 'web')).at(-1), 'UpdatedLoadBalancer');

  await client.patch(service, web, { spec: { type: 'ClusterIP' } }, { type: 'merge' });
  await cluster.advance(1);
  const { metadata, status } = await client.get(service, web);
  assert.deepEqual([metadata.finalizers, status?.loadBalancer], [undefined, {}]);

  await client.patch(service, web, { spec: { type: 'LoadBalancer' } }, { type: 'merge' });
  await cluster.advance(1);
  assert.deepEqual(await addressesOf(cluster), [address]);
  await client.delete(service, web);
  await cluster.advance(1);
  await assert.rejects(client.get(service, web), /not found/);
  assert.equal((await eventsOf(cluster, 'web')).at(-1), 'DeletedLoadBalancer');
});

test('a load balancer that cannot be provisioned is retried later, and an event is emitted', async () => {
  const { loadBalancers, ...provider } = localProvider({ addressRanges: ['10.9.0.0/24'] });
  let failures = 1;
  const ensure: NonNullable<typeof loadBalancers>['ensure'] = async (...wanted) => {
    if (failures-- > 0) throw new Error('no more of them');
    return loadBalancers!.ensure(...wanted);
  };
  await using cluster = await start({ ...provider, loadBalancers: { ...loadBalancers!, ensure } });
  await cluster.client.create(service, { metadata: web, spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } });
  await cluster.advance(4);
  assert.deepEqual(await addressesOf(cluster), []);
  const { items } = await cluster.client.list(event);
  const messages = items.map(({ message }) => message);
  assert.ok(messages.includes('Error syncing load balancer: failed to ensure load balancer: no more of them'));
  await cluster.advance(6);
  assert.equal((await addressesOf(cluster)).length, 1);
});

test('an uninitialized node is initialized by its cloud', async () => {
  await using cluster = await start(localProvider({ addressRanges: ['10.9.0.0/24'] }));
  const taints = [
    { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' as const },
  ];
  await cluster.client.create(node, { metadata: { name: 'a' }, spec: { taints } });
  await cluster.advance(1);
  const { spec } = await cluster.client.get(node, { name: 'a' });
  assert.deepEqual(
    [spec?.providerID, spec?.taints?.map(({ key }) => key)],
    ['local://a', ['node.kubernetes.io/not-ready']],
  );
  assert.deepEqual(await eventsOf(cluster, 'a'), ['Synced']);
});

test('a node without an instance is deleted, and routes follow nodes', async () => {
  const routes = new Map<string, Route>();
  const gone = new Set<string>();
  await using cluster = await start({
    name: 'test',
    instances: {
      exists: async ({ metadata }) => !gone.has(metadata.name ?? ''),
      isShutDown: async () => false,
      metadata: async ({ metadata }) => ({ providerId: `test://${metadata.name}` }),
    },
    routes: {
      list: async () => [...routes.values()],
      create: async (name, route) => void routes.set(name, { name, ...route }),
      remove: async ({ name }) => void routes.delete(name),
    },
  });
  await cluster.client.create(node, {
    metadata: { name: 'a' },
    spec: { podCIDR: '10.0.1.0/24', podCIDRs: ['10.0.1.0/24'] },
  });
  await cluster.advance(11);
  assert.deepEqual(
    [...routes.values()].map(({ targetNode, destination }) => `${targetNode} ${destination}`),
    ['a 10.0.1.0/24'],
  );
  const { status } = await cluster.client.get(node, { name: 'a' });
  assert.deepEqual(
    status?.conditions?.map(({ type, reason }) => `${type} ${reason}`),
    ['NetworkUnavailable RouteCreated'],
  );

  gone.add('a');
  await cluster.advance(20);
  await assert.rejects(cluster.client.get(node, { name: 'a' }), /not found/);
  assert.deepEqual([...routes], []);
  assert.deepEqual(await eventsOf(cluster, 'a'), ['DeletingNode']);
});
