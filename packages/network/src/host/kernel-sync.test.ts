import assert from 'node:assert/strict';
import { test } from 'node:test';
import { virtualClock } from '@kruise/values/virtual-clock';
import { createKernelSync } from './kernel-sync.ts';

function startLoop(results: readonly (number | Error | undefined)[] = []) {
  const clock = virtualClock(0);
  const stop = new AbortController();
  const syncs: number[] = [];
  const errors: (readonly [message: string, retryMs: number])[] = [];
  let isReady = true;
  const loop = createKernelSync(
    {
      clock,
      batchMs: 20,
      isReady: () => isReady,
      onError: (error, retryMs) => errors.push([(error as Error).message, retryMs]),
    },
    async () => {
      const result = results[syncs.length];
      syncs.push(clock.elapsedMs());
      if (result instanceof Error) throw result;
      return result;
    },
    stop.signal,
  );
  return { ...loop, clock, stop, syncs, errors, setReady: (ready: boolean) => (isReady = ready) };
}

/** Advances the clock in steps, and lets the loop continue after each. */
async function pass(clock: ReturnType<typeof virtualClock>, totalMs: number): Promise<void> {
  for (let passedMs = 0; passedMs < totalMs; passedMs += 10) {
    clock.advance(10);
    await new Promise(setImmediate);
  }
}

test('requests within the batch time are one sync', async () => {
  const { request, clock, syncs } = startLoop();
  request();
  await pass(clock, 10);
  request();
  await pass(clock, 1000);
  assert.deepEqual(syncs, [20]);
});

test('a failed sync is reported and runs again after a backoff', async () => {
  const { request, clock, syncs, errors } = startLoop([new Error('a'), new Error('b')]);
  request(0);
  await pass(clock, 10_000);
  assert.deepEqual(errors, [
    ['a', 1000],
    ['b', 2000],
  ]);
  assert.equal(syncs.length, 3);
});

test('a sync runs again when it asks to', async () => {
  const { request, clock, syncs } = startLoop([500]);
  request();
  await pass(clock, 2000);
  assert.deepEqual(syncs, [20, 520]);
});

test('a request before syncs may run waits for the next one', async () => {
  const { request, clock, syncs, setReady } = startLoop();
  setReady(false);
  request();
  await pass(clock, 100);
  setReady(true);
  await pass(clock, 100);
  assert.deepEqual(syncs, []);
  request();
  await pass(clock, 100);
  assert.equal(syncs.length, 1);
});

test('the loop stops when its signal is aborted', async () => {
  const { request, clock, syncs, stop, stopped } = startLoop();
  request();
  stop.abort();
  await stopped;
  await pass(clock, 100);
  assert.deepEqual(syncs, []);
});
