/** Timestamps and durations with nanosecond precision, with the text forms and time zones of Go's `time` package. */

import { parseDuration as readDuration } from '@kruise/values/duration';
import { parseInteger } from '@kruise/values/go-integer';
import { trimTrailing } from '@kruise/values/trim';
import { attempt } from './attempt.ts';
import { EvaluationError, type Int, maxInt, minInt, toInt } from './values.ts';

const nanosPerSecond = 1_000_000_000n;
const minUnixSeconds = -62135596800;
const maxUnixSeconds = 253402300799;

/** A 64-bit duration in nanoseconds. */
export class Duration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** An instant with its original zone offset, which only its text form shows. */
export class Timestamp {
  /** Whole seconds since 1970, rounded down. */
  readonly seconds: number;
  /** 0 to 999,999,999. */
  readonly nanos: number;
  readonly offsetSeconds: number;

  constructor(seconds: number, nanos: number, offsetSeconds = 0) {
    this.seconds = seconds;
    this.nanos = nanos;
    this.offsetSeconds = offsetSeconds;
  }
}

const durationOverflow = new EvaluationError('integer overflow');
const timestampOverflow = new EvaluationError('timestamp overflow');

const checkedDuration = (nanos: bigint): Duration | EvaluationError =>
  nanos < minInt || nanos > maxInt ? durationOverflow : new Duration(nanos);

/** Returns the sum, or an overflow error. */
export const addDurations = (a: Duration, b: Duration): Duration | EvaluationError =>
  checkedDuration(a.nanos + b.nanos);
/** Returns the difference, or an overflow error. */
export const subtractDurations = (a: Duration, b: Duration): Duration | EvaluationError =>
  checkedDuration(a.nanos - b.nanos);
/** Returns the negated duration, or an overflow error. */
export const negateDuration = (a: Duration): Duration | EvaluationError => checkedDuration(-a.nanos);

/** Returns the timestamp plus a duration, which may be negative. */
export function addDuration(timestamp: Timestamp, { nanos }: Duration): Timestamp | EvaluationError {
  const total = BigInt(timestamp.nanos) + nanos;
  const carry = floorDivide(total, nanosPerSecond);
  const seconds = timestamp.seconds + Number(carry);
  if (seconds < minUnixSeconds || seconds > maxUnixSeconds) return timestampOverflow;
  return new Timestamp(seconds, Number(total - carry * nanosPerSecond), timestamp.offsetSeconds);
}

const floorDivide = (a: bigint, b: bigint): bigint => (a - (((a % b) + b) % b)) / b;

/** Returns the duration from the second to the first timestamp, or an overflow error. */
export function subtractTimestamps(a: Timestamp, b: Timestamp): Duration | EvaluationError {
  const nanos = BigInt(a.seconds - b.seconds) * nanosPerSecond + BigInt(a.nanos - b.nanos);
  return checkedDuration(nanos);
}

/** Returns -1, 0 or 1 if the first is before, at or after the second. */
export const compareTimestamps = (a: Timestamp, b: Timestamp): number =>
  Math.sign(a.seconds - b.seconds || a.nanos - b.nanos);

/** Returns the timestamp of a Unix time in seconds. */
export function timestampFromUnix(seconds: Int): Timestamp | EvaluationError {
  return seconds < minUnixSeconds || seconds > maxUnixSeconds ? timestampOverflow : new Timestamp(Number(seconds), 0);
}

const timestampPattern = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/;

/** Parses RFC 3339; returns undefined if the text is invalid. */
export function parseTimestamp(text: string): Timestamp | EvaluationError | undefined {
  const match = timestampPattern.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [, , , , , , , fraction = '', sign, zoneHour = '0', zoneMinute = '0'] = match;
  if (hour > 23 || minute > 59 || second > 59 || Number(zoneHour) > 24 || Number(zoneMinute) > 60) return undefined;
  const days = daysSinceEpoch(year, month, day);
  if (days === undefined) return undefined;
  const offset = (sign === '-' ? -1 : 1) * (Number(zoneHour) * 3600 + Number(zoneMinute) * 60);
  const seconds = days * 86400 + hour * 3600 + minute * 60 + second - offset;
  if (seconds < minUnixSeconds || seconds > maxUnixSeconds) return timestampOverflow;
  return new Timestamp(seconds, Number(fraction.slice(0, 9).padEnd(9, '0')), offset);
}

/** Returns the days from 1970-01-01 to a date, or undefined if the date does not exist. */
export function daysSinceEpoch(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (month < 1 || month > 12 || day < 1 || date.getUTCDate() !== day) return undefined;
  return date.getTime() / 86400_000;
}

