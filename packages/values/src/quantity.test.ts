import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  addQuantities,
  asApproximateFloat,
  asInt64,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  isQuantity,
  milliValue,
  negateQuantity,
  parseQuantity,
  type Quantity,
  quantityOf,
  quantitySign,
  quantityValue,
  roundUpQuantity,
  scaledValue,
  subtractQuantities,
  wrappedValue,
} from './quantity.ts';

const canonical: readonly (readonly [string | number, string])[] = [
  // The common ones.
  ['0', '0'],
  ['100m', '100m'],
  ['1000m', '1'],
  ['0.5', '500m'],
  ['1.5Gi', '1536Mi'],
  ['1024Mi', '1Gi'],
  ['1025Ki', '1025Ki'],
  ['1e3', '1e3'],
  ['12000e3', '12e6'],
  ['1000k', '1M'],
  [' 5Gi\n', '5Gi'],
  [1.5, '1500m'],
  [2000, '2k'],
  // Binary suffixes only from 1024 on, and only for whole numbers.
  ['0.5Ki', '512'],
  ['1000Ki', '1000Ki'],
  ['8Ki', '8Ki'],
  ['0.1Ki', '102400m'],
  ['1.0001Ki', '1024102400u'],
  ['-1536Ki', '-1536Ki'],
  ['-2048Ki', '-2Mi'],
  // What the reference takes for canonical is printed as it came.
  ['+5', '+5'],
  ['0012', '0012'],
  ['1.234', '1.234'],
  ['1.Ki', '1.Ki'],
  ['01Ki', '01Ki'],
  // Digits are optional.
  ['+', '0'],
  ['.', '0'],
  ['Ki', '0'],
  ['-0', '0'],
  ['.5', '500m'],
  // Finer than a billionth is rounded away from zero.
  ['0.1n', '1n'],
  ['-0.1n', '-1n'],
  ['1e-12', '1e-9'],
  ['1e-999999999', '1e-9'],
  ['1.0000000001', '1000000001n'],
  // Large ones.
  ['9223372036854775807', '9223372036854775807'],
  ['9223372036854775808', '9223372036854775808'],
  ['99999999999Ei', '9223372036854775807'],
  ['-99999999999Ei', '-9223372036854775807'],
  ['12345678901234567890', '12345678901234567890'],
  ['1e999999999', '1e999999999'],
  ['1e4294967297', '10'],
  ['000030250e2147483647', '30250e2147483647'],
  // There is no suffix beyond E, and none is written.
  ['1000E', '1'],
];
for (const [from, to] of canonical) {
  test(`${JSON.stringify(from)} reads back as ${to}`, () => {
    assert.equal(canonicalQuantity(from), to);
    assert.equal(canonicalQuantity(from), to, 'the second time as the first');
  });
}

const formatWrong = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const numberWrong = 'unable to parse numeric part of quantity';
const suffixWrong = "unable to parse quantity's suffix";
const refused: readonly (readonly [string, string])[] = [
  ['', formatWrong],
  [' 1', formatWrong],
  ['1 Gi', formatWrong],
  ['1.1.1', formatWrong],
  ['--1', suffixWrong],
  ['1Gi5x', formatWrong],
  ['NaN', formatWrong],
  ['1é', formatWrong],
  ['1K', suffixWrong],
  ['1gi', formatWrong],
  ['1mi', suffixWrong],
  ['1e', suffixWrong],
  ['1+5', suffixWrong],
  ['1e3m', formatWrong],
  ['1e9223372036854775808', suffixWrong],
  ['.e-10', numberWrong],
  ['1234567890123456789e999999999', numberWrong],
  ['1'.repeat(1_000_000), numberWrong],
];
for (const [text, message] of refused) {
  test(`${text.slice(0, 30)} is refused: ${message.slice(0, 30)}`, () => {
    assert.throws(() => parseQuantity(text), { name: 'ParseError', message });
    assert.equal(isQuantity(text), false);
  });
}

test('a sum has the family of its first part, unless that is zero', () => {
  const sum = (a: string, b: string) => formatQuantity(addQuantities(parseQuantity(a), parseQuantity(b)));
  assert.equal(sum('1Gi', '1M'), '1074741824');
  assert.equal(sum('1Gi', '1024M'), '2048576Ki');
  assert.equal(sum('512Mi', '512Mi'), '1Gi');
  assert.equal(sum('0', '1Gi'), '1Gi');
  assert.equal(sum('1e3', '1k'), '2e3');
  assert.equal(sum('9223372036854775807', '1'), '9223372036854775808');
  assert.equal(sum('100m', '0.9'), '1');
});

test('a difference may be negative', () => {
  const difference = (a: string, b: string) => formatQuantity(subtractQuantities(parseQuantity(a), parseQuantity(b)));
  assert.equal(difference('1', '1500m'), '-500m');
  assert.equal(difference('1Gi', '1Gi'), '0');
});

