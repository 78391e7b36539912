/** Local time in a zone, with Go's choices where a local time does not exist or exists twice. */
import { ParseError } from '@kruise/values/parse-error';
import { type Instant, instantOf } from '@kruise/values/time';

/** A place's rules for telling the time. */
export type TimeZone = {
  /** How far local time is ahead of UTC at an instant, in milliseconds. */
  offsetAt(instant: Instant): number;
};

/** The zone without rules. */
export const utc: TimeZone = { offsetAt: () => 0 };

// A format costs far more to make than to use, and there are a few hundred zones in all.
const zones = new Map<string, TimeZone>();

/** The zone of a name such as `Europe/Berlin`. Throws `ParseError` with Go's text. */
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
  // Offsets pass for names in JavaScript, and case does not matter. In Go a name is that of a file.
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

/** Reads the end of a text such as `2024, GMT-05:00`. */
function readOffset(text: string): number {
  const match = /GMT(?:([-+])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text);
  if (!match) throw new Error(`no offset in ${text}`);
  const [, sign, hours = 0, minutes = 0, seconds = 0] = match;
  const offset = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  return (sign === '-' ? -offset : offset) * 1000;
}

const maxRemembered = 1000;
// No zone has changed its offset but at a quarter of an hour since 1972.
const stepMs = 15 * 60_000;
const firstSteadyInstant = instantOf(1973, 1, 1);

function remembering(compute: (instant: Instant) => number): (instant: Instant) => number {
  const remembered = new Map<number, number>();
  return (instant) => {
    if (instant < firstSteadyInstant) return compute(instant);
    const step = Math.floor(instant / stepMs);
    let offset = remembered.get(step);
    if (offset === undefined) {
      if (remembered.size === maxRemembered) remembered.clear();
      offset = compute(step * stepMs);
      remembered.set(step, offset);
    }
    return offset;
  };
}

/** An instant as a clock and a calendar in the zone show it. */
export type LocalTime = {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** 0 for Sunday. */
  readonly weekday: number;
};

/** What a clock and a calendar in the zone show at an instant. */
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
 * The instant of a local time; months and days beyond their ends run on. What clocks skip or repeat is taken with the
 * offset that holds when UTC reads the same, unless another holds at the instant that gives: so Go's `time.Date` does.
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
