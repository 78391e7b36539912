import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pod, pod } from '@kruise/api/core/pod';
import { notFound } from '@kruise/machinery/status';
import { seededRandom } from '@kruise/values/random';
import { virtualClock } from '@kruise/values/virtual-clock';
import { createClient } from '../api/client.ts';
import type { Transport, WatchEvent } from '../api/transport.ts';
import { type Change, createCaches, NotSyncedError, startInformer } from './informer.ts';

const clock = virtualClock();
const random = seededRandom('informer');

function makePod(name: string, version: number, more: Partial<Pod['metadata']> = {}, node?: string): Pod {
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: String(version), ...more },
    ...(node === undefined ? {} : { spec: { nodeName: node, containers: [] } }),
  };
}

/** A server that lists some Pods and then sends scripted events. */
function scripted(listed: readonly Pod[]) {
  let lists = 0;
  let send: (event: WatchEvent) => void = () => {};
  const transport: Transport = {
    async request() {
      lists++;
      return { code: 200, object: { metadata: { resourceVersion: '10' }, items: listed }, warnings: [] };
    },
    async *watch() {
      for (;;) yield await new Promise<WatchEvent>((resolve) => (send = resolve));
    },
  };
  return {
    client: createClient(transport),
    lists: () => lists,
    async send(type: WatchEvent['type'], object: unknown) {
      send({ type, object });
      await clock.advanceAsync(0);
    },
  };
}

async function running(listed: readonly Pod[]) {
  const server = scripted(listed);
  const stop = new AbortController();
  const informer = startInformer(server.client, clock, random, pod, {}, stop.signal);
  await informer.synced;
  await clock.advanceAsync(0);
  return { server, informer, stop };
}

const names = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.name).join(' ');

test('objects are found by key, namespace, owner and any index', async () => {
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'owner' };
  const { informer, stop } = await running([
    makePod('a', 1, { ownerReferences: [{ ...owner, controller: true }] }, 'node-1'),
    makePod('b', 2, { ownerReferences: [owner] }, 'node-1'),
    makePod('c', 3, { namespace: 'other' }, 'node-2'),
  ]);
  const byNode = ({ spec }: Pod) => (spec?.nodeName ? [spec.nodeName] : []);
  assert.equal(informer.get('default/a')?.metadata.resourceVersion, '1');
  assert.equal(informer.get({ namespace: 'other', name: 'c' })?.metadata.name, 'c');
  assert.equal(informer.get('default/c'), undefined);
  assert.equal(names(informer.list()), 'a b c');
  assert.equal(names(informer.list({ namespace: 'default' })), 'a b');
  assert.equal(names(informer.ownedBy({ metadata: { uid: 'owner' } })), 'a b');
  assert.equal(names(informer.controlledBy({ metadata: { uid: 'owner' } })), 'a');
  assert.equal(names(informer.ownedBy({ metadata: {} })), '');
  assert.equal(names(informer.byIndex(byNode, 'node-1')), 'a b');
  assert.equal(names(informer.byIndex(byNode, 'node-3')), '');
  stop.abort();
});

test('an object is found by each of its current index values and by no former one', async () => {
  const labelled = (version: number, keys: readonly number[]) =>
    makePod('a', version, { labels: Object.fromEntries(keys.map((key) => [`l-${key}`, 'x'])) });
  const numbers = Array.from({ length: 40 }, (_, index) => index);
  const { server, informer, stop } = await running([labelled(1, numbers)]);
  const byLabel = ({ metadata }: Pod) => Object.keys(metadata.labels ?? {});
  const found = () => numbers.filter((key) => informer.byIndex(byLabel, `l-${key}`).length > 0);
  assert.deepEqual(found(), numbers);
  for (const [version, kept] of [numbers.slice(20), numbers.slice(0, 30), numbers.slice(5, 10), []].entries()) {
    await server.send('MODIFIED', labelled(11 + version, kept));
    assert.deepEqual(found(), kept);
  }
  stop.abort();
});

test('an index follows changes', async () => {
  const { informer, server, stop } = await running([makePod('a', 1, {}, 'node-1'), makePod('b', 2, {}, 'node-1')]);
  const byNode = ({ spec }: Pod) => (spec?.nodeName ? [spec.nodeName] : []);
  assert.equal(names(informer.byIndex(byNode, 'node-1')), 'a b');
  await server.send('MODIFIED', makePod('a', 11, {}, 'node-2'));
  await server.send('MODIFIED', makePod('b', 12, { labels: { app: 'web' } }, 'node-1'));
  assert.equal(names(informer.byIndex(byNode, 'node-1')), 'b');
  assert.deepEqual(informer.byIndex(byNode, 'node-1')[0]?.metadata.labels, { app: 'web' });
  assert.equal(names(informer.byIndex(byNode, 'node-2')), 'a');
  await server.send('DELETED', makePod('b', 13, {}, 'node-1'));
  assert.equal(names(informer.byIndex(byNode, 'node-1')), '');
  stop.abort();
});

