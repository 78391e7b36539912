import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextRun, parseSchedule } from '@kruise/machinery/cron';
import { timeZone } from '@kruise/machinery/time-zone';
import { formatTime, parseTime } from '@kruise/values/time';
import fc from 'fast-check';
import { missedRuns } from './missed-runs.ts';
import { formatInZone } from './zoned-time.ts';

const cases = [
  { name: 'nothing yet', schedule: '0 * * * *', since: '10:30', now: '10:59:59', last: undefined, count: 0 },
  { name: 'the first run', schedule: '0 * * * *', since: '10:30', now: '11:00', last: '11:00', count: 1 },
  {
    name: 'not the run it started with',
    schedule: '0 * * * *',
    since: '11:00',
    now: '11:30',
    last: undefined,
    count: 0,
  },
  { name: 'the last of several runs', schedule: '0 * * * *', since: '10:30', now: '13:30', last: '13:00', count: 3 },
  {
    name: 'an interval in its own phase',
    schedule: '@every 1h',
    since: '10:20',
    now: '13:30',
    last: '13:20',
    count: 3,
  },
];
for (const { name, schedule, since, now, last, count } of cases) {
  test(`a schedule has missed ${name}`, () => {
    const at = (time: string) => parseTime(`2026-01-01T${time.length === 5 ? `${time}:00` : time}Z`);
    const missed = missedRuns(parseSchedule(schedule), at(since), at(now));
    assert.deepEqual(missed, { last: last && at(last), count });
  });
}

test('a schedule without matching days has no runs', () => {
  assert.equal(missedRuns(parseSchedule('59 23 31 2 *'), 0, parseTime('2026-01-01T00:00:00Z')), undefined);
});

test('the last run is found with unequal intervals', () => {
  // Last reconciled on Friday morning and again on Sunday: two runs of Friday were missed.
  const schedule = parseSchedule('30 6-16/4 * * 1-5');
  const missed = missedRuns(schedule, parseTime('2026-01-02T06:30:00Z'), parseTime('2026-01-04T12:00:00Z'));
  assert.equal(formatTime(missed!.last!), '2026-01-02T14:30:00Z');
});

test('the last run equals the one found by enumeration', () => {
  const texts = ['*/7 * * * *', '0 3 * * *', '30 6-16/4 * * 1-5', '0 0 1 * *', '5 4 29 2 *', '@every 90s', '* * 1 1 *'];
  const start = parseTime('2024-01-01T00:00:00Z');
  fc.assert(
    fc.property(fc.constantFrom(...texts), fc.nat(800 * 24 * 60), fc.nat(3 * 24 * 60), (text, offset, length) => {
      const schedule = parseSchedule(text);
      const since = start + offset * 60_000;
      const now = since + length * 60_000;
      let last: number | undefined;
      for (let run = nextRun(schedule, since); run !== undefined && run <= now; run = nextRun(schedule, run))
        last = run;
      assert.equal(missedRuns(schedule, since, now)?.last, last);
    }),
  );
});

test('a year of missed minutes, or seconds, takes a few steps', () => {
  const since = parseTime('2025-01-01T00:00:30Z');
  const now = parseTime('2026-01-01T00:00:30Z');
  for (const text of ['* * * * *', '@every 1s']) {
    const schedule = parseSchedule(text);
    let lookups = 0;
    // Every calendar lookup reads one of the schedule's fields.
    const counted = new Proxy(schedule, {
      get: (target, field) => {
        if (field === 'kind') lookups++;
        return Reflect.get(target, field);
      },
    });
    const missed = missedRuns(counted, since, now)!;
    assert.ok(missed.count > 500_000);
    assert.ok(lookups < 10, `${lookups} look-ups`);
  }
});

const times = [
  { zone: 'UTC', text: '2026-07-01T12:00:00Z' },
  { zone: 'Europe/Berlin', text: '2026-07-01T14:00:00+02:00' },
  { zone: 'America/St_Johns', text: '2026-07-01T09:30:00-02:30' },
  { zone: 'Asia/Kolkata', text: '2026-07-01T17:30:00+05:30' },
];
for (const { zone, text } of times) {
  test(`a time in ${zone} is formatted as ${text}`, () => {
    assert.equal(formatInZone(parseTime('2026-07-01T12:00:00Z'), timeZone(zone)), text);
  });
}
