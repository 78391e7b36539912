import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type WorkloadSpread, workloadSpread } from '@kruise/api/kruise/workloadspread';
import type { Client } from '@kruise/client/client';
import type { Caches } from '@kruise/client/informer';
import { conflict, isConflict, notFound } from '@kruise/machinery/status';
import { seededRandom } from '@kruise/values/random';
import { virtualClock } from '@kruise/values/virtual-clock';
import { createStatusUpdater } from './status-updater.ts';

const at = (version: number, generation = 0): WorkloadSpread => ({
  apiVersion: 'apps.kruise.io/v1beta1',
  kind: 'WorkloadSpread',
  metadata: { name: 'ws', namespace: 'default', uid: 'uid', resourceVersion: String(version) },
  spec: { targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, subsets: [] },
  status: { observedGeneration: generation },
});

/** Returns a server with one object, and a cache with a controlled content. */
function world() {
  const state = {
    stored: at(1) as WorkloadSpread | undefined,
    shown: at(1) as WorkloadSpread | undefined,
    asked: 0,
    written: 0,
    refusal: undefined as Error | undefined,
  };
  // Only this part of the caches is used.
  const caches = { of: () => ({ get: () => state.shown }) } as unknown as Caches;
  const client = {
    async get() {
      state.asked++;
      if (!state.stored) throw notFound(workloadSpread, 'ws');
      return state.stored;
    },
    async update(_kind: unknown, object: WorkloadSpread) {
      if (state.refusal) throw state.refusal;
      const { resourceVersion } = state.stored?.metadata ?? {};
      if (object.metadata.resourceVersion !== resourceVersion) throw conflict(workloadSpread, 'ws', 'changed');
      const metadata = { ...object.metadata, resourceVersion: String(Number(resourceVersion) + 1) };
      state.written++;
      state.stored = { ...object, metadata };
      return state.stored;
    },
  } as unknown as Client;
  const statusUpdater = createStatusUpdater({ caches, client, clock: virtualClock(0), random: seededRandom(1) });
  const add = (waitsMs: readonly number[] = [0, 0]) =>
    statusUpdater.update(
      workloadSpread,
      at(1),
      (newest) => {
        const observedGeneration = (newest.status?.observedGeneration ?? 0) + 1;
        return { result: observedGeneration, object: { ...newest, status: { observedGeneration } } };
      },
      waitsMs,
    );
  return { state, statusUpdater, add };
}

test('a write is known before the cache shows it', async () => {
  const { state, add } = world();
  assert.deepEqual([await add(), await add(), await add()], [1, 2, 3]);
  assert.equal(state.asked, 0);
});

test('updates that arrive during a write are applied in sequence, and written together', async () => {
  const { state, add } = world();
  assert.deepEqual(await Promise.all([add(), add(), add(), add()]), [1, 2, 3, 4]);
  assert.deepEqual([state.asked, state.written], [0, 2]);
});

test('a newer cached object is used', async () => {
  const { state, add } = world();
  await add();
  state.stored = state.shown = at(7, 70);
  assert.equal(await add(), 71);
  assert.equal(state.asked, 0);
});

test('a conflict causes a live read', async () => {
  const { state, add } = world();
  state.stored = at(5, 50);
  assert.equal(await add(), 51);
  assert.equal(state.asked, 1);
});

test('repeated conflicts fail in the end', async () => {
  const { state, statusUpdater } = world();
  let version = 1;
  const attempt = statusUpdater.update(
    workloadSpread,
    at(1),
    (newest) => {
      state.stored = at(++version);
      return { result: 0, object: { ...newest } };
    },
    [0, 0],
  );
  await assert.rejects(attempt, isConflict);
  assert.equal(version, 4);
});

test('an update of a deleted object returns undefined', async () => {
  const { state, add } = world();
  state.stored = undefined;
  assert.equal(await add(), undefined);
});

test('an uncertain result is decided by a live read', async () => {
  const { state, statusUpdater } = world();
  state.stored = at(5, 50);
  const entered = await statusUpdater.update(
    workloadSpread,
    at(1),
    ({ status }) => ({ result: status?.observedGeneration, needsLiveRead: true }),
    [],
  );
  assert.equal(entered, 50);
});

test('a failed update does not affect others', async () => {
  const { statusUpdater, add } = world();
  const fail = () => statusUpdater.update(workloadSpread, at(1), () => assert.fail('no'), []);
  const [first, next, failing, last] = [fail(), add(), fail(), add()];
  await assert.rejects(first, { message: 'no' });
  await assert.rejects(failing, { message: 'no' });
  assert.deepEqual([await next, await last], [1, 2]);
});

test('after a conflict all updates are applied again', async () => {
  const { state, add } = world();
  state.stored = at(5, 50);
  assert.deepEqual(await Promise.all([add(), add(), add()]), [51, 52, 53]);
  assert.deepEqual([state.asked, state.written], [1, 2]);
});

test('a failed write rejects all pending updates', async () => {
  const { state, add } = world();
  await add();
  state.refusal = new Error('no room');
  const all = await Promise.allSettled([add(), add()]);
  assert.deepEqual(
    all.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  state.refusal = undefined;
  assert.equal(await add(), 2);
});