test('objects are shared, not copied', async () => {
  const listed = makePod('a', 1);
  const changed = makePod('a', 11);
  const { informer, server, stop } = await running([listed]);
  assert.equal(informer.get('default/a'), listed);
  await server.send('MODIFIED', changed);
  assert.equal(informer.list()[0], changed);
  stop.abort();
});

test('a handler receives the cached objects, then each change with the previous object', async () => {
  const { informer, server, stop } = await running([makePod('a', 1)]);
  const heard: string[] = [];
  informer.handle(({ type, object, previous, cause }) => {
    heard.push([type, object.metadata.resourceVersion, previous?.metadata.resourceVersion ?? '-', cause].join(' '));
  });
  await server.send('MODIFIED', makePod('a', 11));
  await server.send('DELETED', makePod('a', 12));
  assert.deepEqual(heard, ['added 1 - initial', 'updated 11 1 event', 'deleted 12 - event']);
  stop.abort();
});

test('a repeated event is not delivered again', async () => {
  const { informer, server, stop } = await running([makePod('a', 1)]);
  const heard: Change<Pod>[] = [];
  informer.handle((change) => {
    heard.push(change);
  });
  await server.send('ADDED', makePod('a', 1));
  await server.send('DELETED', makePod('b', 11));
  assert.equal(heard.length, 1);
  stop.abort();
});

test('an object that was replaced by another with its name is delivered as a deletion and an addition', async () => {
  const { informer, server, stop } = await running([makePod('a', 1)]);
  const heard: string[] = [];
  informer.handle(({ type, object }) => {
    heard.push(`${type} ${object.metadata.uid}`);
  });
  await server.send('MODIFIED', makePod('a', 11, { uid: 'second' }));
  assert.deepEqual(heard, ['added uid-a', 'deleted uid-a', 'added second']);
  stop.abort();
});

test('a handler that waits or throws does not block other handlers', async () => {
  const { informer, server, stop } = await running([]);
  const slow: string[] = [];
  const quick: string[] = [];
  let proceed = () => {};
  informer.handle(async ({ object }) => {
    await new Promise<void>((resolve) => (proceed = resolve));
    slow.push(object.metadata.resourceVersion!);
  });
  informer.handle(() => {
    throw new Error('no');
  });
  informer.handle(({ object }) => {
    quick.push(object.metadata.resourceVersion!);
  });
  await server.send('ADDED', makePod('a', 11));
  await server.send('MODIFIED', makePod('a', 12));
  assert.deepEqual([slow, quick], [[], ['11', '12']]);
  for (let turn = 0; turn < 2; turn++) {
    proceed();
    await clock.advanceAsync(0);
  }
  assert.deepEqual(slow, ['11', '12']);
  stop.abort();
});

test('a resync delivers all objects again, with the same previous object', async () => {
  const { informer, stop } = await running([makePod('a', 1)]);
  const heard: Change<Pod>[] = [];
  const ended = new AbortController();
  informer.handle(
    (change) => {
      heard.push(change);
    },
    { resyncMs: 60_000, signal: ended.signal },
  );
  await clock.advanceAsync(70_000);
  assert.deepEqual(
    heard.map(({ cause }) => cause),
    ['initial', 'resync'],
  );
  assert.equal(heard[1]?.previous, heard[1]?.object);
  ended.abort();
  await clock.advanceAsync(200_000);
  assert.equal(heard.length, 2);
  stop.abort();
});

test('caches list a kind once for all readers and throw before they have synced', async () => {
  const server = scripted([makePod('a', 1)]);
  const stop = new AbortController();
  const caches = createCaches(server.client, clock, random, {}, stop.signal);
  assert.throws(() => caches.of(pod), NotSyncedError);
  await caches.synced();
  assert.equal(names(caches.of(pod).list()), 'a');
  assert.equal(caches.informer(pod), caches.informer(pod, {}));
  assert.equal(server.lists(), 1);
  assert.throws(() => caches.of(pod, { labelSelector: 'app=web' }), NotSyncedError);
  stop.abort();
});

test('a failed list is reported and retried', async () => {
  let attempts = 0;
  const errors: unknown[] = [];
  const refusal = notFound({ group: '', plural: 'pods' }, '');
  const client = createClient({
    async request() {
      if (++attempts < 3) throw refusal;
      return { code: 200, object: { metadata: { resourceVersion: '1' }, items: [] }, warnings: [] };
    },
    async *watch() {
      await new Promise(() => {});
    },
  });
  const stop = new AbortController();
  const onError = (error: unknown) => errors.push(error);
  const informer = startInformer(client, clock, random, pod, { onError }, stop.signal);
  await clock.advanceAsync(10_000);
  assert.equal(informer.hasSynced(), true);
  assert.deepEqual(errors, [refusal, refusal]);
  stop.abort();
});

test('a second refresh before the first list is complete resolves both waiters', async () => {
  const { informer, stop } = await running([makePod('a', 1)]);
  informer.refresh();
  const first = informer.synced;
  informer.refresh();
  const second = informer.synced;
  let resolved = 0;
  for (const synced of [first, second]) void synced.then(() => resolved++);
  await clock.advanceAsync(0);
  assert.equal(resolved, 2);
  stop.abort();
});
