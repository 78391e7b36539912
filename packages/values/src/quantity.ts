/**
 * Kubernetes' fixed-point numbers: `500m`, `1.5Gi`, `12e6`.
 *
 * A quantity is `unscaled × 10^scale`, exact. Kubernetes keeps one either as a 64-bit integer with a scale or, when
 * that cannot hold it, as an unbounded decimal, and which of the two it is can be seen from outside (`asInt64`,
 * `scaledValue`), so `wide` records it. The integer is a JavaScript number whenever that is exact, and a bigint only
 * beyond: nearly every quantity in a cluster is small, and sums of them are on the scheduler's path.
 */
import { ParseError } from './parse-error.ts';
import { remembered } from './remembered.ts';

/** How a quantity is written: `Ki Mi Gi…`, `m k M G…`, or `e3`. */
export type QuantityFamily = 'BinarySI' | 'DecimalSI' | 'DecimalExponent';

type Integer = number | bigint;

/** An exact number that remembers the family of suffixes it was written with. Immutable. */
export type Quantity = {
  /** A number when that is exact, else a bigint. */
  readonly unscaled: Integer;
  /** The value is `unscaled × 10^scale`. */
  readonly scale: number;
  /** Whether Kubernetes would hold it as an unbounded decimal rather than as a 64-bit integer. */
  readonly wide: boolean;
  readonly family: QuantityFamily;
  /** The text it was parsed from, where Kubernetes prints that again instead of the canonical form. */
  readonly text?: string;
};

/** The power of ten of the suffix `n`, the finest there is. */
export const NANO = -9;
/** The power of ten of the suffix `u`. */
export const MICRO = -6;
/** The power of ten of the suffix `m`, which CPU is counted in. */
export const MILLI = -3;

const formatWrong = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const numberWrong = 'unable to parse numeric part of quantity';
const suffixWrong = "unable to parse quantity's suffix";

// The sign and every digit are optional in Kubernetes' scanner, whatever its error text says: `+`, `.` and `Ki` are 0.
// Two expressions, neither of which can backtrack, where one would try every way to share out the digits.
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

// A quantity is part of an object a stranger may send, and Kubernetes expands `1e999999999` digit by digit when it is
// added to 1. Nothing of use has more digits than this.
const maxDigits = 4096;

/** As long as anything that people write. */
const maxRememberedLength = 24;

const parsed = remembered(parse, { maxLength: maxRememberedLength });

/** Reads a quantity. Throws `ParseError` with Kubernetes' own text. */
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
  /** Without leading zeroes. */
  readonly whole: string;
  readonly fraction: string;
  readonly isEmpty: boolean;
};

function parseExponent(suffix: string): number {
  const digits = exponentSuffix.exec(suffix)?.[1];
  const exponent = digits === undefined ? undefined : BigInt(digits.replace('+', ''));
  if (exponent === undefined || !isInt64(exponent)) throw new ParseError(suffixWrong);
  // The reference narrows the exponent to 32 bits without a check, so that e4294967297 is e1.
  return Number(BigInt.asIntN(32, exponent));
}

function parseDecimal(text: string, number: NumberText, exponent: number, family: QuantityFamily): Quantity {
  const digits = number.whole + number.fraction;
  const scale = (exponent - number.fraction.length) | 0;
  if (digits.length > 18 || scale < NANO) return parseWide(number, { binary: 0, decimal: exponent }, family);
  const unscaled = withSign(number, integerOf(digits));
  // Kubernetes takes these for canonical already, `1.234`, `+5` and `0012` included, and prints them as they came.
  const isKept = scale % 3 === 0 && !digits.endsWith('000') && digits[0] !== '0';
  return isKept ? { unscaled, scale, wide: false, family, text } : { unscaled, scale, wide: false, family };
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

/** What 64 bits cannot surely hold, or is finer than a billionth. */
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

  const nanos = BigInt(atScale(magnitude, scale, NANO));
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

/** The nothing that takes the family of whatever is added to it. */
export const zeroQuantity: Quantity = { unscaled: 0, scale: 0, wide: false, family: 'DecimalSI' };

/** The quantity `value × 10^scale`. */
export function quantityOf(value: number | bigint, family: QuantityFamily = 'DecimalSI', scale = 0): Quantity {
  const unscaled = normal(BigInt(value));
  return { unscaled, scale, wide: !isInt64(unscaled), family };
}

/** Whether `parseQuantity` would read it. */
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
 * The text Kubernetes writes: the same family as parsed, the largest suffix that leaves a whole number. Where the
 * family has no suffix that large (beyond `E` or `Ei`) the reference leaves it out, and so does this.
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
  const [mantissa, times] = withoutFactors(atScale(unscaled, scale, 0), 1024);
  return `${mantissa}${binarySuffixes[times] ?? ''}`;
}

