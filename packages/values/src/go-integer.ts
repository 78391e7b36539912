/** Integers in text, as Go's `strconv.Atoi` reads them. */
import { quote } from './go-syntax.ts';
import { ParseError } from './parse-error.ts';

const integer = /^[-+]?[0-9]+$/;
// Sixty-four bits are nineteen digits; the rest can only be leading zeroes.
const maxLength = 1000;

/** Reads a 64-bit integer. Throws `ParseError` with Go's text. */
export function parseInteger(text: string): bigint {
  if (!integer.test(text)) throw new ParseError(`strconv.Atoi: parsing ${quote(text)}: invalid syntax`);
  const value = text.length > maxLength ? undefined : BigInt(text.startsWith('+') ? text.slice(1) : text);
  if (value === undefined || BigInt.asIntN(64, value) !== value) {
    throw new ParseError(`strconv.Atoi: parsing ${quote(text)}: value out of range`);
  }
  return value;
}

/** The same, or undefined where it throws. */
export function tryParseInteger(text: string): bigint | undefined {
  // The common case first: short, and exact as a number.
  if (text.length <= 15) return integer.test(text) ? BigInt(Number(text)) : undefined;
  try {
    return parseInteger(text);
  } catch (error) {
    if (error instanceof ParseError) return undefined;
    throw error;
  }
}
