import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { after, every } from './clock.ts';
import { virtualClock } from './virtual-clock.ts';

test('time stands still until it is moved', () => {
  const clock = virtualClock(1000);
  assert.equal(clock.now(), 1000);
  clock.advance(50);
  assert.equal(clock.now(), 1050);
  assert.equal(clock.elapsedMs(), 50);
});

test('timers fire in order of time and of setting, each at its own time', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50), { maxLength: 40 }), (delays) => {
      const clock = virtualClock();
      const fired: { at: number; delay: number; order: number }[] = [];
      delays.forEach((delay, order) => {
        clock.setTimer(delay, () => fired.push({ at: clock.now(), delay, order }));
      });
      clock.advance(100);
      assert.equal(fired.length, delays.length);
      assert.ok(fired.every(({ at, delay }) => at === delay));
      assert.deepEqual(
        fired,
        fired.toSorted((a, b) => a.delay - b.delay || a.order - b.order),
      );
    }),
  );
});

test('a timer set while moving fires on the same way', () => {
  const clock = virtualClock();
  const fired: number[] = [];
  clock.setTimer(10, () => clock.setTimer(10, () => fired.push(clock.now())));
  clock.advance(20);
  assert.deepEqual(fired, [20]);
});

test('a cancelled or aborted timer does not fire, and is not waited for', () => {
  const clock = virtualClock();
  const controller = new AbortController();
  const cancel = clock.setTimer(10, assert.fail);
  clock.setTimer(20, assert.fail, controller.signal);
  cancel();
  controller.abort();
  clock.setTimer(5, assert.fail, controller.signal);
  assert.equal(clock.nextTimer(), undefined);
  assert.equal(clock.step(), false);
});

test('waiting ends when its time comes', async () => {
  const clock = virtualClock();
  const order: string[] = [];
  const waiting = (async () => {
    await after(clock, 10);
    order.push(`first ${clock.now()}`);
    await after(clock, 10);
    order.push(`second ${clock.now()}`);
  })();
  await clock.advanceAsync(25);
  await waiting;
  assert.deepEqual(order, ['first 10', 'second 20']);
  assert.equal(clock.now(), 25);
});

test('waiting rejects with the reason of its signal', async () => {
  const clock = virtualClock();
  const controller = new AbortController();
  const waiting = after(clock, 10, controller.signal);
  controller.abort(new Error('enough'));
  await assert.rejects(waiting, { message: 'enough' });
  await assert.rejects(after(clock, 10, controller.signal), { message: 'enough' });
  assert.equal(clock.nextTimer(), undefined);
});

test('every calls until it is aborted', () => {
  const clock = virtualClock();
  const controller = new AbortController();
  let calls = 0;
  every(clock, 10, () => ++calls === 3 && controller.abort(), controller.signal);
  clock.advance(100);
  assert.equal(calls, 3);
});

test('a timer of a fraction of a millisecond does not fire too early, far from the beginning of time', () => {
  const clock = virtualClock(1_780_000_000_000);
  const isEarly: boolean[] = [];
  for (const delayMs of [0.1, 0.0001, 12.34567, 1 / 3, 2000 / 7]) {
    const due = clock.elapsedMs() + delayMs;
    clock.setTimer(delayMs, () => isEarly.push(clock.elapsedMs() < due));
    clock.step();
  }
  assert.deepEqual(isEarly, Array(5).fill(false));
});
