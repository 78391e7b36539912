/**
 * Kubernetes' fixed-point numbers: `500m`, `1.5Gi`, `12e6`.
 *
 * A quantity is `unscaled × 10^scale`, exact. Kubernetes stores a quantity either as a 64-bit integer with a scale or,
 * if that is too small, as an unbounded decimal. The difference is visible (`asInt64`, `scaledValue`), so `wide`
 * records it. The integer is a JavaScript number if that is exact, otherwise a bigint: nearly all quantities in a
 * cluster are small, and the scheduler adds many of them.
 *
 * ```ts
 * formatQuantity(addQuantities(parseQuantity('500m'), parseQuantity('1'))); // '1500m'
 * ```
 */

import { memoize } from './memoize.ts';
import { ParseError } from './parse-error.ts';

/** Format of a quantity: `Ki Mi Gi…`, `m k M G…`, or `e3`. */
export type QuantityFamily = 'BinarySI' | 'DecimalSI' | 'DecimalExponent';

type Integer = number | bigint;

/** An exact, immutable number with the format of its suffix. */
export type Quantity = {
  /** A number if that is exact, otherwise a bigint. */
  readonly unscaled: Integer;
  /** The value is `unscaled × 10^scale`. */
  readonly scale: number;
  /** Set if Kubernetes stores the value as an unbounded decimal instead of a 64-bit integer. */
  readonly wide: boolean;
  readonly family: QuantityFamily;
  /** Original text, if Kubernetes prints it instead of the canonical form. */
  readonly text?: string;
};

/** Power of ten of the suffix `n`, the smallest suffix. */
export const NANO = -9;
/** Power of ten of the suffix `u`. */
export const MICRO = -6;
/** Power of ten of the suffix `m`, the unit of CPU. */
export const MILLI = -3;

const formatWrong = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const numberWrong = 'unable to parse numeric part of quantity';
const suffixWrong = "unable to parse quantity's suffix";

// In the scanner of Kubernetes the sign and all digits are optional, despite its error message: `+`, `.` and `Ki` are
// 0. There are two expressions without backtracking; a single one would try every split of the digits.
const numberPart = /^([+-]?)(0*)([0-9]*)(\.?)([0-9]*)/;
const suffixPart = /^[eEinumkKMGTP]*[-+]?[0-9]*$/;
const exponentSuffix = /^[eE]([-+]?[0-9]+)$/;

const decimalExponents: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);
const decimalSuffixes = new Map([...decimalExponents].map(([suffix, exponent]) => [exponent, suffix]));
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const binaryExponents = new Map(binarySuffixes.slice(1).map((suffix, index) => [suffix, (index + 1) * 10]));

const maxInt64 = 2n ** 63n - 1n;
const minInt64 = -(2n ** 63n);

// Limits the work for quantities from untrusted clients: Kubernetes expands `1e999999999` digit by digit when it is
// added to 1.
const maxDigits = 4096;

/** Longer texts are not cached. */
const maxCachedLength = 24;

const parsed = memoize(parse, { maxLength: maxCachedLength });

/** Parses a quantity. Throws `ParseError` with the message of Kubernetes. */
export function parseQuantity(value: string | number | bigint): Quantity {
  const text = typeof value === 'string' ? value : String(value);
  return text === '0' ? zeroQuantity : parsed(text);
}

function parse(text: string): Quantity {
  if (text.length > maxDigits) throw new ParseError(numberWrong);
  const match = numberPart.exec(text);
  const suffix = text.slice(match?.[0].length);
  if (!match || text === '' || !suffixPart.test(suffix)) throw new ParseError(formatWrong);
  const [, sign = '', zeroes = '', digits = '', , fraction = ''] = match;
  const number = { sign, whole: digits || '0', fraction, isEmpty: zeroes === '' && digits === '' && fraction === '' };

  const decimal = decimalExponents.get(suffix);
  if (decimal !== undefined) return parseDecimal(text, number, decimal, 'DecimalSI');
  const binary = binaryExponents.get(suffix);
  if (binary !== undefined) return parseBinary(text, number, binary);
  return parseDecimal(text, number, parseExponent(suffix), 'DecimalExponent');
}