/** Formats a timestamp in RFC 3339 with as many digits as needed, in its own zone. */
export function formatTimestamp({ seconds, nanos, offsetSeconds }: Timestamp): string {
  const local = new Date((seconds + offsetSeconds) * 1000);
  const digits = (value: number, width: number) => String(value).padStart(width, '0');
  const date = `${digits(local.getUTCFullYear(), 4)}-${digits(local.getUTCMonth() + 1, 2)}-${digits(local.getUTCDate(), 2)}`;
  const time = `${digits(local.getUTCHours(), 2)}:${digits(local.getUTCMinutes(), 2)}:${digits(local.getUTCSeconds(), 2)}`;
  const fraction = nanos === 0 ? '' : `.${trimTrailing(digits(nanos, 9), '0')}`;
  const minutes = Math.abs(Math.trunc(offsetSeconds / 60));
  const zone =
    offsetSeconds === 0
      ? 'Z'
      : `${offsetSeconds < 0 ? '-' : '+'}${digits(Math.trunc(minutes / 60), 2)}:${digits(minutes % 60, 2)}`;
  return `${date}T${time}${fraction}${zone}`;
}

const unitNanos = { h: 3600n * nanosPerSecond, m: 60n * nanosPerSecond, s: nanosPerSecond, ms: 1_000_000n };

/** Parses a Go duration such as `1h30m` or `-1.5s`; returns undefined if it is invalid or out of range. */
export function parseDuration(text: string): Duration | undefined {
  const nanos = attempt(() => readDuration(text));
  return nanos instanceof EvaluationError ? undefined : new Duration(nanos);
}

/** Formats a duration in seconds like `string(duration)`: `5400s`, `0.001s`. */
export function formatDuration({ nanos }: Duration): string {
  return `${formatPlain(durationSeconds(nanos))}s`;
}

const durationSeconds = (nanos: bigint): number =>
  Number(nanos / nanosPerSecond) + Number(nanos % nanosPerSecond) / 1e9;

/** Formats a number in the shortest decimal form without an exponent. */
function formatPlain(value: number): string {
  const text = String(value);
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (!match) return text;
  const [, sign, first, rest = '', exponentText] = match;
  const digits = first + rest;
  const exponent = Number(exponentText);
  return exponent < 0
    ? `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`
    : `${sign}${digits}${'0'.repeat(exponent - rest.length)}`;
}

/** Returns a duration in whole units, rounded toward zero. */
export const durationIn = (duration: Duration, unit: keyof typeof unitNanos): Int =>
  toInt(duration.nanos / unitNanos[unit]);

/** Calendar fields of an instant in a zone. */
export type CalendarFields = {
  readonly year: number;
  /** 0 is January. */
  readonly month: number;
  readonly day: number;
  /** 0 is the first of January. */
  readonly dayOfYear: number;
  /** 0 is Sunday. */
  readonly dayOfWeek: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
};

/** Returns the calendar fields in `zone`: a name such as `Europe/Berlin`, or an offset such as `-08:00`. */
export function calendarFields(timestamp: Timestamp, zone: string): CalendarFields | EvaluationError {
  const offset = zoneOffset(timestamp.seconds, zone);
  if (offset instanceof EvaluationError) return offset;
  const local = new Date((timestamp.seconds + offset) * 1000);
  const startOfYear = new Date(0).setUTCFullYear(local.getUTCFullYear(), 0, 1);
  return {
    year: local.getUTCFullYear(),
    month: local.getUTCMonth(),
    day: local.getUTCDate(),
    dayOfYear: Math.floor((local.getTime() - startOfYear) / 86400_000),
    dayOfWeek: local.getUTCDay(),
    hours: local.getUTCHours(),
    minutes: local.getUTCMinutes(),
    seconds: local.getUTCSeconds(),
  };
}

const zoneFormats = new Map<string, Intl.DateTimeFormat>();
const maxZoneFormats = 600;

function zoneOffset(seconds: number, zone: string): number | EvaluationError {
  if (zone === '' || zone === 'UTC') return 0;
  const colon = zone.indexOf(':');
  if (colon >= 0) {
    const hours = attempt(() => parseInteger(zone.slice(0, colon)));
    if (hours instanceof EvaluationError) return hours;
    const minutes = attempt(() => parseInteger(zone.slice(colon + 1)));
    if (minutes instanceof EvaluationError) return minutes;
    return Number(zone[0] === '-' ? hours * 60n - minutes : hours * 60n + minutes) * 60;
  }
  const format = zoneFormat(zone);
  if (!format) return new EvaluationError(`unknown time zone ${zone}`);
  const parts = new Map(format.formatToParts(seconds * 1000).map(({ type, value }) => [type, value]));
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type));
  const local = new Date(0);
  const year = parts.get('era') === 'BC' ? 1 - part('year') : part('year');
  local.setUTCFullYear(year, part('month') - 1, part('day'));
  local.setUTCHours(part('hour'), part('minute'), part('second'));
  return local.getTime() / 1000 - seconds;
}

function zoneFormat(zone: string): Intl.DateTimeFormat | undefined {
  const known = zoneFormats.get(zone);
  if (known) return known;
  // ICU also accepts `+01` and ignores letter case; Go's zone files do not.
  if (!/^[A-Z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/.test(zone)) return undefined;
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    if (zoneFormats.size < maxZoneFormats) zoneFormats.set(zone, format);
    return format;
  } catch {
    return undefined;
  }
}
