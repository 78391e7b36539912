/**
 * Cron schedules of CronJobs: five fields, names of months and days, descriptors such as `@daily` and `@every 1h30m`,
 * and a time zone prefix. A job at a local time that daylight saving skips does not run that day; a repeated local time
 * runs it twice.
 *
 * ```ts
 * nextRun(parseSchedule('0 3 * * *', timeZone('Europe/Berlin')), now);
 * ```
 */
import { parseDuration } from '@kruise/values/duration';
import { parseInteger } from '@kruise/values/go-integer';
import { formatList } from '@kruise/values/go-syntax';
import { ParseError } from '@kruise/values/parse-error';
import type { Instant } from '@kruise/values/time';
import { fromLocal, type LocalTime, type TimeZone, timeZone, toLocal, utc } from './time-zone.ts';

/** A schedule: local times or a fixed interval. */
export type Schedule = Calendar | Interval;

/** Local times that match all fields. */
type Calendar = {
  readonly kind: 'calendar';
  readonly minute: Field;
  readonly hour: Field;
  readonly dayOfMonth: Field;
  readonly month: Field;
  readonly dayOfWeek: Field;
  readonly zone: TimeZone;
};

type Interval = { readonly kind: 'interval'; readonly intervalMs: number };

/** Values of a field. If one of the two day fields is a star, both must match; otherwise either. */
type Field = { readonly values: ReadonlySet<number>; readonly isStar: boolean };

type Bounds = { readonly minimum: number; readonly maximum: number; readonly names?: readonly string[] };

const bounds = {
  minute: { minimum: 0, maximum: 59 },
  hour: { minimum: 0, maximum: 23 },
  dayOfMonth: { minimum: 1, maximum: 31 },
  month: {
    minimum: 1,
    maximum: 12,
    names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  },
  dayOfWeek: { minimum: 0, maximum: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
} satisfies Record<string, Bounds>;

const descriptors: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);

const zonePrefix = /^(?:CRON_)?TZ=([^ ]*)(.*)$/s;
const every = '@every ';

// Longer than any useful schedule, which lists every minute, hour and day.
const maxLength = 10_000;

/** Parses a schedule. `zone` is the default time zone. Throws `ParseError` with the message of Kubernetes. */
export function parseSchedule(text: string, zone: TimeZone = utc): Schedule {
  if (text === '') throw new ParseError('empty spec string');
  if (text.length > maxLength) throw new ParseError(`spec string longer than ${maxLength} characters`);
  const [, zoneName, rest] = zonePrefix.exec(text) ?? [];
  const spec = zoneName === undefined ? text : (rest ?? '').trim();
  const place = zoneName === undefined ? zone : placeOf(zoneName);
  if (!spec.startsWith('@')) return parseFields(spec, place);
  const fields = descriptors.get(spec);
  if (fields !== undefined) return parseFields(fields, place);
  if (spec.startsWith(every)) return parseInterval(spec);
  throw new ParseError(`unrecognized descriptor: ${spec}`);
}

/** Returns the first run after an instant; undefined if there is none within five years. */
export function nextRun(schedule: Schedule, after: Instant): Instant | undefined {
  const second = Math.floor(after / 1000) * 1000;
  return schedule.kind === 'interval' ? second + schedule.intervalMs : nextMatch(schedule, second + 1000);
}

function placeOf(name: string): TimeZone {
  try {
    return timeZone(name);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw new ParseError(`provided bad location ${name}: ${error.message}`);
  }
}

function parseInterval(spec: string): Interval {
  try {
    const seconds = parseDuration(spec.slice(every.length)) / 1_000_000_000n;
    return { kind: 'interval', intervalMs: Math.max(1, Number(seconds)) * 1000 };
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw new ParseError(`failed to parse duration ${spec}: ${error.message}`);
  }
}

function parseFields(spec: string, zone: TimeZone): Calendar {
  const fields = spec.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== 5) {
    throw new ParseError(`expected exactly 5 fields, found ${fields.length}: ${formatList(fields)}`);
  }
  const [minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = ''] = fields;
  return {
    kind: 'calendar',
    minute: parseField(minute, bounds.minute),
    hour: parseField(hour, bounds.hour),
    dayOfMonth: parseField(dayOfMonth, bounds.dayOfMonth),
    month: parseField(month, bounds.month),
    dayOfWeek: parseField(dayOfWeek, bounds.dayOfWeek),
    zone,
  };
}

function parseField(text: string, limits: Bounds): Field {
  const values = new Set<number>();
  let isStar = false;
  for (const range of text.split(',')) {
    if (range === '') continue;
    const { start, end, step, hasStar } = parseRange(range, limits);
    for (let value = start; value <= end; value += step) values.add(value);
    isStar ||= hasStar;
  }
  return { values, isStar };
}

type Range = { readonly start: number; readonly end: number; readonly step: number; readonly hasStar: boolean };

/**
 * Parses a star, a number, or a range, with an optional step. A step greater than one makes a star an ordinary range.
 */
