import assert from 'node:assert/strict';
import { test } from 'node:test';
import { virtualClock } from '@kruise/values/virtual-clock';
import { collectWhenIdle } from './idle-collection.ts';

const megabyte = 1024 * 1024;

function watched() {
  const clock = virtualClock();
  const over = new AbortController();
  const state = { processorMs: 0, heapBytes: 100 * megabyte, collections: 0 };
  collectWhenIdle(clock, over.signal, {
    processorMs: () => state.processorMs,
    heapBytes: () => state.heapBytes,
    collect() {
      state.collections++;
      state.heapBytes = 50 * megabyte;
    },
  });
  return { clock, state, over };
}

test('an idle process collects garbage even if periodic checks use some CPU', async () => {
  const { clock, state, over } = watched();
  for (let second = 0; second < 20; second++) {
    state.processorMs += 150;
    await clock.advance(1000);
  }
  assert.equal(state.collections, 1);
  over.abort();
});

test('a busy process collects garbage only after it becomes idle', async () => {
  const { clock, state, over } = watched();
  for (let second = 0; second < 60; second++) {
    state.processorMs += 300;
    await clock.advance(1000);
  }
  assert.equal(state.collections, 0);
  await clock.advance(20_000);
  assert.equal(state.collections, 1);
  over.abort();
});

test('an idle process collects again only after its heap has grown', async () => {
  const { clock, state, over } = watched();
  await clock.advance(60_000);
  assert.equal(state.collections, 1);
  state.heapBytes += 33 * megabyte;
  await clock.advance(60_000);
  assert.equal(state.collections, 1);
  state.heapBytes += megabyte;
  await clock.advance(10_000);
  assert.equal(state.collections, 2);
  over.abort();
  state.heapBytes += 200 * megabyte;
  await clock.advance(60_000);
  assert.equal(state.collections, 2);
});

test("the default collector runs V8's garbage collection", async () => {
  const clock = virtualClock();
  const over = new AbortController();
  // Large enough that a collection is worth a pause, whatever else the process holds.
  const held = Array.from({ length: 8 * megabyte }, (_, index) => index);
  collectWhenIdle(clock, over.signal);
  let garbage: WeakRef<object> | undefined = new WeakRef({});
  await new Promise(setImmediate);
  await clock.advance(10_000);
  over.abort();
  garbage = garbage.deref() ? garbage : undefined;
  assert.equal(garbage, undefined);
  assert.equal(held.length, 8 * megabyte);
});
