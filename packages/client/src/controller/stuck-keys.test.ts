import assert from 'node:assert/strict';
import { test } from 'node:test';
import { virtualClock } from '@kruise/values/virtual-clock';
import { createStuckKeys } from './stuck-keys.ts';

const minute = 60_000;

test('a key that is retried for more than ten minutes is reported once, and listed until it recovers', () => {
  const clock = virtualClock();
  const keys = createStuckKeys(clock);
  assert.equal(keys.retried('a', new Error('no')), undefined);
  clock.advance(10 * minute);
  assert.equal(keys.retried('a', undefined), undefined);
  assert.deepEqual(keys.list(), []);
  clock.advance(1000);
  const stuck = { key: 'a', retriedForSeconds: 601, message: 'no' };
  assert.deepEqual(keys.list(), [stuck]);
  assert.deepEqual(keys.retried('a', undefined), stuck);
  assert.equal(keys.retried('a', undefined), undefined);
  keys.recovered('a');
  assert.deepEqual(keys.list(), []);
});

test('a key that recovers in between starts from zero', () => {
  const clock = virtualClock();
  const keys = createStuckKeys(clock);
  keys.retried('a', undefined);
  clock.advance(6 * minute);
  keys.recovered('a');
  keys.retried('a', undefined);
  clock.advance(6 * minute);
  assert.deepEqual([keys.retried('a', undefined), keys.list()], [undefined, []]);
});