type NumberText = {
  readonly sign: string;
  /** Digits before the point, without leading zeros. */
  readonly whole: string;
  readonly fraction: string;
  readonly isEmpty: boolean;
};

function parseExponent(suffix: string): number {
  const digits = exponentSuffix.exec(suffix)?.[1];
  const exponent = digits === undefined ? undefined : BigInt(digits.replace('+', ''));
  if (exponent === undefined || !isInt64(exponent)) throw new ParseError(suffixWrong);
  // Kubernetes truncates the exponent to 32 bits without a check, so e4294967297 is e1.
  return Number(BigInt.asIntN(32, exponent));
}

function parseDecimal(text: string, number: NumberText, exponent: number, family: QuantityFamily): Quantity {
  const digits = number.whole + number.fraction;
  const scale = (exponent - number.fraction.length) | 0;
  if (digits.length > 18 || scale < NANO) return parseWide(number, { binary: 0, decimal: exponent }, family);
  const unscaled = withSign(number, integerOf(digits));
  // Kubernetes treats these as canonical, including `1.234`, `+5` and `0012`, and prints them unchanged.
  const keepsText = scale % 3 === 0 && !digits.endsWith('000') && digits[0] !== '0';
  return keepsText ? { unscaled, scale, wide: false, family, text } : { unscaled, scale, wide: false, family };
}

function parseBinary(text: string, number: NumberText, exponent: number): Quantity {
  const family = 'BinarySI';
  if (number.fraction !== '' || number.whole.length + (exponent * 3) / 10 > 14) {
    return parseWide(number, { binary: exponent, decimal: 0 }, family);
  }
  const mantissa = Number(number.whole);
  const unscaled = withSign(number, normal(BigInt(mantissa) << BigInt(exponent)));
  return mantissa % 8 === 0
    ? { unscaled, scale: 0, wide: false, family }
    : { unscaled, scale: 0, wide: false, family, text };
}

/** Parses values that may exceed 64 bits or are finer than a billionth. */
function parseWide(
  number: NumberText,
  exponent: { readonly binary: number; readonly decimal: number },
  family: QuantityFamily,
): Quantity {
  if (number.isEmpty) throw new ParseError(numberWrong);
  const magnitude = BigInt(number.whole + number.fraction) << BigInt(exponent.binary);
  const scale = (exponent.decimal - number.fraction.length) | 0;
  if (magnitude === 0n) return { unscaled: 0, scale, wide: true, family };
  if (scale > maxDigits) throw new ParseError(numberWrong);

  const nanos = BigInt(rescale(magnitude, scale, NANO));
  if (family === 'BinarySI' && nanos > maxInt64 * 10n ** 9n) {
    return { unscaled: withSign(number, maxInt64), scale: 0, wide: true, family };
  }
  const isFraction = nanos < 10n ** 9n;
  return {
    unscaled: withSign(number, normal(nanos)),
    scale: NANO,
    wide: true,
    family: family === 'BinarySI' && isFraction ? 'DecimalSI' : family,
  };
}

const kibi: Quantity = { unscaled: 1024, scale: 0, wide: false, family: 'BinarySI' };

/** Zero; in a sum it takes the format of the other operand. */
export const zeroQuantity: Quantity = { unscaled: 0, scale: 0, wide: false, family: 'DecimalSI' };

/** Returns the quantity `value × 10^scale`. */
export function quantityOf(value: number | bigint, family: QuantityFamily = 'DecimalSI', scale = 0): Quantity {
  const unscaled = normal(BigInt(value));
  return { unscaled, scale, wide: !isInt64(unscaled), family };
}

/** Reports whether `parseQuantity` accepts the text. */
export function isQuantity(text: string): boolean {
  try {
    parseQuantity(text);
    return true;
  } catch (error) {
    if (error instanceof ParseError) return false;
    throw error;
  }
}

