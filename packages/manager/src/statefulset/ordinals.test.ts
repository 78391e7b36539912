import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { allFeatureGates, featureGates } from '../configuration/feature-gates.ts';
import { setOf } from './fixtures.ts';
import { parseOrdinalRange, reservedRanges, wantedOrdinals } from './ordinals.ts';

const gates = featureGates(allFeatureGates);

const cases = [
  { replicas: 4, reserve: [1, 3], start: 0, ordinals: [0, 2, 4, 5] },
  { replicas: 4, reserve: [1, 3], start: 2, ordinals: [2, 4, 5, 6] },
  { replicas: 4, reserve: [1, 3], start: 3, ordinals: [4, 5, 6, 7] },
  { replicas: 3, reserve: [0, '2-5'], start: 0, ordinals: [1, 6, 7] },
  { replicas: 3, reserve: [], start: 2, ordinals: [2, 3, 4] },
  { replicas: 3, reserve: [0, 4], start: 2, ordinals: [2, 3, 5] },
  { replicas: 3, reserve: [0, 2, 3, 4, 5], start: 2, ordinals: [6, 7, 8] },
  { replicas: 4, reserve: [1, 3, 4], start: 1, ordinals: [2, 5, 6, 7] },
  { replicas: 2, reserve: [1, '0-2', 1], start: 0, ordinals: [3, 4] },
  { replicas: 3, reserve: [3, 4, 5], start: 0, ordinals: [0, 1, 2] },
  { replicas: 3, reserve: [1, '5-2'], start: 0, ordinals: [0, 1, 2] },
  { replicas: 2, reserve: ['0-2000000000'], start: 0, ordinals: [2000000001, 2000000002] },
  { replicas: 0, reserve: [0], start: 0, ordinals: [] },
];

for (const { replicas, reserve, start, ordinals } of cases) {
  test(`${replicas} Pods from ${start} without ${JSON.stringify(reserve)} are ${ordinals.join(' ') || 'none'}`, () => {
    const set = setOf({ replicas, reserveOrdinals: reserve, ordinals: { start } });
    assert.deepEqual(wantedOrdinals(set, gates), ordinals);
  });
}

test('ordinals start at 0 without the feature gate', () => {
  const set = setOf({ replicas: 2, ordinals: { start: 5 } });
  assert.deepEqual(wantedOrdinals(set, { ...gates, StatefulSetStartOrdinal: false }), [0, 1]);
});

for (const text of ['1-%', '%-2', '1-2-3', '5-2', '7', '']) {
  test(`${JSON.stringify(text)} is an invalid range, which reserves nothing`, () => {
    assert.throws(() => parseOrdinalRange(text), { name: 'ParseError' });
    assert.deepEqual(reservedRanges([1, text]), []);
  });
}

test('there are as many ordinals as replicas, ascending, none below the start, none reserved', () => {
  const range = fc.tuple(fc.nat(20), fc.nat(5)).map(([first, more]) => `${first}-${first + more}`);
  fc.assert(
    fc.property(
      fc.nat(12),
      fc.nat(10),
      fc.array(fc.oneof(fc.nat(20), range), { maxLength: 8 }),
      (replicas, start, reserve) => {
        const wanted = wantedOrdinals(setOf({ replicas, ordinals: { start }, reserveOrdinals: reserve }), gates);
        const isReserved = (ordinal: number) =>
          reservedRanges(reserve).some(({ first, last }) => first <= ordinal && ordinal <= last);
        const expected: number[] = [];
        for (let ordinal = start; expected.length < replicas; ordinal++)
          if (!isReserved(ordinal)) expected.push(ordinal);
        assert.deepEqual(wanted, expected);
      },
    ),
  );
});
