/** Local time in a time zone, with the rules of Go for local times that do not exist or exist twice. */
import { ParseError } from '@kruise/values/parse-error';
import { type Instant, instantOf } from '@kruise/values/time';

/** A time zone. */
export type TimeZone = {
  /** Returns the offset of local time from UTC at an instant in milliseconds. */
  offsetAt(instant: Instant): number;
};

/** The UTC time zone. */
export const utc: TimeZone = { offsetAt: () => 0 };

// Cache: creating a format is far more expensive than using it, and there are only a few hundred zones.
const zones = new Map<string, TimeZone>();

/**
 * Returns the time zone of a name such as `Europe/Berlin`. Throws `ParseError` with the message of Go.
 *
 * ```ts
 * const { hour } = toLocal(timeZone('Europe/Berlin'), clock.now());
 * ```
 */
export function timeZone(name: string): TimeZone {
  if (name === '' || name === 'UTC') return utc;
  if (name.includes('..') || name.startsWith('/') || name.startsWith('\\')) {
    throw new ParseError('time: invalid location name');
  }
  let zone = zones.get(name);
  if (zone === undefined) {
    zone = zoneOf(name);
    zones.set(name, zone);
  }
  return zone;
}

function zoneOf(name: string): TimeZone {
  // JavaScript accepts offsets as names and ignores case. In Go a name is a file name.
  if (!/^[A-Z]/.test(name)) throw unknown(name);
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset', year: 'numeric' });
  } catch (error) {
    throw error instanceof RangeError ? unknown(name) : error;
  }
  if (hasOtherCase(name, format.resolvedOptions().timeZone)) throw unknown(name);
  return { offsetAt: remembering((instant) => readOffset(format.format(instant))) };
}

function hasOtherCase(name: string, resolved: string): boolean {
  return name !== resolved && name.toLowerCase() === resolved.toLowerCase();
}

function unknown(name: string): ParseError {
  return new ParseError(`unknown time zone ${name}`);
}

/** Parses the end of a text such as `2024, GMT-05:00`. */
function readOffset(text: string): number {
  const match = /GMT(?:([-+])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text);
  if (!match) throw new Error(`no offset in ${text}`);
  const [, sign, hours = 0, minutes = 0, seconds = 0] = match;
  const offset = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  return (sign === '-' ? -offset : offset) * 1000;
}

const maxCachedOffsets = 1000;
// Since 1972 every zone has changed its offset only at a quarter of an hour.
const stepMs = 15 * 60_000;
const firstSteadyInstant = instantOf(1973, 1, 1);

function remembering(compute: (instant: Instant) => number): (instant: Instant) => number {
  const cachedOffsets = new Map<number, number>();
  return (instant) => {
    if (instant < firstSteadyInstant) return compute(instant);
    const step = Math.floor(instant / stepMs);
    let offset = cachedOffsets.get(step);
    if (offset === undefined) {
      if (cachedOffsets.size === maxCachedOffsets) cachedOffsets.clear();
      offset = compute(step * stepMs);
      cachedOffsets.set(step, offset);
    }
    return offset;
  };
}

/** Local date and time of an instant. */
export type LocalTime = {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** 0 is Sunday. */
  readonly weekday: number;
};

/** Returns the local date and time of an instant. */
export function toLocal(zone: TimeZone, instant: Instant): LocalTime {
  const date = new Date(instant + zone.offsetAt(instant));
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    weekday: date.getUTCDay(),
  };
}

/**
 * Returns the instant of a local time; months and days out of range are normalized. A skipped or repeated local time
 * uses the offset at the same time in UTC, unless another offset applies at the resulting instant, as Go's `time.Date`
 * does.
 */
export function fromLocal(
  zone: TimeZone,
  year: number,
  month: number,
  day: number,
  hour = 0,
  minute = 0,
  second = 0,
): Instant {
  const asUtc = instantOf(year, month, day, hour, minute, second);
  const offset = zone.offsetAt(asUtc);
  return offset === 0 ? asUtc : asUtc - zone.offsetAt(asUtc - offset);
}
