import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBackoff } from './backoff.ts';

test('each backoff is twice as long as the one before, up to the maximum', () => {
  const backOff = createBackoff({ initialMs: 1000, maxMs: 5000 });
  assert.equal(backOff.remainingMs('a', 0), 0);
  for (const lengthMs of [1000, 2000, 4000, 5000, 5000]) {
    backOff.next('a', 0);
    assert.equal(backOff.remainingMs('a', 0), lengthMs);
  }
  assert.equal(backOff.remainingMs('a', 4999), 1);
  assert.equal(backOff.remainingMs('a', 6000), 0);
});

test('each key has its own backoff', () => {
  const backOff = createBackoff({ initialMs: 1000, maxMs: 5000 });
  backOff.next('a', 0);
  backOff.next('a', 0);
  backOff.next('b', 0);
  assert.deepEqual([backOff.remainingMs('a', 0), backOff.remainingMs('b', 0)], [2000, 1000]);
});

test('a key without a failure for twice the maximum starts at the initial backoff', () => {
  const backOff = createBackoff({ initialMs: 1000, maxMs: 5000 });
  backOff.next('a', 0);
  backOff.next('b', 5000);
  backOff.next('a', 10_001);
  backOff.next('b', 10_001);
  assert.deepEqual([backOff.remainingMs('a', 10_001), backOff.remainingMs('b', 10_001)], [1000, 2000]);
});