/**
 * Formats a quantity as Kubernetes does: in its format, with the largest suffix that leaves an integer. If the format
 * has no suffix that large (beyond `E` or `Ei`), Kubernetes omits the suffix, and so does this function.
 */
export function formatQuantity(quantity: Quantity): string {
  if (quantity.text !== undefined) return quantity.text;
  if (quantity.unscaled === 0) return '0';
  return quantity.family === 'BinarySI' ? formatBinary(quantity) : formatDecimal(quantity);
}

function formatBinary(quantity: Quantity): string {
  const { unscaled, scale } = quantity;
  if (!isBinaryExact(quantity)) {
    return formatDecimal({ ...quantity, family: scale > maxDigits ? 'DecimalExponent' : 'DecimalSI' });
  }
  const [mantissa, times] = withoutFactors(rescale(unscaled, scale, 0), 1024);
  return `${mantissa}${binarySuffixes[times] ?? ''}`;
}

/** Binary suffixes are used only for integers from 1024 on; other values would be rounded. */
function isBinaryExact(quantity: Quantity): boolean {
  const magnitude = { ...quantity, unscaled: absolute(quantity.unscaled) };
  if (compareQuantities(magnitude, kibi) < 0) return false;
  if (quantity.scale >= 0) return quantity.scale <= maxDigits;
  const [, times] = withoutFactors(quantity.unscaled, 10);
  return times >= -quantity.scale;
}

function formatDecimal({ unscaled, scale, family }: Quantity): string {
  const [mantissa, times] = withoutFactors(unscaled, 10);
  const exponent = (scale + times) | 0;
  const excess = ((exponent % 3) + 3) % 3;
  const suffix = (exponent - excess) | 0;
  const number = timesPowerOfTen(mantissa, excess);
  if (family === 'DecimalExponent') return suffix === 0 ? `${number}` : `${number}e${suffix}`;
  return `${number}${decimalSuffixes.get(suffix) ?? ''}`;
}

const canonical = memoize((text) => formatQuantity(parseQuantity(text.trim())), { maxLength: maxCachedLength });

/** Returns the stored form of a quantity: `0.5` is `500m`. Surrounding space is ignored, as in decoding. */
export function canonicalQuantity(value: string | number): string {
  return canonical(typeof value === 'string' ? value : String(value));
}

/**
 * Returns the sum in the format of the first operand, unless that is zero. The sum is exact, unless one operand has
 * thousands of digits more than the other; then the result is the larger operand.
 */
export function addQuantities(first: Quantity, second: Quantity): Quantity {
  const family = first.unscaled === 0 ? second.family : first.family;
  const isNarrow = !first.wide && !second.wide;
  if (isNarrow && second.unscaled === 0) return { unscaled: first.unscaled, scale: first.scale, wide: false, family };
  if (isNarrow && first.unscaled === 0) return { unscaled: second.unscaled, scale: second.scale, wide: false, family };

  const lead = decimalLength(first) - decimalLength(second);
  if (first.unscaled !== 0 && second.unscaled !== 0 && Math.abs(lead) > maxDigits) {
    const { unscaled, scale } = lead > 0 ? first : second;
    return { unscaled, scale, wide: true, family };
  }
  const scale = Math.min(first.scale, second.scale);
  const a = rescale(first.unscaled, first.scale, scale);
  const b = rescale(second.unscaled, second.scale, scale);
  const unscaled = sum(a, b);
  const fits = isNarrow && isInt64(a) && isInt64(b) && isInt64(unscaled);
  return { unscaled, scale, wide: !fits, family };
}

/** Returns the difference in the format of the first operand, unless that is zero. */
export function subtractQuantities(first: Quantity, second: Quantity): Quantity {
  return addQuantities(first, negateQuantity(second));
}

/** Returns the negated quantity. */
export function negateQuantity({ unscaled, scale, wide, family }: Quantity): Quantity {
  return { unscaled: negate(unscaled), scale, wide, family };
}

