import assert from 'node:assert/strict';
import { test } from 'node:test';
import { virtualClock } from '@kruise/values/virtual-clock';
import { createBackgroundScheduler, type Pause } from './background.ts';

function start(pause?: Pause) {
  const clock = virtualClock(0);
  const background = createBackgroundScheduler(clock, pause);
  const started: (() => void)[] = [];
  const ask = async (count: number) => {
    for (let index = 0; index < count; index++) void background.beginBackground().then((done) => started.push(done));
    await clock.advanceAsync(0);
  };
  const other = () => background.beginForeground()();
  return { clock, background, started, ask, other };
}

test('background requests run at once on an idle server, up to the limit', async () => {
  const { clock, started, ask } = start();
  await ask(20);
  assert.equal(started.length, 8);
  started[0]!();
  await clock.advanceAsync(0);
  assert.equal(started.length, 9);
});

test('background requests wait for foreground requests', async () => {
  const { clock, background, started, ask } = start();
  const done = background.beginForeground();
  await ask(1);
  assert.equal(started.length, 0);
  done();
  await clock.advanceAsync(0);
  assert.equal(started.length, 1);
});

test('a pause between two foreground requests is not idle time', async () => {
  const pauses: (() => void)[] = [];
  const { clock, background, started, ask, other } = start((callback) => pauses.push(callback));
  const pause = async () => {
    assert.equal(pauses.length, 1);
    pauses.pop()!();
    await clock.advanceAsync(0);
  };
  other();
  await ask(20);
  other();
  await pause();
  assert.equal(started.length, 0, 'a foreground request has ended');
  const done = background.beginForeground();
  await pause();
  assert.deepEqual([started.length, pauses.length], [0, 0], 'a foreground request is active');
  done();
  await pause();
  assert.equal(started.length, 8);
  for (const end of started.splice(0)) end();
  await clock.advanceAsync(0);
  assert.deepEqual([started.length, pauses.length], [8, 0], 'the server is still idle');
});

test('one background request runs per sixteen foreground requests, in order', async () => {
  const { clock, background, started, ask, other } = start();
  background.beginForeground();
  await ask(3);
  for (let count = 1; count <= 47; count++) other();
  await clock.advanceAsync(0);
  assert.equal(started.length, 2);
});

test('no background request waits longer than a second', async () => {
  const { clock, background, started, ask } = start();
  background.beginForeground();
  await ask(2);
  await clock.advanceAsync(999);
  assert.equal(started.length, 0);
  await clock.advanceAsync(1);
  assert.equal(started.length, 2);
});

test("a background request that timed out does not use the next one's slot", async () => {
  const { clock, background, started, ask } = start();
  const done = background.beginForeground();
  await ask(1);
  await clock.advanceAsync(1000);
  await ask(1);
  done();
  await clock.advanceAsync(0);
  assert.equal(started.length, 2);
});
