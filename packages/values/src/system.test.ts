import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after } from './clock.ts';
import { systemClock, systemRandom } from './system.ts';

test('the machine has a time and a chance', async () => {
  const before = systemClock.now();
  await after(systemClock, 0);
  assert.ok(systemClock.now() >= before);
  const elapsedMs = systemClock.elapsedMs();
  await after(systemClock, 0);
  assert.ok(systemClock.elapsedMs() >= elapsedMs);
  assert.ok(systemRandom.next() < 1);
});

test('an abort ends a wait longer than a timer can count', async () => {
  const controller = new AbortController();
  const waiting = after(systemClock, 2 ** 40, controller.signal);
  controller.abort(new Error('enough'));
  await assert.rejects(waiting, { message: 'enough' });
});

test('a timer of a signal aborted already is never set', () => {
  systemClock.setTimer(0, assert.fail, AbortSignal.abort());
});
