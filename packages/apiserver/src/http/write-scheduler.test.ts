import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createWriteScheduler } from './write-scheduler.ts';

/** Starts writes and records which have started. */
function startWrites(count: number) {
  const scheduler = createWriteScheduler();
  const started: number[] = [];
  const startWrite = async (write: number) => {
    const slot = scheduler.acquire();
    if (slot) await slot;
    started.push(write);
  };
  const all = Promise.all(Array.from({ length: count }, (_, write) => startWrite(write)));
  return { started, startWrite, all };
}

test('a few writes start at once', () => {
  assert.equal(startWrites(16).started.length, 16);
});

test('many concurrent writes start in batches per event loop turn, in order', async () => {
  const { started, all } = startWrites(50);
  const counts = [started.length];
  while (started.length < 50) {
    await setImmediate();
    counts.push(started.length);
  }
  await all;
  assert.deepEqual(counts, [16, 32, 48, 50]);
  assert.deepEqual(
    started,
    started.map((_, index) => index),
  );
});

test('a later write waits behind queued writes', async () => {
  const { started, startWrite, all } = startWrites(40);
  await setImmediate();
  await Promise.all([all, startWrite(40)]);
  assert.equal(started.at(-1), 40);
});

test('a full batch may start at once after a pause', async () => {
  const { started, startWrite, all } = startWrites(40);
  await all;
  await setImmediate();
  await setImmediate();
  for (let write = 40; write < 56; write++) void startWrite(write);
  assert.equal(started.length, 56);
});
