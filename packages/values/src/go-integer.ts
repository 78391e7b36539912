/** Integer parsing as Go's `strconv.Atoi`. */
import { quote } from './go-syntax.ts';
import { ParseError } from './parse-error.ts';

const integer = /^[-+]?[0-9]+$/;
// 64 bits have at most 19 digits; longer texts have leading zeros.
const maxLength = 1000;

/** Parses a 64-bit integer. Throws `ParseError` with the message of Go. */
export function parseInteger(text: string): bigint {
  if (!integer.test(text)) throw new ParseError(`strconv.Atoi: parsing ${quote(text)}: invalid syntax`);
  const value = text.length > maxLength ? undefined : BigInt(text.startsWith('+') ? text.slice(1) : text);
  if (value === undefined || BigInt.asIntN(64, value) !== value) {
    throw new ParseError(`strconv.Atoi: parsing ${quote(text)}: value out of range`);
  }
  return value;
}

/** Parses a 64-bit integer; returns undefined if the text is invalid. */
export function tryParseInteger(text: string): bigint | undefined {
  // Fast path: short texts are exact as numbers.
  if (text.length <= 15) return integer.test(text) ? BigInt(Number(text)) : undefined;
  try {
    return parseInteger(text);
  } catch (error) {
    if (error instanceof ParseError) return undefined;
    throw error;
  }
}
