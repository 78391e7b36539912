import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { intValue, isPercentage, parseIntOrString, scaleDown, scaleUp } from './int-or-string.ts';

const scaled: readonly (readonly [number | string, number, number, number])[] = [
  [3, 10, 3, 3],
  ['25%', 10, 3, 2],
  ['100%', 7, 7, 7],
  ['0%', 7, 0, 0],
  ['34%', 3, 2, 1],
  ['150%', 3, 5, 4],
  ['-3%', 10, 0, -1],
  ['+7%', 100, 7, 7],
];
for (const [value, total, up, down] of scaled) {
  test(`${value} of ${total} is ${up}, or ${down} rounded down`, () => {
    assert.equal(scaleUp(value, total), up);
    assert.equal(scaleDown(value, total), down);
  });
}

const refused: readonly (readonly [string, string])[] = [
  ['', 'invalid type: string is not a percentage'],
  ['5', 'invalid type: string is not a percentage'],
  ['%', 'invalid value "%": strconv.Atoi: parsing "": invalid syntax'],
  ['1.5%', 'invalid value "1.5%": strconv.Atoi: parsing "1.5": invalid syntax'],
  ['a"%', 'invalid value "a\\"%": strconv.Atoi: parsing "a\\"": invalid syntax'],
  [
    '9223372036854775808%',
    'invalid value "9223372036854775808%": strconv.Atoi: parsing "9223372036854775808": value out of range',
  ],
];
for (const [value, reason] of refused) {
  test(`${JSON.stringify(value)} is no percentage`, () => {
    assert.throws(() => scaleUp(value, 1), { name: 'ParseError', message: `invalid value for IntOrString: ${reason}` });
  });
}

test('a text is a number only within 32 bits', () => {
  assert.equal(parseIntOrString('80'), 80);
  assert.equal(parseIntOrString('-0'), 0);
  assert.equal(parseIntOrString('2147483648'), '2147483648');
  assert.equal(parseIntOrString('80%'), '80%');
  assert.equal(parseIntOrString('http'), 'http');
});

test('the value of a text that is no number is 0', () => {
  assert.equal(intValue('x'), 0);
  assert.equal(intValue('12'), 12);
  assert.equal(intValue(7), 7);
  assert.equal(isPercentage('7%'), true);
  assert.equal(isPercentage(7), false);
});

test('rounding up and down are never more than one apart', () => {
  fc.assert(
    fc.property(fc.nat(200), fc.nat(100_000), (percent, total) => {
      const difference = scaleUp(`${percent}%`, total) - scaleDown(`${percent}%`, total);
      assert.ok(difference === 0 || difference === 1);
    }),
  );
});
