import assert from 'node:assert/strict';
import { test } from 'node:test';
import { virtualClock } from '@kruise/values/virtual-clock';
import { startSyncLoop } from './sync-loop.ts';

const options = { minIntervalMs: 1000, maxIntervalMs: 30_000, burst: 2 };

function loopOf(results: readonly (number | Error | undefined)[] = []) {
  const clock = virtualClock(0);
  const stop = new AbortController();
  const syncs: number[] = [];
  const errors: unknown[] = [];
  const sync = async () => {
    const result = results[syncs.length];
    syncs.push(clock.elapsedMs());
    if (result instanceof Error) throw result;
    return result;
  };
  const loop = startSyncLoop(clock, options, sync, (error) => errors.push(error), stop.signal);
  return { clock, stop, syncs, errors, loop };
}

/** Advances the clock in steps, and lets the loop continue after each. */
async function pass(clock: ReturnType<typeof virtualClock>, totalMs: number): Promise<void> {
  await new Promise(setImmediate);
  for (let passedMs = 0; passedMs < totalMs; passedMs += 100) {
    clock.advance(100);
    await new Promise(setImmediate);
  }
}

test('a request is synced at once, and further ones are coalesced', async () => {
  const { clock, loop, syncs, stop } = loopOf();
  loop.request();
  await pass(clock, 0);
  assert.deepEqual(syncs, [0]);
  for (let count = 0; count < 50; count++) {
    loop.request();
    await pass(clock, 100);
  }
  // The burst of two, and one in each second.
  assert.deepEqual(syncs, [0, 0, 1000, 2000, 3000, 4000, 5000]);
  stop.abort();
  await loop.stopped;
});

test('a sync runs after the maximum interval without a request', async () => {
  const { clock, syncs, stop, loop } = loopOf();
  await pass(clock, 90_000);
  assert.deepEqual(syncs, [30_000, 60_000, 90_000]);
  stop.abort();
  await loop.stopped;
});

test('a sync runs again when it asks to', async () => {
  const { clock, syncs, loop, stop } = loopOf([2000]);
  loop.request();
  await pass(clock, 5000);
  assert.deepEqual(syncs, [0, 2000]);
  stop.abort();
  await loop.stopped;
});

test('a failed sync is repeated with backoff', async () => {
  const failure = new Error('nft failed');
  const { clock, syncs, errors, loop, stop } = loopOf([failure, failure, failure]);
  loop.request();
  await pass(clock, 20_000);
  assert.deepEqual(syncs, [0, 1000, 3000, 7000]);
  assert.deepEqual(errors, [failure, failure, failure]);
  stop.abort();
  await loop.stopped;
});
