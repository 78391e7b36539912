/**
 * Kubernetes timestamps. On the wire they are RFC 3339 texts with seconds in UTC (`metav1.Time`) or microseconds
 * (`metav1.MicroTime`); in memory they are an `Instant`.
 *
 * ```ts
 * formatTime(parseTime('2024-02-29T13:00:00+01:00')); // '2024-02-29T12:00:00Z'
 * ```
 */
import { quoteBytes } from './duration.ts';
import { ParseError } from './parse-error.ts';

/** A point in time: milliseconds since the Unix epoch, with a fraction for microseconds. */
export type Instant = number;

/** Go's zero time, which Kubernetes encodes as null: the start of the year 1. */
export const zeroInstant: Instant = -62_135_596_800_000;

const layouts = {
  seconds: '2006-01-02T15:04:05Z07:00',
  microseconds: '2006-01-02T15:04:05.000000Z07:00',
} as const;

type Precision = keyof typeof layouts;

// Fast path: nearly all timestamps were written by Kubernetes. February 29 takes the slow path.
const canonicalDate = /(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31/;
const canonicalSeconds = new RegExp(`^\\d{4}-(?:${canonicalDate.source})T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\dZ$`);

/** Parses a `metav1.Time` with any offset and fraction. Throws `ParseError` with the message of Go. */
export function parseTime(text: string): Instant {
  return canonicalSeconds.test(text) ? Date.parse(text) : toInstant(parse(text, 'seconds'));
}

/** Parses a `metav1.MicroTime` with exactly six fractional digits. Throws `ParseError` with the message of Go. */
export function parseMicroTime(text: string): Instant {
  return toInstant(parse(text, 'microseconds'));
}

// Cache of formatted seconds: thousands of objects contain the same timestamps, written within a few seconds.
const texts = new Map<number, string>();
const maxTexts = 64;

/** Formats the second of an instant: `2024-02-29T12:00:00Z`. */
export function formatTime(instant: Instant): string {
  const second = Math.floor(instant / 1000);
  const known = texts.get(second);
  if (known !== undefined) return known;
  // `join` returns a flat string. A concatenation with `+` is a rope, and a single rope makes V8 encode a whole object
  // as JSON on its slow path.
  const text = [formatSecond(second), 'Z'].join('');
  if (texts.size === maxTexts) texts.clear();
  texts.set(second, text);
  return text;
}

/** Formats an instant with microseconds: `2024-02-29T12:00:00.123456Z`. */
export function formatMicroTime(instant: Instant): string {
  const microseconds = Math.round(instant * 1000);
  const second = Math.floor(microseconds / 1e6);
  return `${formatSecond(second)}.${String(microseconds - second * 1e6).padStart(6, '0')}Z`;
}

/** Returns the stored form of a `metav1.Time`; null for the zero time. */
export function canonicalTime(text: string): string | null {
  if (canonicalSeconds.test(text) && !text.startsWith('0001-01-01')) return text;
  const parsed = parse(text, 'seconds');
  return isZero(parsed) ? null : `${formatSecond(parsed.second)}Z`;
}

/** Returns the stored form of a `metav1.MicroTime`; null for the zero time. */
export function canonicalMicroTime(text: string): string | null {
  const parsed = parse(text, 'microseconds');
  return isZero(parsed) ? null : `${formatSecond(parsed.second)}.${parsed.fraction}Z`;
}

/** A parsed timestamp: the Unix second and the fractional digits, which may exceed the precision of an instant. */
type Parsed = { readonly second: number; readonly fraction: string };

function toInstant({ second, fraction }: Parsed): Instant {
  return fraction === '' ? second * 1000 : second * 1000 + Number(`0.${fraction}`) * 1000;
}

function isZero({ second, fraction }: Parsed): boolean {
  return second * 1000 === zeroInstant && !/[1-9]/.test(fraction);
}

/** Returns the number of days of a month (1 to 12), including leap years. */
export function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** Returns the instant of a date and time in UTC. Unlike `Date.UTC`, it does not map the years 0 to 99 to 1900. */
export function instantOf(year: number, month: number, day: number, hour = 0, minute = 0, second = 0): Instant {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  return date.getTime();
}

function formatSecond(second: number): string {
  const date = new Date(second * 1000);
  const year = date.getUTCFullYear();
  // JavaScript formats years before 0 and after 9999 with six digits, Go with as many as necessary.
  const yearText = (year < 0 ? '-' : '') + String(Math.abs(year)).padStart(4, '0');
  return yearText + date.toISOString().slice(-20, -5);
}

/** Parses field by field along Go's layout, so that an error names the same field as Go does. */
function parse(text: string, precision: Precision): Parsed {
  const layout = layouts[precision];
  let position = 0;

  const fail = (element: string, at = position): never => {
    const rest = quoteBytes(text.slice(at));
    const what = `parsing time ${quoteBytes(text)} as ${quoteBytes(layout)}`;
    throw new ParseError(`${what}: cannot parse ${rest} as ${quoteBytes(element)}`);
  };
  const failWith = (reason: string): never => {
    throw new ParseError(`parsing time ${quoteBytes(text)}: ${reason}`);
  };
  const digits = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = position;
    const match = pattern.exec(text)?.[0];
    if (match !== undefined) position += match.length;
    return match;
  };
  const number = (pattern: RegExp, element: string): number => Number(digits(pattern) ?? fail(element));
  const literal = (character: string) => {
    if (text[position] !== character) fail(character);
    position++;
  };
  const inRange = (value: number, maximum: number, name: string, minimum = 0): number =>
    value < minimum || value > maximum ? failWith(`${name} out of range`) : value;

  const year = number(fourDigits, '2006');
  literal('-');
  const month = inRange(number(twoDigits, '01'), 12, 'month', 1);
  literal('-');
  const day = number(twoDigits, '02');
  literal('T');
  const hour = inRange(number(oneOrTwoDigits, '15'), 23, 'hour');
  literal(':');
  const minute = inRange(number(twoDigits, '04'), 59, 'minute');
  literal(':');
  const second = inRange(number(twoDigits, '05'), 59, 'second');
  const fraction =
    precision === 'seconds' ? (digits(anyFraction) ?? '') : (digits(sixDigitFraction) ?? fail('.000000'));
  const offsetMinutes = digits(utc) === undefined ? parseOffset() : 0;
  if (position < text.length) failWith(`extra text: ${quoteBytes(text.slice(position))}`);
  if (day < 1 || day > daysInMonth(year, month)) failWith('day out of range');

  const local = instantOf(year, month, day, hour, minute, second) / 1000;
  return { second: local - offsetMinutes * 60, fraction: fraction.slice(1, 10) };

  function parseOffset(): number {
    const start = position;
    const offset = digits(zoneOffset) ?? fail('Z07:00', start);
    const hours = Number(offset.slice(1, 3));
    const minutes = Number(offset.slice(4, 6));
    // Go allows the bounds themselves.
    if (minutes > 60) failWith('time zone offset minute out of range');
    if (hours > 24) failWith('time zone offset hour out of range');
    return (offset[0] === '-' ? -1 : 1) * (hours * 60 + minutes);
  }
}

const fourDigits = /[0-9]{4}/y;
const twoDigits = /[0-9]{2}/y;
const oneOrTwoDigits = /[0-9]{1,2}/y;
const anyFraction = /[.,][0-9]+/y;
const sixDigitFraction = /[.,][0-9]{6}/y;
const utc = /Z/y;
const zoneOffset = /[-+][0-9]{2}:[0-9]{2}/y;
