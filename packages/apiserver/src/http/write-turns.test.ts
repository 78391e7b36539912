import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createWriteTurns } from './write-turns.ts';

/** Starts writes and records which have begun. */
function beginning(count: number) {
  const turns = createWriteTurns();
  const begun: number[] = [];
  const begin = async (write: number) => {
    const turn = turns.take();
    if (turn) await turn;
    begun.push(write);
  };
  const all = Promise.all(Array.from({ length: count }, (_, write) => begin(write)));
  return { begun, begin, all };
}

test('a few writes start at once', () => {
  assert.equal(beginning(16).begun.length, 16);
});

test('many concurrent writes start in batches per event loop turn, in order', async () => {
  const { begun, all } = beginning(50);
  const counts = [begun.length];
  while (begun.length < 50) {
    await setImmediate();
    counts.push(begun.length);
  }
  await all;
  assert.deepEqual(counts, [16, 32, 48, 50]);
  assert.deepEqual(
    begun,
    begun.map((_, index) => index),
  );
});

test('a later write waits behind queued writes', async () => {
  const { begun, begin, all } = beginning(40);
  await setImmediate();
  await Promise.all([all, begin(40)]);
  assert.equal(begun.at(-1), 40);
});

test('a full batch may start at once after a pause', async () => {
  const { begun, begin, all } = beginning(40);
  await all;
  await setImmediate();
  await setImmediate();
  for (let write = 40; write < 56; write++) void begin(write);
  assert.equal(begun.length, 56);
});
