import assert from 'node:assert/strict';
import { test } from 'node:test';
import { humanDuration, shortHumanDuration } from './human-duration.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

const cases: readonly (readonly [number, string, string])[] = [
  [-2 * second, '<invalid>', '<invalid>'],
  [-1999, '0s', '0s'],
  [-1, '0s', '0s'],
  [0, '0s', '0s'],
  [119_999, '119s', '1m'],
  [2 * minute, '2m', '2m'],
  [2 * minute + second, '2m1s', '2m'],
  [10 * minute - 1, '9m59s', '9m'],
  [10 * minute + 59 * second, '10m', '10m'],
  [3 * hour - 1, '179m', '2h'],
  [3 * hour, '3h', '3h'],
  [3 * hour + minute, '3h1m', '3h'],
  [8 * hour + 59 * minute, '8h', '8h'],
  [2 * day - 1, '47h', '1d'],
  [2 * day, '2d', '2d'],
  [2 * day + hour, '2d1h', '2d'],
  [8 * day + 23 * hour, '8d', '8d'],
  [2 * year - 1, '729d', '1y'],
  [2 * year, '2y', '2y'],
  [2 * year + day, '2y1d', '2y'],
  [8 * year + 364 * day, '8y', '8y'],
];
for (const [elapsedMs, expected, short] of cases) {
  test(`${elapsedMs} ms are ${expected}, in short ${short}`, () => {
    assert.equal(humanDuration(elapsedMs), expected);
    assert.equal(shortHumanDuration(elapsedMs), short);
  });
}
