import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@kruise/api/core/endpoints';
import { node } from '@kruise/api/core/node';
import { pod } from '@kruise/api/core/pod';
import { service } from '@kruise/api/core/service';
import { endpointSlice } from '@kruise/api/discovery/endpointslice';
import { type Cluster, startCluster } from '../../testing/cluster.ts';
import { endpointsOf } from './slice-set.ts';

const controllers = ['endpoints-controller', 'endpointslice-controller'];

async function start(): Promise<Cluster> {
  const cluster = await startCluster();
  await cluster.client.create(node, { metadata: { name: 'n', labels: { 'topology.kubernetes.io/zone': 'z' } } });
  await cluster.run(controllers);
  return cluster;
}

async function addPod(
  { client }: Cluster,
  name: string,
  { ip = '10.1.0.1', ready = true, app = 'web', nodeName = 'n' } = {},
) {
  const reference = { namespace: 'default', name };
  await client.create(pod, {
    metadata: { ...reference, labels: { app } },
    spec: { nodeName, containers: [{ name: 'main', image: 'example.com/main' }] },
  });
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
  const status = { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions };
  await client.patch(pod, reference, { status }, { type: 'merge', subresource: 'status' });
}

const web = {
  metadata: { name: 'web', namespace: 'default' },
  spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
};

async function slices({ client }: Cluster) {
  const { items } = await client.list(endpointSlice, {
    namespace: 'default',
    labelSelector: 'kubernetes.io/service-name=web',
  });
  return items.map((each) =>
    endpointsOf(each)
      .map(({ targetRef, conditions }) => `${conditions?.ready ? '' : '!'}${targetRef?.name}`)
      .toSorted(),
  );
}
async function subsets({ client }: Cluster) {
  const { subsets: found = [] } = await client.get(endpoints, { namespace: 'default', name: 'web' });
  return found.map(({ addresses = [], notReadyAddresses = [] }) => [
    ...addresses.map(({ ip }) => ip),
    ...notReadyAddresses.map(({ ip }) => `!${ip}`),
  ]);
}

test('endpoints follow Pods as they are added, become ready, change labels and are deleted', async () => {
  await using cluster = await start();
  const { client } = cluster;
  await client.create(service, web);
  await cluster.advance(1);
  assert.deepEqual([await slices(cluster), await subsets(cluster)], [[[]], []]);

  await addPod(cluster, 'a');
  await addPod(cluster, 'b', { ip: '10.1.0.2', ready: false });
  await addPod(cluster, 'other', { ip: '10.1.0.3', app: 'other' });
  await cluster.advance(1);
  assert.deepEqual([await slices(cluster), await subsets(cluster)], [[['!b', 'a']], [['10.1.0.1', '!10.1.0.2']]]);

  await client.patch(
    pod,
    { namespace: 'default', name: 'other' },
    { metadata: { labels: { app: 'web' } } },
    { type: 'merge' },
  );
  await client.delete(pod, { namespace: 'default', name: 'a' }, { gracePeriodSeconds: 0 });
  await cluster.advance(1);
  assert.deepEqual([await slices(cluster), await subsets(cluster)], [[['!b', 'other']], [['10.1.0.3', '!10.1.0.2']]]);

  await client.delete(service, { namespace: 'default', name: 'web' });
  await cluster.advance(1);
  await assert.rejects(client.get(endpoints, { namespace: 'default', name: 'web' }), /not found/);
  assert.deepEqual(cluster.warnings, []);
});

test('deleted or modified slices are restored', async () => {
  await using cluster = await start();
  const { client } = cluster;
  await addPod(cluster, 'a');
  await client.create(service, web);
  await cluster.advance(1);
  const [slice] = (
    await client.list(endpointSlice, { namespace: 'default', labelSelector: 'kubernetes.io/service-name=web' })
  ).items;
  await client.update(endpointSlice, { ...slice!, endpoints: [] });
  await client.delete(endpoints, { namespace: 'default', name: 'web' });
  await cluster.advance(2);
  assert.deepEqual([await slices(cluster), await subsets(cluster)], [[['a']], [['10.1.0.1']]]);
  await client.delete(endpointSlice, { namespace: 'default', name: slice!.metadata.name! });
  await cluster.advance(2);
  assert.deepEqual(await slices(cluster), [['a']]);
  assert.deepEqual(cluster.warnings, []);
});

test('a Pod is published when its node is in the cache', async () => {
  await using cluster = await start();
  await addPod(cluster, 'a', { nodeName: 'late' });
  await cluster.client.create(service, web);
  await cluster.advance(1);
  assert.deepEqual(await slices(cluster), [[]]);
  await cluster.client.create(node, { metadata: { name: 'late' } });
  await cluster.advance(1);
  assert.deepEqual(await slices(cluster), [['a']]);
});

test('Services without a selector, and ExternalName Services, are ignored', async () => {
  await using cluster = await start();
  const { client } = cluster;
  await client.create(service, { metadata: { name: 'web', namespace: 'default' }, spec: { ports: [{ port: 80 }] } });
  await client.create(service, {
    metadata: { name: 'far', namespace: 'default' },
    spec: { type: 'ExternalName', externalName: 'example.com' },
  });
  await cluster.advance(1);
  assert.deepEqual(await slices(cluster), []);
  await assert.rejects(client.get(endpoints, { namespace: 'default', name: 'web' }), /not found/);
});

test('Endpoints whose Service was deleted while the controller was down are deleted', async () => {
  await using cluster = await startCluster();
  await cluster.client.create(endpoints, { metadata: { name: 'left', namespace: 'default' } });
  await cluster.run(controllers);
  await cluster.advance(1);
  await assert.rejects(cluster.client.get(endpoints, { namespace: 'default', name: 'left' }), /not found/);
});
