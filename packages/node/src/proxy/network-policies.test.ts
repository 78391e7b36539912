import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namespace } from '@kruise/api/core/namespace';
import { pod } from '@kruise/api/core/pod';
import { service } from '@kruise/api/core/service';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { endpointSlice } from '@kruise/api/discovery/endpointslice';
import { networkPolicy } from '@kruise/api/networking/networkpolicy';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import { createCaches } from '@kruise/client/informer';
import { systemClock, systemRandom } from '@kruise/values/system';
import { virtualClock } from '@kruise/values/virtual-clock';
import { ConnectError, createSimulatedNetwork } from '../cri/simulated/network.ts';
import { networkPolicies } from './network-policies.ts';
import { serviceRoutes } from './service-routes.ts';

const nodeAddress = '172.18.0.2';

/** Two Pods, web and db, a Service of web, and a simulated network with all of them. */
async function startNetwork() {
  await using setup = new AsyncDisposableStack();
  const server = await startTestServer();
  setup.defer(() => server.close());
  const { client } = server;
  const stop = new AbortController();
  setup.defer(() => stop.abort());
  const caches = createCaches(client, systemClock, systemRandom, {}, stop.signal);
  const clock = virtualClock(0);
  const filter = networkPolicies({ caches, clock, isAddressOfNode: (address) => address === nodeAddress });
  const services = serviceRoutes({
    services: caches.informer(service),
    slices: caches.informer(endpointSlice),
    random: systemRandom,
    now: () => 0,
  });
  const network = createSimulatedNetwork({ services, filter });
  const place = { namespace: 'default' };
  await client.create(serviceAccount, { metadata: { ...place, name: 'default' } });
  const addresses = { web: '10.0.0.1', db: '10.0.0.2' };
  for (const [name, podIP] of Object.entries(addresses)) {
    const created = await client.create(pod, {
      metadata: { ...place, name, labels: { name } },
      spec: { nodeName: 'node-1', automountServiceAccountToken: false, containers: [{ name: 'c', image: 'x' }] },
    });
    const status = { phase: 'Running' as const, podIP, podIPs: [{ ip: podIP }] };
    await client.update(pod, { ...created, status }, { subresource: 'status' });
    const attached = network.attach(podIP);
    attached.listen(80, { connection: (connection) => connection.end() });
    attached.listen(53, { datagram: () => 'answer' });
    attached.listen(80, { transport: 'SCTP', connection: (connection) => connection.end() });
  }
  const created = await client.create(service, {
    metadata: { ...place, name: 'web' },
    spec: { ports: [{ port: 8080, targetPort: 80 }] },
  });
  await client.create(endpointSlice, {
    metadata: { ...place, name: 'web-1', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [addresses.web], conditions: { ready: true } }],
    ports: [{ port: 80, protocol: 'TCP', name: '' }],
  });
  const isDenied = async (source: string, host: string, port = 80, transport: 'TCP' | 'SCTP' = 'TCP') => {
    const abort = AbortSignal.abort(new Error('timeout'));
    // A connection whose packets are dropped waits until the client gives up.
    const outcome = network.viewFrom(source).connect({ host, port }, { signal: abort, transport });
    return outcome.then(
      () => false,
      (error: Error) => {
        assert.equal(error.message, 'timeout');
        return true;
      },
    );
  };
  const running = setup.move();
  return {
    client,
    caches,
    clock,
    network,
    isDenied,
    ...addresses,
    clusterIP: created.spec?.clusterIP ?? '',
    deny: () =>
      client.create(networkPolicy, {
        metadata: { ...place, name: 'deny' },
        spec: { podSelector: { matchLabels: { name: 'web' } }, policyTypes: ['Ingress'] },
      }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function eventually(isTrue: () => unknown): Promise<void> {
  const deadline = performance.now() + 5000;
  while (!(await isTrue())) {
    assert.ok(performance.now() < deadline, 'timed out');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('connections that policies deny are dropped, also through a Service', async () => {
  await using cluster = await startNetwork();
  const { web, db, clusterIP, isDenied, network } = cluster;
  await eventually(() => cluster.caches.informer(endpointSlice).size === 1);
  assert.equal(await isDenied(db, web), false);
  assert.equal(await isDenied(db, clusterIP, 8080), false);
  await cluster.deny();
  await eventually(() => isDenied(db, web));
  assert.equal(await isDenied(db, clusterIP, 8080), true);
  assert.equal(await isDenied(db, web, 80, 'SCTP'), true);
  assert.equal(await isDenied(db, web, 81), true, 'a port without listener times out, too');
  assert.equal(network.viewFrom(db).ask({ host: web, port: 53 }, 'question'), undefined);
  assert.equal(await isDenied(web, db), false, 'egress is not isolated');
  assert.equal(await isDenied(web, clusterIP, 8080), false, 'a Pod reaches itself');
  assert.equal(await isDenied(nodeAddress, web), false, 'probes of the kubelet pass');
  assert.equal(network.viewFrom(nodeAddress).ask({ host: web, port: 53 }, 'question'), 'answer');
});

test('a policy follows the labels of namespaces', async () => {
  await using cluster = await startNetwork();
  const { web, db, isDenied, client } = cluster;
  await cluster.deny();
  await client.create(networkPolicy, {
    metadata: { namespace: 'default', name: 'allow' },
    spec: { podSelector: {}, ingress: [{ from: [{ namespaceSelector: { matchLabels: { team: 'one' } } }] }] },
  });
  await eventually(() => isDenied(db, web));
  await client.patch(namespace, { name: 'default' }, { metadata: { labels: { team: 'one' } } }, { type: 'merge' });
  await eventually(async () => !(await isDenied(db, web)));
});

test('a dropped connection times out as on Linux', async () => {
  await using cluster = await startNetwork();
  const { web, db, clock } = cluster;
  await cluster.deny();
  await eventually(() => cluster.isDenied(db, web));
  const connecting = cluster.network.viewFrom(db).request({ host: web, port: 80, path: '/' });
  const rejected = assert.rejects(connecting, (error: unknown) => {
    assert.ok(error instanceof ConnectError);
    assert.equal(error.code, 'ETIMEDOUT');
    assert.equal(error.message, 'dial tcp 10.0.0.1:80: connect: connection timed out');
    return true;
  });
  clock.advance(127_000);
  await rejected;
});

test('Pods and Namespaces are watched only if there is a policy', async () => {
  await using cluster = await startNetwork();
  const { web, db, isDenied, caches } = cluster;
  await caches.informer(networkPolicy).synced;
  assert.equal(await isDenied(db, web), false);
  const informers = () =>
    [pod, namespace].map(
      (kind) => caches.informersFor(kind, { apiVersion: 'v1', kind: kind.kind, metadata: { name: 'x' } }).length,
    );
  assert.deepEqual(informers(), [0, 0]);
  await cluster.deny();
  await eventually(() => isDenied(db, web));
  assert.deepEqual(informers(), [1, 1]);
});
