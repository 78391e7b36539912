import assert from 'node:assert/strict';
import { test } from 'node:test';
import { virtualClock } from '@kruise/values/virtual-clock';
import { createBackground, type Pause } from './background.ts';

function start(pause?: Pause) {
  const clock = virtualClock(0);
  const background = createBackground(clock, pause);
  const going: (() => void)[] = [];
  const ask = async (count: number) => {
    for (let index = 0; index < count; index++) void background.turn().then((done) => going.push(done));
    await clock.advanceAsync(0);
  };
  const other = () => background.somebodyWaits()();
  return { clock, background, going, ask, other };
}

test('what nobody waits for goes at once when there is nothing else, but not all of it', async () => {
  const { clock, going, ask } = start();
  await ask(20);
  assert.equal(going.length, 8);
  going[0]!();
  await clock.advanceAsync(0);
  assert.equal(going.length, 9);
});

test('it waits while somebody waits for something else', async () => {
  const { clock, background, going, ask } = start();
  const done = background.somebodyWaits();
  await ask(1);
  assert.equal(going.length, 0);
  done();
  await clock.advanceAsync(0);
  assert.equal(going.length, 1);
});

test('a moment between two others is no time of quiet', async () => {
  const pauses: (() => void)[] = [];
  const { clock, background, going, ask, other } = start((callback) => pauses.push(callback));
  const pause = async () => {
    assert.equal(pauses.length, 1);
    pauses.pop()!();
    await clock.advanceAsync(0);
  };
  other();
  await ask(20);
  other();
  await pause();
  assert.equal(going.length, 0, 'another has come and gone');
  const done = background.somebodyWaits();
  await pause();
  assert.deepEqual([going.length, pauses.length], [0, 0], 'another is there');
  done();
  await pause();
  assert.equal(going.length, 8);
  for (const end of going.splice(0)) end();
  await clock.advanceAsync(0);
  assert.deepEqual([going.length, pauses.length], [8, 0], 'it is still quiet');
});

test('one goes for every sixteen others, first come first', async () => {
  const { clock, background, going, ask, other } = start();
  background.somebodyWaits();
  await ask(3);
  for (let count = 1; count <= 47; count++) other();
  await clock.advanceAsync(0);
  assert.equal(going.length, 2);
});

test('none waits for longer than a second', async () => {
  const { clock, background, going, ask } = start();
  background.somebodyWaits();
  await ask(2);
  await clock.advanceAsync(999);
  assert.equal(going.length, 0);
  await clock.advanceAsync(1);
  assert.equal(going.length, 2);
});

test('one that has lost its patience does not take the turn of the next', async () => {
  const { clock, background, going, ask } = start();
  const done = background.somebodyWaits();
  await ask(1);
  await clock.advanceAsync(1000);
  await ask(1);
  done();
  await clock.advanceAsync(0);
  assert.equal(going.length, 2);
});
