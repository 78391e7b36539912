/**
 * Durations in Go's format: `1h30m`, `1.5s`, `300ms`. They are bigints in nanoseconds, because 64-bit nanoseconds
 * exceed 2^53 after 104 days.
 */

import { ParseError } from './parse-error.ts';
import { trimTrailing } from './trim.ts';

/** A duration in nanoseconds. */
export type Nanoseconds = bigint;

const unitNanoseconds: ReadonlyMap<string, number> = new Map([
  ['ns', 1],
  ['us', 1e3],
  ['\u00b5s', 1e3],
  ['\u03bcs', 1e3],
  ['ms', 1e6],
  ['s', 1e9],
  ['m', 60e9],
  ['h', 3600e9],
]);

const term = /([0-9]*)(?:\.([0-9]*))?([^0-9.]*)/y;
const limit = 2n ** 63n;
// Longer than any useful duration. The parser is linear, but its error messages contain the text.
const maxLength = 4096;

/**
 * Parses a duration as Go's `time.ParseDuration` does: `parseDuration('1m30s')`. Throws `ParseError` with its message.
 */
export function parseDuration(text: string): Nanoseconds {
  const invalid = () => new ParseError(`time: invalid duration ${quoteBytes(text)}`);
  if (text.length > maxLength) throw invalid();
  const isNegative = text.startsWith('-');
  const unsigned = isNegative || text.startsWith('+') ? text.slice(1) : text;
  if (unsigned === '0') return 0n;
  if (unsigned === '') throw invalid();

  let total = 0n;
  for (term.lastIndex = 0; term.lastIndex < unsigned.length; ) {
    const [, whole = '', fraction = '', unit = ''] = term.exec(unsigned) ?? [];
    if (whole === '' && fraction === '') throw invalid();
    const count = BigInt(whole);
    if (count > limit) throw invalid();
    if (unit === '') throw new ParseError(`time: missing unit in duration ${quoteBytes(text)}`);
    const size = unitNanoseconds.get(unit);
    if (size === undefined) {
      throw new ParseError(`time: unknown unit ${quoteBytes(unit)} in duration ${quoteBytes(text)}`);
    }
    total += count * BigInt(size) + fractionNanoseconds(fraction, size);
    if (total > limit) throw invalid();
  }
  if (isNegative) return -total;
  if (total === limit) throw invalid();
  return total;
}

/** Computes in floating point, because Go does: this determines the value of `0.3h`. */
function fractionNanoseconds(fraction: string, size: number): Nanoseconds {
  let digits = 0n;
  let scale = 1;
  for (const digit of fraction) {
    const next = digits * 10n + BigInt(digit);
    if (digits > (limit - 1n) / 10n || next > limit) break;
    digits = next;
    scale *= 10;
  }
  return BigInt(Math.trunc(Number(digits) * (size / scale)));
}

/** Formats a duration as Go's `Duration.String` does: `1h30m0s`, `1.5s`, `0s`. */
export function formatDuration(duration: Nanoseconds): string {
  if (duration === 0n) return '0s';
  const sign = duration < 0n ? '-' : '';
  const total = duration < 0n ? -duration : duration;
  if (total < 1_000n) return `${sign}${total}ns`;
  if (total < 1_000_000n) return `${sign}${decimal(total, 3)}\u00b5s`;
  if (total < 1_000_000_000n) return `${sign}${decimal(total, 6)}ms`;
  const minutes = total / 60_000_000_000n;
  const seconds = `${decimal(total % 60_000_000_000n, 9)}s`;
  if (minutes === 0n) return sign + seconds;
  return minutes < 60n ? `${sign}${minutes}m${seconds}` : `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

function decimal(value: bigint, places: number): string {
  const digits = String(value).padStart(places + 1, '0');
  const fraction = trimTrailing(digits.slice(-places), '0');
  const whole = digits.slice(0, -places);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** Returns the stored form of a `metav1.Duration`: `90s` is `1m30s`. */
export function canonicalDuration(text: string): string {
  return formatDuration(parseDuration(text));
}

/** Converts a duration to milliseconds, with a fraction if necessary. */
export function toMilliseconds(duration: Nanoseconds): number {
  return Number(duration) / 1e6;
}

/** Converts milliseconds to a duration. */
export function fromMilliseconds(milliseconds: number): Nanoseconds {
  return BigInt(Math.round(milliseconds * 1e6));
}

const utf8 = new TextEncoder();

/** Quotes a text as Go's time package does: non-ASCII characters are escaped byte by byte. */
export function quoteBytes(text: string): string {
  const escaped = text
    .replace(/["\\]/g, '\\$&')
    .replace(/[^ -\x7f]/gu, (character) =>
      Array.from(utf8.encode(character), (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join(''),
    );
  return `"${escaped}"`;
}
