import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { type TestContext, test } from 'node:test';
import { systemClock } from '@kruise/values/system';
import { startFeed } from '../cache/feed.ts';
import type { KubeObject } from '../object.ts';
import { createMemoryStore } from '../store/memory.ts';
import { storedText } from '../stored-text.ts';
import { openObjectStorage } from './object-storage.ts';

const prefix = '/registry/configmaps/';
const key = `${prefix}default/a`;

function configMap(data: { readonly [key: string]: string }): KubeObject {
  return { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', namespace: 'default', uid: 'u' }, data };
}

async function opened(t: TestContext) {
  const store = createMemoryStore({ clock: systemClock });
  const over = new AbortController();
  t.after(async () => {
    over.abort();
    await store.close();
  });
  const feed = startFeed(store, systemClock, {
    afterRevision: await store.currentRevision(),
    signal: over.signal,
    onFailure: assert.ifError,
  });
  const storage = await openObjectStorage(store, feed, prefix, {
    encode: (object) => JSON.stringify(object),
    decode: (value) => JSON.parse(Buffer.from(value).toString()) as KubeObject,
  });
  return { store, feed, storage };
}

test('a writer gets the same object as the cache', async (t) => {
  const { feed, storage } = await opened(t);
  const created = await storage.create(key, configMap({ a: '1' }));
  assert(created.ok);
  await feed.waitForCurrent();
  assert.equal(storage.cache.get(key), created.cached);

  const replaced = await storage.replace(created.cached, configMap({ a: '2' }));
  assert(replaced.ok);
  await feed.waitForCurrent();
  assert.equal(storage.cache.get(key), replaced.cached);
  assert.deepEqual(replaced.cached.object['data'], { a: '2' });
  assert.equal(replaced.cached.object.metadata.resourceVersion, String(replaced.cached.revision));
});

test('the text of a write is kept for all its watchers', async (t) => {
  const { storage } = await opened(t);
  const created = await storage.create(key, configMap({ a: '1' }));
  assert(created.ok);
  const text = storedText(created.cached.object, '', '')?.toString() ?? '';
  assert.deepEqual(JSON.parse(text), created.cached.object);
});

test('an object from another writer is decoded, and its text is not reused for responses', async (t) => {
  const { store, feed, storage } = await opened(t);
  const value = Buffer.from(JSON.stringify(configMap({ a: 'theirs' }), undefined, 2));
  const { ok } = await store.write({ key, expected: 0, value });
  assert(ok);
  await feed.waitForCurrent();
  const found = storage.cache.get(key);
  assert.deepEqual(found?.object['data'], { a: 'theirs' });
  assert.equal(storedText(found.object, '', ''), undefined);

  // The existing object is not mistaken for the object of the failed write.
  const refused = await storage.create(key, configMap({ a: 'ours' }));
  assert(!refused.ok);
  assert.deepEqual(refused.current?.object['data'], { a: 'theirs' });
});
