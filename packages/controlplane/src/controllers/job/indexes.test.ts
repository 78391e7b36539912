import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  countCommon,
  countIndexes,
  firstMissing,
  formatIndexes,
  hasIndex,
  indexesOf,
  parseIndexes,
  union,
} from './indexes.ts';

const texts = [
  { indexes: [], text: '' },
  { indexes: [3], text: '3' },
  { indexes: [3, 4], text: '3,4' },
  { indexes: [0, 1, 2, 5], text: '0-2,5' },
  { indexes: [7, 1, 6, 5], text: '1,5-7' },
];
for (const { indexes, text } of texts) {
  test(`the indexes ${indexes.join()} are formatted as ${text || 'an empty string'}`, () => {
    assert.equal(formatIndexes(indexesOf(indexes)), text);
    assert.equal(formatIndexes(parseIndexes(text, 100)), text);
  });
}

const readings = [
  { text: '0-9', completions: 5, read: '0-4' },
  { text: '0,5', completions: 5, read: '0' },
  { text: '0,1,2', completions: 9, read: '0-2' },
  { text: 'x,1-,3', completions: 9, read: '3' },
  { text: undefined, completions: 9, read: '' },
];
for (const { text, completions, read } of readings) {
  test(`${text} below ${completions} is parsed as ${read || 'nothing'}`, () => {
    assert.equal(formatIndexes(parseIndexes(text, completions)), read);
  });
}

const someIndexes = fc.uniqueArray(fc.nat(30));

test('interval sets behave like sets', () => {
  fc.assert(
    fc.property(someIndexes, someIndexes, (a, b) => {
      const [first, second] = [indexesOf(a), indexesOf(b)];
      const both = new Set(a).union(new Set(b));
      assert.deepEqual(union(first, second), indexesOf(both));
      assert.equal(countIndexes(first), a.length);
      assert.equal(countCommon(first, second), new Set(a).intersection(new Set(b)).size);
      for (let index = 0; index <= 31; index++) assert.equal(hasIndex(first, index), a.includes(index));
      assert.deepEqual(parseIndexes(formatIndexes(first), 31), first);
    }),
  );
});

test('the first missing indexes are the lowest ones', () => {
  fc.assert(
    fc.property(someIndexes, fc.nat(35), fc.nat(10), (indexes, completions, count) => {
      const missing = Array.from({ length: completions }, (_, index) => index).filter(
        (each) => !indexes.includes(each),
      );
      assert.deepEqual(firstMissing(indexesOf(indexes), completions, count), missing.slice(0, count));
    }),
  );
});
