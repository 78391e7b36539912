import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployment } from '@kruise/api/apps/deployment';
import { configMap } from '@kruise/api/core/configmap';
import { namespace } from '@kruise/api/core/namespace';
import { pod } from '@kruise/api/core/pod';
import { secret } from '@kruise/api/core/secret';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { createClient } from '@kruise/client/client';
import { runControllers } from '@kruise/client/manager';
import { findCondition } from '@kruise/machinery/conditions';
import { internalError, isNotFound } from '@kruise/machinery/status';
import { seededRandom } from '@kruise/values/random';
import { box, defineBox } from '../../testing/box.ts';
import { type Cluster, startCluster } from '../../testing/cluster.ts';
import { namespaceController } from './controller.ts';

const shop = { name: 'shop' };
const inShop = (name: string, finalizers: readonly string[] = []) => ({ name, namespace: 'shop', finalizers });

async function startShop(settings: object = { namespaceDeletionDelaySeconds: 0 }): Promise<Cluster> {
  const cluster = await startCluster();
  await cluster.client.create(namespace, { metadata: shop });
  await cluster.client.create(serviceAccount, { metadata: { name: 'default', namespace: 'shop' } });
  await cluster.run(['namespace-controller'], settings);
  return cluster;
}

const isGone = ({ client }: Cluster) =>
  client.get(namespace, shop).then(
    () => false,
    (error) => isNotFound(error) || Promise.reject(error),
  );

async function conditionOf({ client }: Cluster, type: string) {
  const { status } = await client.get(namespace, shop);
  const { reason, message } = findCondition(status?.conditions, type) ?? {};
  return `${reason}: ${message}`;
}

test('a namespace is deleted with all its content, including custom resources', async () => {
  await using cluster = await startShop();
  const { client } = cluster;
  await defineBox(client);
  await cluster.advance(1);
  await client.create(box, { metadata: inShop('fruit') });
  await client.create(configMap, { metadata: inShop('settings') });
  await client.create(secret, { metadata: inShop('key') });
  await client.create(configMap, { metadata: { name: 'stays', namespace: 'default' } });

  await client.delete(namespace, shop);
  await cluster.advance(1);

  assert.ok(await isGone(cluster));
  for (const kind of [box, configMap, secret]) {
    assert.deepEqual((await client.list(kind, { namespace: 'shop' })).items, []);
  }
  assert.equal((await client.list(configMap, { namespace: 'default' })).items.length, 1);
  assert.deepEqual(cluster.warnings, []);
});

test('the deletion of a namespace is delayed by five seconds, until all API servers reject new content', async () => {
  await using cluster = await startShop({});
  await cluster.client.delete(namespace, shop);
  await cluster.advance(4);
  assert.ok(!(await isGone(cluster)));
  await cluster.advance(1);
  assert.ok(await isGone(cluster));
});

test('a foreign finalizer keeps the namespace, which reports it, and is deleted once the finalizer is removed', async () => {
  await using cluster = await startShop();
  const { client } = cluster;
  await client.create(configMap, { metadata: inShop('settings', ['example.com/hold']) });
  await client.delete(namespace, shop);
  await cluster.advance(60);

  assert.ok(!(await isGone(cluster)));
  assert.equal(
    await conditionOf(cluster, 'NamespaceFinalizersRemaining'),
    'SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
  );

  await client.patch(configMap, inShop('settings'), { metadata: { finalizers: null } }, { type: 'merge' });
  await cluster.advance(0.1);
  assert.ok(await isGone(cluster), 'the deletion is observed by a watch');
  assert.deepEqual(cluster.warnings, []);
});

test('while a Pod remains, nothing else is deleted', async () => {
  await using cluster = await startShop();
  const { client } = cluster;
  const containers = [{ name: 'main', image: 'example.com/shop' }];
  await client.create(pod, { metadata: inShop('till'), spec: { nodeName: 'node-1', containers } });
  await client.create(configMap, { metadata: inShop('settings') });
  const template = { metadata: { labels: { app: 'shop' } }, spec: { containers } };
  await client.create(deployment, {
    metadata: inShop('web'),
    spec: { selector: { matchLabels: { app: 'shop' } }, template },
  });
  await client.delete(namespace, shop);
  await cluster.advance(5);

  const till = await client.get(pod, inShop('till'));
  assert.ok(till.metadata.deletionTimestamp);
  assert.equal((await client.list(configMap, { namespace: 'shop' })).items.length, 1);
  assert.equal((await client.list(deployment, { namespace: 'shop' })).items.length, 1);
  assert.equal(
    await conditionOf(cluster, 'NamespaceContentRemaining'),
    'SomeResourcesRemain: Some resources are remaining: pods. has 1 resource instances',
  );

  await client.delete(pod, inShop('till'), { gracePeriodSeconds: 0 });
  await cluster.advance(0.1);
  assert.ok(await isGone(cluster), 'the deletion of the last Pod is observed by a watch');
  assert.deepEqual(cluster.warnings, []);
});

test('a namespace with foreign finalizers of its own stays empty', async () => {
  await using cluster = await startShop();
  const { client } = cluster;
  await client.patch(namespace, shop, { metadata: { finalizers: ['example.com/hold'] } }, { type: 'merge' });
  await client.create(configMap, { metadata: inShop('settings') });
  await client.delete(namespace, shop);
  await cluster.advance(60);

  const { spec, status } = await client.get(namespace, shop);
  assert.deepEqual([spec?.finalizers ?? [], status?.phase], [[], 'Terminating']);
  assert.deepEqual((await client.list(configMap, { namespace: 'shop' })).items, []);

  await client.patch(namespace, shop, { metadata: { finalizers: null } }, { type: 'merge' });
  assert.ok(await isGone(cluster));
});

test('a failed deletion is retried with backoff, and the namespace reports the reason', async () => {
  await using cluster = await startCluster();
  const { client, clock } = cluster;
  await client.create(namespace, { metadata: shop });
  await client.create(configMap, { metadata: inShop('settings') });
  const { transport } = cluster.clientOfAccount('namespace-controller');
  let attempts = 0;
  const refused = createClient({
    ...transport,
    async request(request) {
      if (request.method !== 'DELETE' || !request.path.endsWith('/configmaps')) return transport.request(request);
      attempts++;
      throw internalError('broken');
    },
  });
  const stop = new AbortController();
  const running = runControllers(
    [namespaceController(0)],
    { client: refused, clock, random: seededRandom(1) },
    stop.signal,
  );
  await cluster.advance(1);
  await client.delete(namespace, shop);
  await cluster.advance(60);
  assert.ok(attempts > 5 && attempts < 20, `${attempts} attempts in a minute`);
  assert.match(await conditionOf(cluster, 'NamespaceDeletionContentFailure'), /^ContentDeletionFailed: .*broken/);
  stop.abort();
  await cluster.advance(0);
  await running;
});