/** Binary suffixes are for whole numbers from 1024 on; the rest would be rounded, or look odd. */
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

const canonical = remembered((text) => formatQuantity(parseQuantity(text.trim())), { maxLength: maxRememberedLength });

/** What a quantity reads back as after being stored: `0.5` is `500m`. Ignores space around it, as decoding does. */
export function canonicalQuantity(value: string | number): string {
  return canonical(typeof value === 'string' ? value : String(value));
}

/**
 * The sum, in the family of the first unless that is zero. It is exact, unless one part has thousands of digits more
 * than the other: then it is that part.
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
  const a = atScale(first.unscaled, first.scale, scale);
  const b = atScale(second.unscaled, second.scale, scale);
  const unscaled = sum(a, b);
  const fits = isNarrow && isInt64(a) && isInt64(b) && isInt64(unscaled);
  return { unscaled, scale, wide: !fits, family };
}

/** The difference, in the family of the first unless that is zero. */
export function subtractQuantities(first: Quantity, second: Quantity): Quantity {
  return addQuantities(first, negateQuantity(second));
}

/** The same distance on the other side of zero. */
export function negateQuantity({ unscaled, scale, wide, family }: Quantity): Quantity {
  return { unscaled: negated(unscaled), scale, wide, family };
}

/** Negative, zero or positive as the first is less than, equal to or greater than the second. */
export function compareQuantities(first: Quantity, second: Quantity): -1 | 0 | 1 {
  const sign = quantitySign(first);
  const difference = sign - quantitySign(second);
  if (difference !== 0) return difference < 0 ? -1 : 1;
  if (sign === 0) return 0;
  if (first.scale === second.scale) return order(first.unscaled, second.unscaled);

  // By length first, so that no one can make us write out 1e999999999.
  const lengths = decimalLength(first) - decimalLength(second);
  if (lengths !== 0) return lengths * sign < 0 ? -1 : 1;
  const scale = Math.min(first.scale, second.scale);
  return order(atScale(first.unscaled, first.scale, scale), atScale(second.unscaled, second.scale, scale));
}

/** -1, 0 or 1. */
export function quantitySign({ unscaled }: Quantity): -1 | 0 | 1 {
  return order(unscaled, 0);
}

/**
 * The value as a 64-bit integer, if Kubernetes holds it as one. `1000m` is not, for all that it equals 1: what was
 * written with a fraction stays with one.
 */
export function asInt64({ unscaled, scale, wide }: Quantity): bigint | undefined {
  if (wide || scale < 0) return undefined;
  if (unscaled === 0) return 0n;
  if (scale > 18) return undefined;
  const value = BigInt(atScale(unscaled, scale, 0));
  return isInt64(value) ? value : undefined;
}

/** Whether `asInt64` has an answer. */
export function isIntegerQuantity(quantity: Quantity): boolean {
  return asInt64(quantity) !== undefined;
}

/** The nearest float or one beside it; infinite beyond their range. */
export function asApproximateFloat({ unscaled, scale }: Quantity): number {
  return scale === 0 ? Number(unscaled) : Number(unscaled) * powerOfTenAsGo(scale);
}

