import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createOrderedMap } from './ordered-map.ts';

const byBytes = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));

test('an ordered map equals a plain map, in byte order', () => {
  const anyKey = fc
    .oneof(fc.string({ maxLength: 3 }), fc.string({ unit: 'binary', maxLength: 2 }))
    .filter((key) => key.isWellFormed());
  const anyStep = fc.record({ key: anyKey, value: fc.option(fc.nat(), { nil: undefined }) });
  const anySearch = fc.record({ prefix: anyKey, start: fc.option(anyKey, { nil: undefined }) });
  fc.assert(
    fc.property(fc.array(anyStep), anySearch, (steps, { prefix, start }) => {
      const ordered = createOrderedMap<number>();
      const plain = new Map<string, number>();
      for (const { key, value } of steps) {
        if (value === undefined) {
          ordered.delete(key);
          plain.delete(key);
        } else {
          ordered.set(key, value);
          plain.set(key, value);
        }
      }
      for (const { key } of steps) assert.equal(ordered.get(key), plain.get(key));
      const seen: number[] = [];
      ordered.visit({ prefix, ...(start !== undefined && { start }) }, (value) => seen.push(value));
      const expected = [...plain.keys()]
        .filter((key) => key.startsWith(prefix) && (start === undefined || byBytes(key, start) >= 0))
        .toSorted(byBytes);
      assert.deepEqual(
        seen,
        expected.map((key) => plain.get(key)),
      );
    }),
  );
});

test('an ordered map keeps its order through thousands of insertions and deletions', () => {
  const ordered = createOrderedMap<number>();
  const size = 5000;
  // Visits all numbers in a scattered order.
  const scattered = Array.from({ length: size }, (_, index) => (index * 2111) % size);
  const name = (number: number) => String(number).padStart(4, '0');
  for (const number of scattered) ordered.set(name(number), number);
  for (const number of scattered) if (number % 3 === 0 || number < 1500) ordered.delete(name(number));
  const seen: number[] = [];
  ordered.visit({ prefix: '' }, (value) => seen.push(value));
  assert.deepEqual(
    seen,
    Array.from({ length: size }, (_, number) => number).filter((number) => number % 3 !== 0 && number >= 1500),
  );
});
