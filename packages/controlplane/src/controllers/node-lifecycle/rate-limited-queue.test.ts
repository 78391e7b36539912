import assert from 'node:assert/strict';
import { test } from 'node:test';
import { virtualClock } from '@kruise/values/virtual-clock';
import { createRateLimitedQueue } from './rate-limited-queue.ts';

function start(perSecond: number) {
  const clock = virtualClock();
  const taken: string[] = [];
  const queue = createRateLimitedQueue(
    clock,
    perSecond,
    (name) => taken.push(`${name} at ${clock.now() / 1000}`),
    new AbortController().signal,
  );
  return { clock, taken, queue };
}

test('the first name is released at once, the others at the rate', () => {
  const { clock, taken, queue } = start(0.1);
  for (const name of ['a', 'b', 'a', 'c']) queue.add(name);
  clock.advance(60_000);
  assert.deepEqual(taken, ['a at 0', 'b at 10', 'c at 20']);
});

test('a removed name is not released', () => {
  const { clock, taken, queue } = start(0.1);
  for (const name of ['a', 'b', 'c']) queue.add(name);
  clock.advance(1000);
  queue.remove('b');
  clock.advance(60_000);
  assert.deepEqual(taken, ['a at 0', 'c at 10']);
});

test('nothing is released at a rate of 0, and waiting names are once the rate is positive', () => {
  const { clock, taken, queue } = start(0);
  queue.add('a');
  clock.advance(60_000);
  assert.deepEqual(taken, []);
  queue.setRate(0.1);
  clock.advance(60_000);
  assert.deepEqual(taken, ['a at 60']);
});

test('a changed rate does not release a waiting name early', () => {
  const { clock, taken, queue } = start(0.01);
  queue.add('a');
  queue.add('b');
  clock.advance(1000);
  queue.setRate(0.1);
  clock.advance(60_000);
  assert.deepEqual(taken, ['a at 0', 'b at 11']);
});