/** Compares two quantities: -1, 0 or 1. */
export function compareQuantities(first: Quantity, second: Quantity): -1 | 0 | 1 {
  const sign = quantitySign(first);
  const difference = sign - quantitySign(second);
  if (difference !== 0) return difference < 0 ? -1 : 1;
  if (sign === 0) return 0;
  if (first.scale === second.scale) return order(first.unscaled, second.unscaled);

  // Compares the lengths first, so that `1e999999999` is not expanded.
  const lengths = decimalLength(first) - decimalLength(second);
  if (lengths !== 0) return lengths * sign < 0 ? -1 : 1;
  const scale = Math.min(first.scale, second.scale);
  return order(rescale(first.unscaled, first.scale, scale), rescale(second.unscaled, second.scale, scale));
}

/** Returns the sign: -1, 0 or 1. */
export function quantitySign({ unscaled }: Quantity): -1 | 0 | 1 {
  return order(unscaled, 0);
}

/**
 * Returns the value as a 64-bit integer, if Kubernetes stores it as one. `1000m` is not, although it equals 1: a value
 * with a fractional scale keeps it.
 */
export function asInt64({ unscaled, scale, wide }: Quantity): bigint | undefined {
  if (wide || scale < 0) return undefined;
  if (unscaled === 0) return 0n;
  if (scale > 18) return undefined;
  const value = BigInt(rescale(unscaled, scale, 0));
  return isInt64(value) ? value : undefined;
}

/** Reports whether `asInt64` returns a value. */
export function isIntegerQuantity(quantity: Quantity): boolean {
  return asInt64(quantity) !== undefined;
}

/** Returns the nearest float or a neighbor of it; infinite beyond the range of floats. */
export function asApproximateFloat({ unscaled, scale }: Quantity): number {
  return scale === 0 ? Number(unscaled) : Number(unscaled) * powerOfTenAsGo(scale);
}

// Go multiplies two table entries, which for some powers is not the nearest float.
function powerOfTenAsGo(power: number): number {
  if (power > 308) return Number.POSITIVE_INFINITY;
  if (power < -323) return 0;
  const magnitude = Math.abs(power);
  const low = Number(`1e${magnitude % 32}`);
  const high = magnitude - (magnitude % 32);
  return power < 0 ? Number(`1e-${high}`) / low : Number(`1e${high}`) * low;
}

/**
 * Returns the value in units of `10^scale`, rounded up. Beyond 64 bits the result is the largest 64-bit integer;
 * Kubernetes returns the low bits or 0 there, which are useless to callers.
 */
export function scaledValue(quantity: Quantity, scale: number): bigint {
  const { unscaled, wide } = quantity;
  if (quantity.scale - scale > maxDigits) return unscaled === 0 ? 0n : unscaled > 0 ? maxInt64 : minInt64;
  if (!wide || unscaled > 0 || quantity.scale >= scale) {
    return saturated(BigInt(rescale(unscaled, quantity.scale, scale)));
  }
  // Kubernetes rounds a negative decimal towards zero and then adds one.
  const divisor = 10n ** BigInt(scale - quantity.scale);
  const quotient = BigInt(unscaled) / divisor;
  return saturated(quotient * divisor === BigInt(unscaled) ? quotient : quotient + 1n);
}

function saturated(value: bigint): bigint {
  return value > maxInt64 ? maxInt64 : value < minInt64 ? minInt64 : value;
}

/**
 * Returns the value rounded up, in Kubernetes' 64-bit arithmetic: beyond the range a decimal keeps its low bits, which
 * may change its sign, and a scaled integer is 0. Use it only for validation rules, whose results users see.
 */
export function wrappedValue(quantity: Quantity): bigint {
  const { unscaled, scale, wide } = quantity;
  if (scale > maxDigits || unscaled === 0) return 0n;
  if (!wide) {
    const value = BigInt(rescale(unscaled, scale, 0));
    return isInt64(value) ? value : 0n;
  }
  const saturatedValue = scaledValue(quantity, 0);
  const isInRange = saturatedValue < maxInt64 && saturatedValue > minInt64;
  return isInRange ? saturatedValue : BigInt.asIntN(64, BigInt(rescale(unscaled, scale, 0)));
}

