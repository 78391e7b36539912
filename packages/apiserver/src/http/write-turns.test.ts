import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createWriteTurns } from './write-turns.ts';

/** Takes a turn for each write, and tells which have begun. */
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

test('a few writes wait for nobody', () => {
  assert.equal(beginning(16).begun.length, 16);
});

test('of many writes that come together a few are begun each time sockets have been looked at, in their order', async () => {
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

test('a write that comes later waits behind those that wait already', async () => {
  const { begun, begin, all } = beginning(40);
  await setImmediate();
  await Promise.all([all, begin(40)]);
  assert.equal(begun.at(-1), 40);
});

test('after a rest there is room for as many at once again', async () => {
  const { begun, begin, all } = beginning(40);
  await all;
  await setImmediate();
  await setImmediate();
  for (let write = 40; write < 56; write++) void begin(write);
  assert.equal(begun.length, 56);
});
