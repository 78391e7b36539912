/** Kubernetes' `IntOrString`: a JSON number or a JSON string, in memory as on the wire. */
import { parseInteger } from './go-integer.ts';
import { quote } from './go-syntax.ts';
import { ParseError } from './parse-error.ts';

/** An integer such as `3`, or a string such as `"25%"` or the name of a port. */
export type IntOrString = number | string;

/**
 * Returns the integer, or the percentage of `total` rounded up: `scaleUp('25%', 10)` is 3. Throws `ParseError` with the
 * message of Kubernetes.
 */
export function scaleUp(value: IntOrString, total: number): number {
  return scale(value, total, Math.ceil);
}

/**
 * Returns the integer, or the percentage of `total` rounded down: `scaleDown('25%', 10)` is 2. Throws `ParseError` with
 * the message of Kubernetes.
 */
export function scaleDown(value: IntOrString, total: number): number {
  return scale(value, total, Math.floor);
}

function scale(value: IntOrString, total: number, round: (value: number) => number): number {
  if (typeof value === 'number') return value;
  if (!value.endsWith('%')) {
    throw new ParseError('invalid value for IntOrString: invalid type: string is not a percentage');
  }
  // Adding zero converts the negative zero of a negative percentage.
  return round((Number(percentOf(value)) * total) / 100) + 0;
}

function percentOf(value: string): bigint {
  try {
    return parseInteger(value.slice(0, -1));
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw new ParseError(`invalid value for IntOrString: invalid value ${quote(value)}: ${error.message}`);
  }
}

/** Reports whether the value is a string that ends with a percent sign. */
export function isPercentage(value: IntOrString): value is string {
  return typeof value === 'string' && value.endsWith('%');
}

/** Returns the integer value of a number or string; 0 if it is not an integer. Values beyond 64 bits are clamped. */
export function intValue(value: IntOrString): number {
  if (typeof value === 'number') return value;
  if (!integer.test(value)) return 0;
  return Math.min(Math.max(Number(value), -(2 ** 63)), 2 ** 63) + 0;
}

/** Returns a number if the text is a 32-bit integer, otherwise the text. */
export function parseIntOrString(text: string): IntOrString {
  if (!integer.test(text)) return text;
  const value = Number(text);
  return value >= -(2 ** 31) && value < 2 ** 31 ? value + 0 : text;
}

const integer = /^[-+]?[0-9]+$/;
