import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { seededRandom } from '@kruise/values/random';
import { virtualClock } from '@kruise/values/virtual-clock';
import { type BootstrapSnapshot, buildBootstrapSnapshot, restoreBootstrapSnapshot } from './bootstrap-snapshot.ts';
import { startApiServer } from './server.ts';
import { createMemoryStore } from './store/memory.ts';

const clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));
const yieldTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
let snapshot: BootstrapSnapshot;
before(async () => {
  snapshot = await buildBootstrapSnapshot(yieldTurn);
});

/** Returns all stored objects by key after a server started from a bootstrap snapshot. */
async function storedOn(restored: BootstrapSnapshot) {
  const store = createMemoryStore({ clock });
  await restoreBootstrapSnapshot(store, clock, seededRandom('laying'), () => restored);
  const restoredRevision = await store.currentRevision();
  const onError = (error: unknown) => assert.ifError(error);
  const server = await startApiServer({ store, clock, random: seededRandom('start'), onError });
  for (let seen = 0; seen !== (await store.currentRevision()); ) {
    seen = await store.currentRevision();
    await yieldTurn();
    await server.core.feed.waitForCurrent();
  }
  const { entries } = await store.range({ prefix: '/' });
  const objects = entries.map(({ key, value }) => [key, JSON.parse(Buffer.from(value).toString())] as const);
  const writes = (await store.currentRevision()) - restoredRevision;
  await server.close();
  return { objects: new Map(objects), writes };
}

const withoutUid = (object: { readonly metadata: object }) => ({
  ...object,
  metadata: { ...object.metadata, uid: undefined },
});

test('a cluster from a bootstrap snapshot equals any other', async () => {
  const [restored, plain] = [await storedOn(snapshot), await storedOn({})];
  assert.ok(plain.objects.size > 150);
  assert.deepEqual([...restored.objects.keys()], [...plain.objects.keys()]);
  for (const [key, object] of plain.objects) {
    assert.deepEqual(withoutUid(restored.objects.get(key)), withoutUid(object), key);
  }
});

test('every object has a unique uid', async () => {
  const { objects } = await storedOn(snapshot);
  const uids = new Set([...objects.values()].map(({ metadata }) => metadata.uid));
  assert.equal(uids.size, objects.size);
  for (const uid of uids) assert.match(uid, /^[0-9a-f-]{36}$/);
});

test('a start from a bootstrap snapshot writes only cluster-specific objects', async () => {
  const { writes } = await storedOn(snapshot);
  assert.equal(writes, 2);
});

test('a bootstrap snapshot is not restored into a store with data', async () => {
  const store = createMemoryStore({ clock });
  await store.write({ key: '/registry/namespaces/mine', expected: 0, value: Buffer.from('{}') });
  await restoreBootstrapSnapshot(store, clock, seededRandom('test'), () => assert.fail('it is not even read'));
  assert.equal((await store.range({ prefix: '/' })).entries.length, 1);
});
