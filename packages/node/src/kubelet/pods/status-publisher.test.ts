import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodStatus } from '@kruise/api/core/pod';
import { virtualClock } from '@kruise/values/virtual-clock';
import {
  createStatusPublisher,
  currentStatus,
  dropStatusUpdate,
  flushStatus,
  markStatusDirty,
  replaceStatus,
  stopPublisher,
} from './status-publisher.ts';

/** Publisher whose computed status counts the computations. */
function makePublisher() {
  const clock = virtualClock(0);
  const state = { isDebounced: false, isWithheld: false, computed: 0 };
  const reported: string[] = [];
  const publisher = createStatusPublisher({
    clock,
    apiStatus: () => ({ message: 'from the API' }),
    compute: () => ({ message: `status ${++state.computed}` }),
    isDebounced: () => state.isDebounced,
    isWithheld: () => state.isWithheld,
    report: ({ message = '' }: PodStatus) => reported.push(`${clock.elapsedMs()} ${message}`),
  });
  return { clock, state, reported, publisher };
}

test('the status is that of the API until one is computed', () => {
  const { publisher, reported } = makePublisher();
  assert.equal(currentStatus(publisher).message, 'from the API');
  flushStatus(publisher);
  assert.deepEqual(reported, []);
});

test('a dirty status is reported at once', () => {
  const { publisher, reported } = makePublisher();
  markStatusDirty(publisher);
  assert.deepEqual(reported, ['0 status 1']);
  assert.equal(currentStatus(publisher).message, 'status 1');
});

test('debounced updates are computed and reported once, after the last of them', async () => {
  const { clock, state, reported, publisher } = makePublisher();
  state.isDebounced = true;
  markStatusDirty(publisher);
  await clock.advanceAsync(60);
  markStatusDirty(publisher);
  await clock.advanceAsync(99);
  assert.deepEqual(reported, []);
  await clock.advanceAsync(1);
  assert.deepEqual(reported, ['160 status 1']);
});

test('a flush ends the debounce', async () => {
  const { clock, state, reported, publisher } = makePublisher();
  state.isDebounced = true;
  markStatusDirty(publisher);
  flushStatus(publisher);
  await clock.advanceAsync(1000);
  assert.deepEqual(reported, ['0 status 1']);
});

test('a withheld status stays pending', () => {
  const { state, reported, publisher } = makePublisher();
  state.isWithheld = true;
  markStatusDirty(publisher);
  assert.deepEqual(reported, []);
  state.isWithheld = false;
  flushStatus(publisher);
  assert.deepEqual(reported, ['0 status 1']);
});

test('a replaced status is reported with the next update', () => {
  const { publisher, reported } = makePublisher();
  replaceStatus(publisher, { message: 'evicted' });
  assert.deepEqual(reported, []);
  assert.equal(currentStatus(publisher).message, 'evicted');
});

test('a dropped update and a stopped publisher report nothing', async () => {
  const { clock, state, reported, publisher } = makePublisher();
  state.isDebounced = true;
  markStatusDirty(publisher);
  dropStatusUpdate(publisher);
  await clock.advanceAsync(1000);
  markStatusDirty(publisher);
  stopPublisher(publisher);
  await clock.advanceAsync(1000);
  assert.deepEqual(reported, []);
});
