import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConfigMap, configMap } from '@kruise/api/core/configmap';
import { createClient } from '@kruise/client/client';
import { createCaches, startInformer } from '@kruise/client/informer';
import { runReflector } from '@kruise/client/reflector';
import { isExpired } from '@kruise/machinery/status';
import { startCluster } from './cluster.ts';

const named = (name: string, data: Record<string, string> = {}): Partial<ConfigMap> => ({
  metadata: { name, namespace: 'default' },
  data,
});

for (const watchList of [false, true]) {
  const how = watchList ? 'streamed' : 'listed';
  test(`an informer that is ${how} follows the state of the server`, async () => {
    const cluster = await startCluster({ watchList: true });
    const { client, clock, random } = cluster;
    for (let index = 0; index < 30; index++) await client.create(configMap, named(`before-${index}`));
    const stop = new AbortController();
    const informer = startInformer(
      client,
      clock,
      random,
      configMap,
      { watchList, namespace: 'default', pageSize: 7 },
      stop.signal,
    );
    await informer.synced;
    for (let index = 0; index < 30; index++) await client.create(configMap, named(`after-${index}`));
    for (let index = 0; index < 30; index += 2) {
      await client.delete(configMap, { namespace: 'default', name: `before-${index}` });
      await client.patch(
        configMap,
        { namespace: 'default', name: `after-${index}` },
        { data: { changed: 'yes' } },
        { type: 'merge' },
      );
    }
    // Long enough for watches to end and restart.
    await cluster.advance(1500);
    await client.create(configMap, named('last'));
    await cluster.advance(0);
    const { items } = await client.list(configMap, { namespace: 'default' });
    const byName = (objects: readonly ConfigMap[]) =>
      [...objects].sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
    assert.deepEqual(byName(informer.list()), byName(items));
    assert.equal(items.length, 46);
    stop.abort();
    await cluster.close();
  });
}

test('a server without WatchList is listed', async () => {
  const cluster = await startCluster({ watchList: false });
  const stop = new AbortController();
  const errors: unknown[] = [];
  const informer = startInformer(
    cluster.client,
    cluster.clock,
    cluster.random,
    configMap,
    { watchList: true, onError: (error) => errors.push(error) },
    stop.signal,
  );
  await cluster.advance(0);
  assert.equal(informer.hasSynced(), true);
  assert.equal(errors.length, 1);
  stop.abort();
  await cluster.close();
});

test('a refresh shows changes that no watch has delivered', async () => {
  const cluster = await startCluster();
  const { client, clock, random } = cluster;
  await client.create(configMap, named('gone'));
  await client.create(configMap, named('changed'));
  async function* silence(): AsyncGenerator<never> {
    await new Promise(() => {});
  }
  const deaf = createClient({ ...client.transport, watch: silence });
  const stop = new AbortController();
  const informer = startInformer(deaf, clock, random, configMap, { namespace: 'default' }, stop.signal);
  await informer.synced;
  const changes: string[] = [];
  informer.handle(({ type, object, cause }) => void changes.push(`${type} ${object.metadata.name} (${cause})`));
  await client.delete(configMap, { namespace: 'default', name: 'gone' });
  await client.create(configMap, named('made'));
  const reference = { namespace: 'default', name: 'changed' };
  const { metadata } = await client.patch(configMap, reference, { data: { a: 'b' } }, { type: 'merge' });
  await cluster.advance(1);
  assert.equal(informer.hasReached(metadata.resourceVersion!), false);
  changes.length = 0;
  informer.refresh();
  assert.ok(informer.hasSynced(), 'what is known can be read meanwhile');
  await informer.synced;
  assert.equal(informer.hasReached(metadata.resourceVersion!), true);
  const news = ['added made (event)', 'deleted gone (event)', 'updated changed (event)'];
  assert.deepEqual(changes.toSorted(), news);
  stop.abort();
  await cluster.close();
});

test('in one process, two informers share the same objects', async () => {
  const cluster = await startCluster();
  await cluster.client.create(configMap, named('shared'));
  const stop = new AbortController();
  const first = createCaches(cluster.client, cluster.clock, cluster.random, {}, stop.signal);
  const second = createCaches(cluster.client, cluster.clock, cluster.random, {}, stop.signal);
  await Promise.all([first.informer(configMap).synced, second.informer(configMap).synced]);
  const key = 'default/shared';
  assert.ok(first.of(configMap).get(key));
  assert.equal(first.of(configMap).get(key), second.of(configMap).get(key));
  await cluster.client.patch(
    configMap,
    { namespace: 'default', name: 'shared' },
    { data: { a: 'b' } },
    { type: 'merge' },
  );
  await cluster.advance(0);
  assert.deepEqual(first.of(configMap).get(key)?.data, { a: 'b' });
  assert.equal(first.of(configMap).get(key), second.of(configMap).get(key));
  stop.abort();
  await cluster.close();
});

test('compacted history is recovered by a list', async () => {
  const cluster = await startCluster();
  const { client, clock, random, core } = cluster;
  await client.create(configMap, named('first'));
  const stop = new AbortController();
  let isCut = false;
  const errors: unknown[] = [];
  const flaky = {
    ...client,
    watch: ((kind, options) => {
      if (isCut) throw new Error('no route');
      return client.watch(kind, options);
    }) as typeof client.watch,
  };
  const seen = new Set<string>();
  void runReflector(
    flaky,
    clock,
    random,
    configMap,
    { namespace: 'default', watchIdleTimeoutMs: 30_000, onError: (error) => errors.push(error) },
    {
      replace: (objects) => {
        seen.clear();
        for (const { metadata } of objects) seen.add(metadata.name!);
      },
      change: (type, { metadata }) => (type === 'DELETED' ? seen.delete(metadata.name!) : seen.add(metadata.name!)),
      progress() {},
    },
    stop.signal,
  );
  await cluster.advance(1);
  isCut = true;
  await cluster.advance(60);
  await client.delete(configMap, { namespace: 'default', name: 'first' });
  await client.create(configMap, named('second'));
  // More than the server keeps in memory after a compaction.
  for (let index = 0; index < 2100; index++) {
    const change = { data: { index: String(index) } };
    await client.patch(configMap, { namespace: 'default', name: 'second' }, change, { type: 'merge' });
  }
  await core.store.compact(await core.store.currentRevision());
  isCut = false;
  await cluster.advance(120);
  assert.deepEqual(seen, new Set(['second']));
  assert.ok(errors.some(isExpired));
  stop.abort();
  await cluster.close();
});