test('only a quantity that is stored as a 64-bit integer is an integer', () => {
  assert.equal(asInt64(parseQuantity('5k')), 5000n);
  assert.equal(asInt64(parseQuantity('1000m')), undefined);
  assert.equal(asInt64(parseQuantity('9223372036854775808')), undefined);
  assert.equal(asInt64(parseQuantity('1e999999999')), undefined);
  assert.equal(asInt64(parseQuantity('0e99')), 0n);
});

test('values are rounded up, and stop at 64 bits', () => {
  assert.equal(quantityValue(parseQuantity('1500m')), 2);
  assert.equal(quantityValue(parseQuantity('-1500m')), -2);
  assert.equal(milliValue(parseQuantity('1.0001')), 1001);
  assert.equal(milliValue(parseQuantity('250m')), 250);
  assert.equal(scaledValue(parseQuantity('3Ei'), 0), 3n * 2n ** 60n);
  assert.equal(scaledValue(parseQuantity('7Ei'), -3), 2n ** 63n - 1n);
  assert.equal(scaledValue(parseQuantity('-1e999999999'), 0), -(2n ** 63n));
});

test('rounding up to a scale leaves coarser quantities alone', () => {
  const rounded = (text: string, scale: number) => formatQuantity(roundUpQuantity(parseQuantity(text), scale));
  assert.equal(rounded('100u', -3), '1m');
  assert.equal(rounded('-100u', -3), '-1m');
  assert.equal(rounded('+1', -3), '+1');
  assert.equal(rounded('1100u', -3), '2m');
});

test('the approximate float equals that of Go', () => {
  assert.equal(asApproximateFloat(parseQuantity('1500m')), 1.5);
  assert.equal(asApproximateFloat(parseQuantity('1e400')), Number.POSITIVE_INFINITY);
  assert.equal(asApproximateFloat(parseQuantity('0.5Ki')), 512);
});

test('a number of a billion digits is never written out', () => {
  const huge = parseQuantity('1e999999999');
  assert.equal(compareQuantities(huge, quantityOf(1)), 1);
  assert.equal(compareQuantities(negateQuantity(huge), quantityOf(1)), -1);
  assert.equal(formatQuantity(addQuantities(huge, quantityOf(1))), '1e999999999');
  assert.equal(compareQuantities(subtractQuantities(quantityOf(1), huge), negateQuantity(huge)), 0);
  assert.equal(formatQuantity(addQuantities(parseQuantity('1Ki'), huge)), '1e999999999');
  assert.equal(formatQuantity(roundUpQuantity(addQuantities(huge, quantityOf(1)), -3)), '1e999999999');
});

const anyQuantity: fc.Arbitrary<Quantity> = fc
  .tuple(
    fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }),
    fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'Ki', 'Mi', 'Gi', 'Ti', 'e3', 'e-2'),
  )
  .map(([number, suffix]) => parseQuantity(`${number}${suffix}`));

test('a formatted quantity parses to the same value', () => {
  fc.assert(
    fc.property(anyQuantity, (quantity) => {
      const bare = negateQuantity(negateQuantity(quantity));
      const isTooLarge =
        compareQuantities(
          { ...bare, unscaled: bare.unscaled < 0 ? -bare.unscaled : bare.unscaled },
          quantityOf(1, 'DecimalSI', 21),
        ) >= 0;
      fc.pre(!isTooLarge);
      assert.equal(compareQuantities(parseQuantity(formatQuantity(bare)), bare), 0);
    }),
  );
});

test('adding and subtracting come back to where they began', () => {
  fc.assert(
    fc.property(anyQuantity, anyQuantity, (a, b) => {
      assert.equal(compareQuantities(subtractQuantities(addQuantities(a, b), b), a), 0);
    }),
  );
});

test('comparison is the sign of the difference', () => {
  fc.assert(
    fc.property(anyQuantity, anyQuantity, (a, b) => {
      assert.equal(compareQuantities(a, b), quantitySign(subtractQuantities(a, b)));
    }),
  );
});

test('a value beyond 64 bits wraps as in Go', () => {
  const cases: readonly (readonly [string, bigint])[] = [
    ['5', 5n],
    ['1500m', 2n],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['9223372036854775808', -(2n ** 63n)],
    ['-9223372036854775809', 2n ** 63n - 1n],
    // Held as a 64-bit integer with a scale, which gives 0 where it overflows.
    ['1e30', 0n],
    ['1e100', 0n],
    ['-1e20', 0n],
    // The family of binary suffixes is cut off at the largest.
    ['8Ei', 2n ** 63n - 1n],
  ];
  for (const [text, value] of cases) assert.equal(wrappedValue(parseQuantity(text)), value, text);
});