// Go multiplies two table entries, which for some powers is not the float nearest to the power.
function powerOfTenAsGo(power: number): number {
  if (power > 308) return Number.POSITIVE_INFINITY;
  if (power < -323) return 0;
  const magnitude = Math.abs(power);
  const low = Number(`1e${magnitude % 32}`);
  const high = magnitude - (magnitude % 32);
  return power < 0 ? Number(`1e-${high}`) / low : Number(`1e${high}`) * low;
}

/**
 * How many `10^scale` it makes, rounded up. Beyond 64 bits it is the largest of them: the reference gives the low bits
 * or 0 there, which no caller can use.
 */
export function scaledValue(quantity: Quantity, scale: number): bigint {
  const { unscaled, wide } = quantity;
  if (quantity.scale - scale > maxDigits) return unscaled === 0 ? 0n : unscaled > 0 ? maxInt64 : minInt64;
  if (!wide || unscaled > 0 || quantity.scale >= scale) {
    return saturated(BigInt(atScale(unscaled, quantity.scale, scale)));
  }
  // Kubernetes rounds a negative decimal towards zero, and then one up.
  const divisor = 10n ** BigInt(scale - quantity.scale);
  const quotient = BigInt(unscaled) / divisor;
  return saturated(quotient * divisor === BigInt(unscaled) ? quotient : quotient + 1n);
}

function saturated(value: bigint): bigint {
  return value > maxInt64 ? maxInt64 : value < minInt64 ? minInt64 : value;
}

/**
 * Returns the value rounded up, in Kubernetes' 64-bit arithmetic: beyond the range a decimal keeps its low bits, which
 * may change its sign, and a scaled integer is 0. Only for rules of validation, whose results users see.
 */
export function wrappedValue(quantity: Quantity): bigint {
  const { unscaled, scale, wide } = quantity;
  if (scale > maxDigits || unscaled === 0) return 0n;
  if (!wide) {
    const value = BigInt(atScale(unscaled, scale, 0));
    return isInt64(value) ? value : 0n;
  }
  const saturatedValue = scaledValue(quantity, 0);
  const isInRange = saturatedValue < maxInt64 && saturatedValue > minInt64;
  return isInRange ? saturatedValue : BigInt.asIntN(64, BigInt(atScale(unscaled, scale, 0)));
}

/** The whole number at or above it. Exact up to 2^53, far beyond any machine's memory in bytes. */
export function quantityValue(quantity: Quantity): number {
  if (quantity.scale === 0 && typeof quantity.unscaled === 'number') return quantity.unscaled;
  return Number(scaledValue(quantity, 0));
}

/** The number of thousandths at or above it: the unit CPU is counted in. */
export function milliValue(quantity: Quantity): number {
  if (quantity.scale === MILLI && typeof quantity.unscaled === 'number') return quantity.unscaled;
  return Number(scaledValue(quantity, MILLI));
}

/** The nearest multiple of `10^scale` away from zero; what is a multiple already stays as it is. */
export function roundUpQuantity(quantity: Quantity, scale: number): Quantity {
  if (quantity.scale >= scale) return quantity;
  const unscaled = atScale(quantity.unscaled, quantity.scale, scale);
  return { unscaled, scale, wide: quantity.wide, family: quantity.family };
}

/** `value × 10^from` counted in `10^to`, rounded away from zero. */
function atScale(value: Integer, from: number, to: number): Integer {
  if (from >= to || value === 0) return timesPowerOfTen(value, from - to);
  const power = to - from;
  // Fewer digits than are to be cut off: nothing is left but the rounding.
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
  return value < 0 ? negated(value) : value;
}

// From zero, so that there is no negative zero.
function negated(value: Integer): Integer {
  return typeof value === 'number' ? 0 - value : -value;
}

function withSign({ sign }: NumberText, magnitude: Integer): Integer {
  return sign === '-' ? negated(magnitude) : magnitude;
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
