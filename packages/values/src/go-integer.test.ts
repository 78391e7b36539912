import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseInteger, tryParseInteger } from './go-integer.ts';

const read: readonly (readonly [string, bigint])[] = [
  ['0', 0n],
  ['-0', 0n],
  ['+7', 7n],
  ['007', 7n],
  ['9223372036854775807', 2n ** 63n - 1n],
  ['-9223372036854775808', -(2n ** 63n)],
];
for (const [text, value] of read) {
  test(`${text} is ${value}`, () => {
    assert.equal(parseInteger(text), value);
    assert.equal(tryParseInteger(text), value);
  });
}

const refused: readonly (readonly [string, string])[] = [
  ['', 'strconv.Atoi: parsing "": invalid syntax'],
  ['1.0', 'strconv.Atoi: parsing "1.0": invalid syntax'],
  [' 1', 'strconv.Atoi: parsing " 1": invalid syntax'],
  ['0x1', 'strconv.Atoi: parsing "0x1": invalid syntax'],
  ['9223372036854775808', 'strconv.Atoi: parsing "9223372036854775808": value out of range'],
];
for (const [text, message] of refused) {
  test(`${JSON.stringify(text)} is refused`, () => {
    assert.throws(() => parseInteger(text), { name: 'ParseError', message });
    assert.equal(tryParseInteger(text), undefined);
  });
}

test('a megabyte of digits is refused', () => {
  assert.equal(tryParseInteger('1'.repeat(1_000_000)), undefined);
});
