import assert from 'node:assert/strict';
import { test } from 'node:test';
import { virtualClock } from '@kruise/values/virtual-clock';
import { boundHeapGrowth } from './heap-growth.ts';

const megabyte = 1024 * 1024;

function watched() {
  const clock = virtualClock();
  const over = new AbortController();
  const state = { usedBytes: 0, growthPercents: [] as number[] };
  boundHeapGrowth(clock, over.signal, {
    usedBytes: () => state.usedBytes,
    growBy: (percent) => void state.growthPercents.push(percent),
  });
  const grow = async (megabytes: number) => {
    state.usedBytes = megabytes * megabyte;
    await clock.advance(10_000);
  };
  return { state, over, grow };
}

test('V8 manages a small heap by itself', async () => {
  const { state, over, grow } = watched();
  await grow(50);
  await grow(300);
  assert.deepEqual(state.growthPercents, []);
  over.abort();
});

test('the growth of a heap is bounded while the heap is large', async () => {
  const { state, over, grow } = watched();
  await grow(400);
  await grow(600);
  assert.deepEqual(state.growthPercents, [30]);
  await grow(100);
  assert.deepEqual(state.growthPercents, [30, 0]);
  over.abort();
  await grow(400);
  assert.deepEqual(state.growthPercents, [30, 0]);
});