/** Returns the value rounded up to an integer. Exact up to 2^53, which exceeds the memory of any machine in bytes. */
export function quantityValue(quantity: Quantity): number {
  if (quantity.scale === 0 && typeof quantity.unscaled === 'number') return quantity.unscaled;
  return Number(scaledValue(quantity, 0));
}

/** Returns the value in thousandths, rounded up: the unit of CPU. */
export function milliValue(quantity: Quantity): number {
  if (quantity.scale === MILLI && typeof quantity.unscaled === 'number') return quantity.unscaled;
  return Number(scaledValue(quantity, MILLI));
}

/** Rounds away from zero to a multiple of `10^scale`; multiples stay unchanged. */
export function roundUpQuantity(quantity: Quantity, scale: number): Quantity {
  if (quantity.scale >= scale) return quantity;
  const unscaled = rescale(quantity.unscaled, quantity.scale, scale);
  return { unscaled, scale, wide: quantity.wide, family: quantity.family };
}

/** Converts `value × 10^from` to units of `10^to`, rounded away from zero. */
function rescale(value: Integer, from: number, to: number): Integer {
  if (from >= to || value === 0) return timesPowerOfTen(value, from - to);
  const power = to - from;
  // All digits are cut off; only the rounding remains.
  if (power > maxDigits * 2) return value > 0 ? 1 : -1;
  if (typeof value === 'number' && power <= 15) {
    const divisor = 10 ** power;
    const rest = value % divisor;
    return (value - rest) / divisor + Math.sign(rest) + 0;
  }
  const divisor = 10n ** BigInt(power);
  const quotient = BigInt(value) / divisor;
  const rest = BigInt(value) % divisor;
  return normal(rest === 0n ? quotient : quotient + (rest > 0n ? 1n : -1n));
}

function timesPowerOfTen(value: Integer, power: number): Integer {
  if (power === 0 || value === 0) return value;
  if (typeof value === 'number' && power <= 15) {
    const product = value * 10 ** power;
    if (Number.isSafeInteger(product)) return product;
  }
  if (power > maxDigits * 2) throw new RangeError('quantity is too large to be calculated with');
  return normal(BigInt(value) * 10n ** BigInt(power));
}

function withoutFactors(value: Integer, factor: number): readonly [Integer, number] {
  let times = 0;
  if (typeof value === 'bigint') {
    const divisor = BigInt(factor);
    while (typeof value === 'bigint' && value % divisor === 0n) {
      value = normal(value / divisor);
      times++;
    }
  }
  if (typeof value === 'number') {
    while (value !== 0 && value % factor === 0) {
      value /= factor;
      times++;
    }
  }
  return [value, times];
}

function decimalLength({ unscaled, scale }: Quantity): number {
  return String(absolute(unscaled)).length + scale;
}

function sum(a: Integer, b: Integer): Integer {
  if (typeof a === 'number' && typeof b === 'number') {
    const result = a + b;
    if (Number.isSafeInteger(result)) return result;
  }
  return normal(BigInt(a) + BigInt(b));
}

function order(a: Integer, b: Integer): -1 | 0 | 1 {
  return a < b ? -1 : a > b ? 1 : 0;
}

function absolute(value: Integer): Integer {
  return value < 0 ? negate(value) : value;
}

// Subtracts from zero to avoid a negative zero.
function negate(value: Integer): Integer {
  return typeof value === 'number' ? 0 - value : -value;
}

function withSign({ sign }: NumberText, magnitude: Integer): Integer {
  return sign === '-' ? negate(magnitude) : magnitude;
}

function integerOf(digits: string): Integer {
  return digits.length <= 15 ? Number(digits) : normal(BigInt(digits));
}

function normal(value: bigint): Integer {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

function isInt64(value: Integer): boolean {
  return value >= minInt64 && value <= maxInt64;
}
