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

test('collects while checks go on that take a little time each', async () => {
  const { clock, state, over } = watched();
  for (let second = 0; second < 20; second++) {
    state.processorMs += 150;
    await clock.advance(1000);
  }
  assert.equal(state.collections, 1);
  over.abort();
});

test('collects once it is quiet, and not while there is work', async () => {
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

test('does not collect again before there is something to collect', async () => {
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

test('reaches the collector of the process', async () => {
  const clock = virtualClock();
  const over = new AbortController();
  // So much that a pause is worth it, whatever else the process holds.
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
