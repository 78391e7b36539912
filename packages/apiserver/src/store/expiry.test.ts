import assert from 'node:assert/strict';
import { test } from 'node:test';
import { virtualClock } from '@kruise/values/virtual-clock';
import { createExpiry } from './expiry.ts';
import type { Version } from './history.ts';

const version = (key: string, expiresAtMs: number): Version => ({
  key,
  revision: 1,
  createRevision: 1,
  deleted: false,
  expiresAtMs,
  value: undefined,
  previous: undefined,
});

function setUp(remove: (version: Version) => Promise<unknown> = async () => {}) {
  const clock = virtualClock();
  const removed: string[] = [];
  const expiry = createExpiry(clock, async (expired) => {
    await remove(expired);
    removed.push(expired.key);
  });
  return { clock, removed, expiry };
}

test('keys are removed in order of time, up to a second late and never early', async () => {
  const { clock, removed, expiry } = setUp();
  expiry.add(version('late', 10_001));
  expiry.add(version('early', 2500));
  expiry.add(version('middle', 5000));
  await clock.advanceAsync(2999);
  assert.deepEqual(removed, []);
  await clock.advanceAsync(1);
  assert.deepEqual(removed, ['early']);
  await clock.advanceAsync(2000);
  assert.deepEqual(removed, ['early', 'middle']);
  await clock.advanceAsync(5999);
  assert.deepEqual(removed, ['early', 'middle']);
  await clock.advanceAsync(1);
  assert.deepEqual(removed, ['early', 'middle', 'late']);
  assert.equal(clock.nextTimer(), undefined);
});

test('long expired keys are removed at once', async () => {
  const { clock, removed, expiry } = setUp();
  clock.advance(60_000);
  expiry.add(version('old', 1000));
  await clock.advanceAsync(0);
  assert.deepEqual(removed, ['old']);
});

test('failed removals are retried', async () => {
  let isBroken = true;
  const { clock, removed, expiry } = setUp(async () => {
    if (isBroken) throw new Error('no space is left');
  });
  expiry.add(version('a', 1000));
  expiry.add(version('b', 2000));
  await clock.advanceAsync(3000);
  assert.deepEqual(removed, []);
  isBroken = false;
  await clock.advanceAsync(1000);
  assert.deepEqual(removed, ['a', 'b']);
});

test('nothing is removed after the expiry is stopped', async () => {
  const { clock, removed, expiry } = setUp();
  expiry.add(version('a', 1000));
  expiry.stop();
  await clock.advanceAsync(5000);
  assert.deepEqual(removed, []);
});
