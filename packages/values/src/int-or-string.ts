/** Kubernetes' `IntOrString`: on the wire a JSON number or a JSON string, and no more than that in memory. */
import { parseInteger } from './go-integer.ts';
import { quote } from './go-syntax.ts';
import { ParseError } from './parse-error.ts';

/** A count such as `3`, or a text such as `"25%"` or the name of a port. */
export type IntOrString = number | string;

/** A count, or the percentage of `total` rounded up. Throws `ParseError` with Kubernetes' text. */
export function scaleUp(value: IntOrString, total: number): number {
  return scale(value, total, Math.ceil);
}

/** A count, or the percentage of `total` rounded down. Throws `ParseError` with Kubernetes' text. */
export function scaleDown(value: IntOrString, total: number): number {
  return scale(value, total, Math.floor);
}

function scale(value: IntOrString, total: number, round: (value: number) => number): number {
  if (typeof value === 'number') return value;
  if (!value.endsWith('%')) {
    throw new ParseError('invalid value for IntOrString: invalid type: string is not a percentage');
  }
  // Zero added, so that a negative percentage never gives a negative zero.
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

/** Whether the value is a text that ends in a percent sign. */
export function isPercentage(value: IntOrString): value is string {
  return typeof value === 'string' && value.endsWith('%');
}

/** The number, or the number the text is, or 0. What is beyond 64 bits is taken for their limit. */
export function intValue(value: IntOrString): number {
  if (typeof value === 'number') return value;
  if (!integer.test(value)) return 0;
  return Math.min(Math.max(Number(value), -(2 ** 63)), 2 ** 63) + 0;
}

/** A number where the text is a 32-bit integer, the text itself otherwise. */
export function parseIntOrString(text: string): IntOrString {
  if (!integer.test(text)) return text;
  const value = Number(text);
  return value >= -(2 ** 31) && value < 2 ** 31 ? value + 0 : text;
}

const integer = /^[-+]?[0-9]+$/;
