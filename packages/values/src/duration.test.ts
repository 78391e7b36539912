import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalDuration, formatDuration, fromMilliseconds, parseDuration, toMilliseconds } from './duration.ts';

const canonical: readonly (readonly [string, string])[] = [
  ['0', '0s'],
  ['-0', '0s'],
  ['90s', '1m30s'],
  ['1h', '1h0m0s'],
  ['1.5h', '1h30m0s'],
  ['-1.5s', '-1.5s'],
  ['+5m', '5m0s'],
  ['1m1ms', '1m0.001s'],
  ['100us', '100µs'],
  ['1.5µs', '1.5µs'],
  ['1.5μs', '1.5µs'],
  ['3ns', '3ns'],
  ['.5s', '500ms'],
  ['1.s', '1s'],
  ['0.9999999999s', '999.999999ms'],
  ['2540400h10m10s', '2540400h10m10s'],
  ['9223372036854775807ns', '2562047h47m16.854775807s'],
  ['-9223372036854775808ns', '-2562047h47m16.854775808s'],
  ['0.3333333333333333333h', '20m0s'],
];
for (const [text, expected] of canonical) {
  test(`${text} reads back as ${expected}`, () => assert.equal(canonicalDuration(text), expected));
}

const refused: readonly (readonly [string, string])[] = [
  ['', 'time: invalid duration ""'],
  ['-', 'time: invalid duration "-"'],
  ['.s', 'time: invalid duration ".s"'],
  ['3', 'time: missing unit in duration "3"'],
  ['1d', 'time: unknown unit "d" in duration "1d"'],
  ['1s 2m', 'time: unknown unit "s " in duration "1s 2m"'],
  ['1é', 'time: unknown unit "\\xc3\\xa9" in duration "1\\xc3\\xa9"'],
  ['s', 'time: invalid duration "s"'],
  ['9223372036854775808ns', 'time: invalid duration "9223372036854775808ns"'],
  ['3000000h', 'time: invalid duration "3000000h"'],
];
for (const [text, message] of refused) {
  test(`${JSON.stringify(text)} is refused`, () => {
    assert.throws(() => parseDuration(text), { name: 'ParseError', message });
  });
}

test('a megabyte of digits is refused', () => {
  assert.throws(() => parseDuration('1'.repeat(1_000_000)), { name: 'ParseError' });
});

test('a formatted duration parses to the same value', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (duration) => {
      assert.equal(parseDuration(formatDuration(duration)), duration);
    }),
  );
});

test('milliseconds are a millionth of nanoseconds', () => {
  assert.equal(toMilliseconds(parseDuration('1.5ms')), 1.5);
  assert.equal(formatDuration(fromMilliseconds(90_000.5)), '1m30.0005s');
});