function parseRange(text: string, limits: Bounds): Range {
  const [span = '', stepText, ...moreSteps] = text.split('/');
  const [low = '', high, ...moreBounds] = span.split('-');
  const isStar = low === '*' || low === '?';
  const start = isStar ? limits.minimum : parseNumber(low, limits);
  if (!isStar && high !== undefined && moreBounds.length > 0) throw new ParseError(`too many hyphens: ${text}`);
  const last = isStar ? limits.maximum : high === undefined ? start : parseNumber(high, limits);
  if (moreSteps.length > 0) throw new ParseError(`too many slashes: ${text}`);
  const step = stepText === undefined ? 1 : parseNumber(stepText);
  // A single number with a step is a range to the maximum.
  const end = stepText !== undefined && high === undefined ? limits.maximum : last;

  const { minimum, maximum } = limits;
  if (start < minimum) throw new ParseError(`beginning of range (${start}) below minimum (${minimum}): ${text}`);
  if (end > maximum) throw new ParseError(`end of range (${end}) above maximum (${maximum}): ${text}`);
  if (start > end) throw new ParseError(`beginning of range (${start}) beyond end of range (${end}): ${text}`);
  if (step === 0) throw new ParseError(`step of range should be a positive number: ${text}`);
  return { start, end, step, hasStar: isStar && step === 1 };
}

function parseNumber(text: string, { minimum, names }: Partial<Bounds> = {}): number {
  const index = names?.indexOf(text.toLowerCase()) ?? -1;
  if (index >= 0) return index + (minimum ?? 0);
  let value: bigint;
  try {
    value = parseInteger(text);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw new ParseError(`failed to parse int from ${text}: ${error.message}`);
  }
  if (value < 0n) throw new ParseError(`negative number (${value}) not allowed: ${text}`);
  return Number(value);
}

const maxYears = 5;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Advances a part of the local time that does not match: truncate it, then increment it. */
type Unit = {
  matches(local: LocalTime, schedule: Calendar): boolean;
  begin(zone: TimeZone, instant: Instant, local: LocalTime): Instant;
  next(zone: TimeZone, instant: Instant): Instant;
  /** Reports whether the part has wrapped around, so that larger parts have changed. */
  hasWrapped(local: LocalTime): boolean;
};

// Parts from the largest to the smallest. Months and days are counted on the calendar, the others in UTC, which
// determines the behavior for local times that are skipped or repeated.
const units: readonly Unit[] = [
  {
    matches: ({ month }, schedule) => schedule.month.values.has(month),
    begin: (zone, _, { year, month }) => fromLocal(zone, year, month, 1),
    next: (zone, instant) => addCalendarTime(zone, instant, { months: 1, days: 0 }),
    hasWrapped: ({ month }) => month === 1,
  },
  {
    matches: matchesDay,
    begin: (zone, _, { year, month, day }) => fromLocal(zone, year, month, day),
    next: (zone, instant) => toMidnight(zone, addCalendarTime(zone, instant, { months: 0, days: 1 })),
    hasWrapped: ({ day }) => day === 1,
  },
  {
    matches: ({ hour }, schedule) => schedule.hour.values.has(hour),
    begin: (zone, _, { year, month, day, hour }) => fromLocal(zone, year, month, day, hour),
    next: (_, instant) => instant + hourMs,
    hasWrapped: ({ hour }) => hour === 0,
  },
  {
    matches: ({ minute }, schedule) => schedule.minute.values.has(minute),
    begin: (_, instant) => floorToMinute(instant),
    next: (_, instant) => instant + minuteMs,
    hasWrapped: ({ minute }) => minute === 0,
  },
  {
    matches: ({ second }) => second === 0,
    begin: (_, instant) => instant,
    next: (_, instant) => floorToMinute(instant) + minuteMs,
    hasWrapped: () => true,
  },
];

function nextMatch(schedule: Calendar, from: Instant): Instant | undefined {
  const { zone } = schedule;
  const lastYear = toLocal(zone, from).year + maxYears;
  let instant = from;
  // After one part has advanced, all smaller parts start at their minimum.
  let hasMoved = false;
  search: for (;;) {
    let local = toLocal(zone, instant);
    if (local.year > lastYear) return undefined;
    for (const unit of units) {
      while (!unit.matches(local, schedule)) {
        if (!hasMoved) instant = unit.begin(zone, instant, local);
        hasMoved = true;
        // A whole day that is skipped (Samoa, 2011) has no start; Kubernetes loops forever here.
        const next = unit.next(zone, instant);
        instant = next > instant ? next : instant + hourMs;
        local = toLocal(zone, instant);
        if (unit.hasWrapped(local)) continue search;
      }
    }
    return instant;
  }
}

function matchesDay({ day, weekday }: LocalTime, { dayOfMonth, dayOfWeek }: Calendar): boolean {
  const matchesMonth = dayOfMonth.values.has(day);
  const matchesWeek = dayOfWeek.values.has(weekday);
  return dayOfMonth.isStar || dayOfWeek.isStar ? matchesMonth && matchesWeek : matchesMonth || matchesWeek;
}

/** Returns the same time of day on another date. */
function addCalendarTime(
  zone: TimeZone,
  instant: Instant,
  { months, days }: { months: number; days: number },
): Instant {
  const { year, month, day, hour, minute, second } = toLocal(zone, instant);
  return fromLocal(zone, year, month + months, day + days, hour, minute, second);
}

/** Returns midnight, or the nearest full hour if midnight does not exist or exists twice. */
function toMidnight(zone: TimeZone, instant: Instant): Instant {
  const { hour } = toLocal(zone, instant);
  return instant + (hour > 12 ? 24 - hour : -hour) * hourMs;
}

function floorToMinute(instant: Instant): Instant {
  return Math.floor(instant / minuteMs) * minuteMs;
}
