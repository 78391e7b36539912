import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createSeats } from './seats.ts';

test('a level always gets its guaranteed seats', () => {
  const seats = createSeats(10);
  const sure = seats.setShare('sure', { minimum: 4, maximum: 10 });
  const greedy = seats.setShare('greedy', { minimum: 2, maximum: 10 });
  let taken = 0;
  while (greedy.acquire(1)) taken++;
  assert.equal(taken, 6);
  for (let count = 0; count < 4; count++) assert.ok(sure.acquire(1));
  assert.ok(!sure.acquire(1));
});

test('unguaranteed seats go to any level, up to its maximum', () => {
  const seats = createSeats(10);
  const modest = seats.setShare('modest', { minimum: 1, maximum: 3 });
  let taken = 0;
  while (modest.acquire(1)) taken++;
  assert.equal(taken, 3);
});

test('a request wider than its level is admitted when the level is empty', () => {
  const level = createSeats(10).setShare('small', { minimum: 1, maximum: 2 });
  assert.ok(level.acquire(5));
  assert.ok(!level.acquire(1));
  level.release(5);
  assert.ok(level.acquire(2));
});

test('a new share applies at once', () => {
  const seats = createSeats(10);
  const level = seats.setShare('a', { minimum: 1, maximum: 1 });
  assert.ok(level.acquire(1));
  assert.ok(!level.acquire(1));
  assert.equal(seats.setShare('a', { minimum: 2, maximum: 2 }), level);
  assert.ok(level.acquire(1));
});

test('seats are neither lost nor created', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.boolean(), fc.integer({ min: 1, max: 3 })));
  fc.assert(
    fc.property(steps, (all) => {
      const seats = createSeats(8);
      const levels = new Map(
        ['a', 'b', 'c'].map((name, index) => [name, seats.setShare(name, { minimum: index, maximum: 8 })]),
      );
      const held: (readonly [string, number])[] = [];
      for (const [name, takes, width] of all) {
        if (takes) {
          if (levels.get(name)!.acquire(width)) held.push([name, width]);
        } else {
          const last = held.pop();
          if (last) levels.get(last[0])!.release(last[1]);
        }
      }
      for (const [name, width] of held) levels.get(name)!.release(width);
      for (const level of levels.values()) assert.equal(level.inUse, 0);
      // The same number of seats fits as at the start.
      let taken = 0;
      while (levels.get('a')!.acquire(1)) taken++;
      assert.equal(taken, 8 - 1 - 2);
    }),
  );
});
