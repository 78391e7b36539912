import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cron } from 'croner';
import fc from 'fast-check';
import { nextRun, parseSchedule } from './cron.ts';
import { timeZone } from './time-zone.ts';

/** The first runs after a time, in UTC. */
function runs(spec: string, after: string, count: number): string[] {
  const schedule = parseSchedule(spec);
  const found: string[] = [];
  let instant: number | undefined = Date.parse(after);
  while (found.length < count && (instant = nextRun(schedule, instant)) !== undefined) {
    found.push(new Date(instant).toISOString().replace(':00.000Z', ''));
  }
  return found;
}

const cases: readonly (readonly [string, string, string, readonly string[]])[] = [
  ['is later than now', '0 * * * *', '2024-01-01T00:00:00Z', ['2024-01-01T01:00', '2024-01-01T02:00']],
  ['is sooner than a minute', '* * * * *', '2024-01-01T00:00:59.999Z', ['2024-01-01T00:01']],
  ['knows leap years', '0 0 29 2 *', '2024-03-01T00:00:00Z', ['2028-02-29T00:00']],
  ['gives up after five years', '0 0 31 2 *', '2024-03-01T00:00:00Z', []],
  ['gives up on an empty field', ', * * * *', '2024-03-01T00:00:00Z', []],
  ['takes names in any case', '0 0 * FEB-mar Mon', '2024-01-01T00:00:00Z', ['2024-02-05T00:00', '2024-02-12T00:00']],
  [
    'wants either day if both are given',
    '0 0 13 * fri',
    '2024-09-07T00:00:00Z',
    ['2024-09-13T00:00', '2024-09-20T00:00'],
  ],
  ['wants both days if one is a star', '0 0 * * fri', '2024-09-07T00:00:00Z', ['2024-09-13T00:00', '2024-09-20T00:00']],
  [
    'takes a star with a step for days given',
    '0 0 */10 * fri',
    '2024-09-07T00:00:00Z',
    ['2024-09-11T00:00', '2024-09-13T00:00'],
  ],
  ['takes a step of one for a star', '0 0 */1 * fri', '2024-09-07T00:00:00Z', ['2024-09-13T00:00', '2024-09-20T00:00']],
  [
    'steps from a number to the end',
    '50/5 0 1 1 *',
    '2024-01-01T00:00:00Z',
    ['2024-01-01T00:50', '2024-01-01T00:55', '2025-01-01T00:50'],
  ],
  ['knows descriptors', '@weekly', '2024-01-01T00:00:00Z', ['2024-01-07T00:00', '2024-01-14T00:00']],
  ['counts from now on every', '@every 1h30m', '2024-01-01T00:00:00.500Z', ['2024-01-01T01:30', '2024-01-01T03:00']],
  // New York sets clocks from 2:00 to 3:00 on 10 March 2024, and from 2:00 to 1:00 on 3 November.
  [
    'skips a day whose local time does not exist',
    'TZ=America/New_York 30 2 * * *',
    '2024-03-09T12:00:00Z',
    ['2024-03-11T06:30'],
  ],
  [
    'runs twice at a time that is repeated',
    'TZ=America/New_York 30 1 * * *',
    '2024-11-02T12:00:00Z',
    ['2024-11-03T05:30', '2024-11-03T06:30', '2024-11-04T06:30'],
  ],
  [
    'runs on through a repeated hour',
    'CRON_TZ=America/New_York 0 * * * *',
    '2024-11-03T04:30:00Z',
    ['2024-11-03T05:00', '2024-11-03T06:00', '2024-11-03T07:00'],
  ],
  // São Paulo had no midnight on 4 November 2018.
  [
    'runs at no midnight that is skipped',
    'TZ=America/Sao_Paulo 0 0 * * *',
    '2018-11-03T12:00:00Z',
    ['2018-11-05T02:00'],
  ],
  // Half an hour of summer time.
  ['knows odd offsets', 'TZ=Australia/Lord_Howe 15 2 * * *', '2024-10-05T12:00:00Z', ['2024-10-06T15:15']],
  // Samoa had no 30 December 2011.
  ['passes a day that was skipped', 'TZ=Pacific/Apia 0 12 31 12 *', '2011-12-01T00:00:00Z', ['2011-12-30T22:00']],
];
for (const [name, spec, after, expected] of cases) {
  test(`${spec} ${name}`, () => assert.deepEqual(runs(spec, after, Math.max(1, expected.length)), expected));
}

