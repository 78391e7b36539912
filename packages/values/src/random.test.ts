import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { jitter, pick, randomInteger, seededRandom, shuffle } from './random.ts';

test('a seed gives the same numbers again, another seed others', () => {
  const numbers = (seed: number | string) => {
    const random = seededRandom(seed);
    return Array.from({ length: 20 }, () => random.next());
  };
  assert.deepEqual(numbers(7), numbers(7));
  assert.notDeepEqual(numbers(7), numbers(8));
  assert.notDeepEqual(numbers(''), numbers(0));
});

test('numbers are spread evenly from 0 to 1', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const random = seededRandom(seed);
      const counts = new Array<number>(10).fill(0);
      for (let draw = 0; draw < 10_000; draw++) {
        const index = randomInteger(random, 10);
        counts[index] = (counts[index] ?? 0) + 1;
      }
      // Chi-squared with nine degrees of freedom: above 40 once in a hundred thousand.
      const deviation = counts.reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0);
      assert.ok(deviation < 40, `${deviation}`);
    }),
    { numRuns: 20, seed: 1 },
  );
});

test('shuffling keeps every item, and the original', () => {
  const items = Object.freeze([1, 2, 3, 4, 5]);
  const shuffled = shuffle(seededRandom(1), items);
  assert.notDeepEqual(shuffled, items);
  assert.deepEqual(shuffled.toSorted(), items);
});

test('there is nothing to pick from nothing', () => {
  assert.equal(pick(seededRandom(1), ['a']), 'a');
  assert.throws(() => pick(seededRandom(1), []), RangeError);
});

test('jitter only stretches, by no more than its factor', () => {
  const random = seededRandom(1);
  for (let draw = 0; draw < 100; draw++) {
    const stretched = jitter(random, 1000, 0.1);
    assert.ok(stretched >= 1000 && stretched < 1100);
  }
});
