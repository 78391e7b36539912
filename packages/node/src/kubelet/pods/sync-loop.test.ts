import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after } from '@kruise/values/clock';
import { virtualClock } from '@kruise/values/virtual-clock';
import { createRelists } from '../runtime/relists.ts';
import { abortSync, createSyncLoop, requestSync, requestSyncAfterEvent, stopSyncLoop } from './sync-loop.ts';

/** Loop whose syncs take five seconds. */
function makeLoop(isEvented = true) {
  const clock = virtualClock(0);
  const listings = createRelists();
  const state = { hasEnded: false, fails: false };
  const history: string[] = [];
  const note = (what: string) => history.push(`${clock.elapsedMs() / 1000} ${what}`);
  const loop = createSyncLoop({
    clock,
    listings: isEvented ? undefined : listings,
    hasEnded: () => state.hasEnded,
    async sync(signal) {
      note('sync');
      await after(clock, 5000, signal);
      if (state.fails) throw new Error('failed');
    },
    observe: () => note('observe'),
    onError: (error) => note((error as Error).message),
    onIdle: () => note('idle'),
  });
  return { clock, listings, state, history, loop };
}

test('requests during a sync are coalesced into one more sync', async () => {
  const { clock, history, loop } = makeLoop();
  requestSync(loop);
  assert.ok(loop.isSyncing);
  for (let count = 0; count < 3; count++) requestSync(loop);
  await clock.advanceAsync(20_000);
  assert.deepEqual(history, ['0 sync', '5 sync', '10 idle']);
  assert.ok(!loop.isSyncing);
});

test('a runtime event during a long sync is observed after a second, and synced afterwards', async () => {
  const { clock, history, loop } = makeLoop();
  requestSync(loop);
  requestSyncAfterEvent(loop);
  requestSyncAfterEvent(loop);
  await clock.advanceAsync(20_000);
  assert.deepEqual(history, ['0 sync', '1 observe', '5 sync', '10 idle']);
});

test('a runtime event of an idle Pod is synced', async () => {
  const { clock, history, loop } = makeLoop();
  requestSyncAfterEvent(loop);
  await clock.advanceAsync(20_000);
  assert.deepEqual(history, ['0 sync', '5 idle']);
});

test('an aborted sync has no error, and a request starts the next one', async () => {
  const { clock, history, loop } = makeLoop();
  requestSync(loop);
  await clock.advanceAsync(2000);
  abortSync(loop);
  requestSync(loop);
  await clock.advanceAsync(20_000);
  assert.deepEqual(history, ['0 sync', '2 sync', '7 idle']);
});

test('a failed sync is passed on, and not repeated by itself', async () => {
  const { clock, state, history, loop } = makeLoop();
  state.fails = true;
  requestSync(loop);
  await clock.advanceAsync(20_000);
  assert.deepEqual(history, ['0 sync', '5 failed', '5 idle']);
});

test('no sync starts after the end, and a failure is no longer passed on', async () => {
  const { clock, state, history, loop } = makeLoop();
  state.fails = true;
  requestSync(loop);
  requestSync(loop);
  state.hasEnded = true;
  await clock.advanceAsync(20_000);
  assert.deepEqual(history, ['0 sync', '5 idle']);
});

test('a stopped loop observes nothing', async () => {
  const { clock, state, history, loop } = makeLoop();
  requestSync(loop);
  requestSyncAfterEvent(loop);
  state.hasEnded = true;
  stopSyncLoop(loop);
  await clock.advanceAsync(20_000);
  assert.deepEqual(history, ['0 sync', '0 idle']);
});

test('without runtime events, a sync waits for a relist after the previous sync', async () => {
  const { clock, listings, history, loop } = makeLoop(false);
  listings.recordRelist(0);
  requestSync(loop);
  requestSync(loop);
  await clock.advanceAsync(8000);
  requestSync(loop);
  assert.deepEqual(history, ['0 sync', '5 idle']);
  listings.recordRelist(9000);
  await clock.advanceAsync(1000);
  assert.deepEqual(history, ['0 sync', '5 idle', '8 sync']);
});