const refused: readonly (readonly [string, string])[] = [
  ['', 'empty spec string'],
  ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
  ['* * * * * *', 'expected exactly 5 fields, found 6: [* * * * * *]'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['* * * * 7', 'end of range (7) above maximum (6): 7'],
  ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
  ['*/-1 * * * *', 'negative number (-1) not allowed: -1'],
  ['* * * * L', 'failed to parse int from L: strconv.Atoi: parsing "L": invalid syntax'],
  ['@never', 'unrecognized descriptor: @never'],
  ['@every x', 'failed to parse duration @every x: time: invalid duration "x"'],
  ['TZ=Nowhere * * * * *', 'provided bad location Nowhere: unknown time zone Nowhere'],
  ['TZ=europe/berlin * * * * *', 'provided bad location europe/berlin: unknown time zone europe/berlin'],
  ['TZ=+01:00 * * * * *', 'provided bad location +01:00: unknown time zone +01:00'],
  ['TZ=../UTC * * * * *', 'provided bad location ../UTC: time: invalid location name'],
  ['TZ=UTC', 'expected exactly 5 fields, found 0: []'],
];
for (const [spec, message] of refused) {
  test(`${JSON.stringify(spec)} is refused`, () => {
    assert.throws(() => parseSchedule(spec), { name: 'ParseError', message });
  });
}

test('a step beyond all numbers and a megabyte of ranges do no harm', () => {
  assert.deepEqual(runs('*/9223372036854775807 0 1 1 *', '2024-06-01T00:00:00Z', 1), ['2025-01-01T00:00']);
  assert.throws(() => parseSchedule(`${'1,'.repeat(500_000)} * * * *`), { name: 'ParseError' });
});

test('a schedule is local to the zone it is given', () => {
  const schedule = parseSchedule('0 9 * * *', timeZone('Asia/Kolkata'));
  assert.equal(nextRun(schedule, Date.parse('2024-01-01T00:00:00Z')), Date.parse('2024-01-01T03:30:00Z'));
});

const field = (minimum: number, maximum: number, all = '*') =>
  fc.oneof(
    fc.constant('*'),
    fc.integer({ min: minimum, max: maximum }).map(String),
    fc.integer({ min: 2, max: 9 }).map((step) => `${all}/${step}`),
  );

test('another library finds the same runs in UTC', () => {
  // Of days that February lacks the other one makes March the 6th, so steps keep to those that every month has.
  const spec = fc.tuple(field(0, 59), field(0, 23), field(1, 28, '1-28'), field(1, 12));
  fc.assert(
    fc.property(
      spec,
      fc.date({ min: new Date('2000-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }),
      (parts, after) => {
        // Both days at once mean different things in the two, so the week is left free.
        const text = `${parts.join(' ')} *`;
        const expected = new Cron(text, { timezone: 'UTC' }).nextRun(after)?.getTime();
        assert.equal(nextRun(parseSchedule(text), after.getTime()), expected, text);
      },
    ),
  );
});

test('a run matches its schedule, and nothing between does', () => {
  const zones = ['America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe', 'America/Sao_Paulo'];
  fc.assert(
    fc.property(fc.constantFrom(...zones), fc.nat(59), fc.nat({ max: 2_000_000_000 }), (zone, minute, second) => {
      const schedule = parseSchedule(`${minute} * * * *`, timeZone(zone));
      const run = nextRun(schedule, second * 1000) ?? 0;
      const shown = new Intl.DateTimeFormat('en-US', { timeZone: zone, minute: 'numeric' }).format(run);
      assert.equal(Number(shown), minute);
      assert.ok(run > second * 1000 && run - second * 1000 <= 2 * 3_600_000);
    }),
  );
});
