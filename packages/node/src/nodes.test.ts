import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { event } from '@kruise/api/core/event';
import { namespace } from '@kruise/api/core/namespace';
import { node as nodeKind } from '@kruise/api/core/node';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { networkConnector } from '@kruise/apiserver/connect/node-connector';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import { startInformer } from '@kruise/client/informer';
import { isPodReady } from '@kruise/machinery/pods';
import { systemClock, systemRandom } from '@kruise/values/system';
import { createNodeDirectory } from './node-directory.ts';
import { startNodes } from './nodes.ts';

async function startCluster(count: number) {
  const directory = createNodeDirectory(networkConnector(systemClock));
  const server = await startTestServer({ nodes: directory });
  const { client } = server;
  await client.create(namespace, { metadata: { name: 'kube-node-lease' } }).catch(() => {});
  await client.create(serviceAccount, { metadata: { name: 'default', namespace: 'default' } });
  const stop = new AbortController();
  const nodes = startNodes(
    {
      count,
      node: (number) => ({ podRange: `10.244.${number}.0/24`, labels: { number: String(number) } }),
      clientOf: (name) =>
        server.clientOf({ username: `system:node:${name}`, groups: ['system:nodes', 'system:authenticated'] }),
      reader: client,
      clock: systemClock,
      random: systemRandom,
      directory,
      images: ['nginx:1.25'],
    },
    stop.signal,
  );
  const pods = startInformer(client, systemClock, systemRandom, podKind, {}, stop.signal);
  /** Resolves when a Pod matches a predicate. */
  const waitUntil = (name: string, predicate: (pod: Pod | undefined) => boolean) =>
    new Promise<Pod | undefined>((resolve) => {
      pods.handle(({ type, object }) => {
        const found = type === 'deleted' ? undefined : object;
        if (object.metadata.name === name && predicate(found)) resolve(found);
      });
    });
  return {
    server,
    client,
    nodes,
    directory,
    waitUntil,
    run: (name: string, nodeName: string) =>
      client.create(podKind, {
        metadata: { name, namespace: 'default' },
        spec: { nodeName, automountServiceAccountToken: false, containers: [{ name: 'c', image: 'nginx:1.25' }] },
      }),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await nodes.stopped();
      await server.close();
    },
  };
}

const isReady = (pod: Pod | undefined) => pod !== undefined && isPodReady(pod);

test('nodes of one process run the Pods bound to them', async () => {
  await using cluster = await startCluster(3);
  await cluster.nodes.registered;
  const { items } = await cluster.client.list(nodeKind);
  assert.deepEqual(items.map(({ metadata }) => metadata.labels?.number).sort(), ['1', '2', '3']);
  const ready = Promise.all(['a', 'b', 'c'].map((name) => cluster.waitUntil(name, isReady)));
  await Promise.all([cluster.run('a', 'node-1'), cluster.run('b', 'node-2'), cluster.run('c', 'node-3')]);
  const addresses = (await ready).map((pod) => pod?.status?.podIP?.split('.')[2]);
  assert.deepEqual(addresses, ['1', '2', '3']);
});

test('a disconnected node keeps running and reports its status after the reconnect', async () => {
  await using cluster = await startCluster(1);
  await cluster.nodes.registered;
  const ready = cluster.waitUntil('a', isReady);
  await cluster.run('a', 'node-1');
  const before = await ready;
  await cluster.nodes.disconnect('node-1');
  await cluster.client.delete(podKind, { name: 'a', namespace: 'default' });
  const found = await cluster.client.get(podKind, { name: 'a', namespace: 'default' });
  assert.equal(found.status?.phase, 'Running');
  const gone = cluster.waitUntil('a', (pod) => pod === undefined);
  await cluster.nodes.start('node-1');
  await gone;
  assert.equal(before?.status?.containerStatuses?.[0]?.restartCount, 0);
});

test('Pods of a powered-off node restart with it', async () => {
  await using cluster = await startCluster(1);
  await cluster.nodes.registered;
  const ready = cluster.waitUntil('a', isReady);
  await cluster.run('a', 'node-1');
  await ready;
  await cluster.nodes.stop('node-1');
  const restarted = cluster.waitUntil(
    'a',
    (pod) => isReady(pod) && pod?.status?.containerStatuses?.[0]?.restartCount === 1,
  );
  await cluster.nodes.start('node-1');
  const after = await restarted;
  assert.equal(after?.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 137);
  const reboots = async () =>
    (await cluster.client.list(event, { namespace: 'default' })).items.filter(({ reason }) => reason === 'Rebooted');
  const [reboot] = await reboots();
  assert.match(reboot?.message ?? '', /^Node node-1 has been rebooted, boot id: [0-9a-f-]{36}$/);
});

test('the API server reaches a kubelet without a socket', async () => {
  await using cluster = await startCluster(1);
  await cluster.nodes.registered;
  const ready = cluster.waitUntil('a', isReady);
  await cluster.run('a', 'node-1');
  await ready;
  const found = await cluster.client.get(nodeKind, { name: 'node-1' });
  const backend = cluster.directory.kubelet(found);
  const { signal } = new AbortController();
  const ask = async (path: string) => {
    const answer = await backend.send({ method: 'GET', path, headers: {}, signal });
    return { code: answer.code, text: await text(answer.body) };
  };
  assert.deepEqual(await ask('/healthz'), { code: 200, text: 'ok' });
  const pods = JSON.parse((await ask('/pods')).text) as { items: Pod[] };
  assert.deepEqual(
    pods.items.map(({ metadata }) => metadata.name),
    ['a'],
  );
  assert.equal((await ask('/containerLogs/default/a/c')).code, 200);
  assert.deepEqual(await ask('/containerLogs/default/b/c'), { code: 404, text: 'pod "b" does not exist' });
  assert.deepEqual(await ask('/containerLogs/default/a/d'), { code: 404, text: 'container "d" not found in pod "a"' });
});
