import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codecOf } from '@kruise/schema/codec';
import type { Draft } from '@kruise/schema/draft';
import { formatErrors, type Json } from '../core/pod.fixtures.ts';
import { scheduleFault } from './cron-schedule.ts';
import { defaultCronJob } from './cronjob.default.ts';
import { type CronJob, cronJob } from './cronjob.ts';
import { validateCronJob, validateCronJobUpdate } from './cronjob.validate.ts';

const schedules: readonly (readonly [schedule: string, fault: string | undefined])[] = [
  ['* * * * *', undefined],
  ['*/5 0-6 1,15 JAN-mar sun', undefined],
  ['@daily', undefined],
  ['@every 1h30m', undefined],
  ['TZ=Europe/Berlin 0 3 * * *', undefined],
  ['nonsense', 'expected exactly 5 fields, found 1: [nonsense]'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['a * * * *', 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['*/1/2 * * * *', 'too many slashes: */1/2'],
  ['@never', 'unrecognized descriptor: @never'],
  ['@every x', 'failed to parse duration @every x: time: invalid duration "x"'],
  ['TZ=Nowhere/Land * * * * *', 'provided bad location Nowhere/Land: unknown time zone Nowhere/Land'],
];
for (const [schedule, fault] of schedules) {
  test(`${schedule} is ${fault === undefined ? 'a valid' : 'an invalid'} schedule`, () => {
    assert.equal(scheduleFault(schedule), fault);
  });
}

function someCronJob(spec: Json = {}, name = 'one'): CronJob {
  const codec = codecOf(cronJob.root);
  const podSpec = { containers: [{ name: 'main', image: 'nginx:1' }], restartPolicy: 'OnFailure' };
  const draft = codec.fromJson({
    metadata: { name, namespace: 'default', resourceVersion: '1' },
    spec: { schedule: '* * * * *', jobTemplate: { spec: { template: { spec: podSpec } } }, ...spec },
  }) as Draft<CronJob>;
  defaultCronJob(draft);
  return codec.canonical(draft as CronJob);
}

const specs: readonly (readonly [given: Json, faults: readonly string[]])[] = [
  [{}, []],
  [{ timeZone: 'Asia/Tokyo' }, []],
  [{ schedule: '' }, ['spec.schedule: Required value']],
  [
    { schedule: 'TZ=UTC * * * * *' },
    [
      'spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
    ],
  ],
  [{ timeZone: '' }, ['spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string']],
  [{ timeZone: 'asia/tokyo' }, ['spec.timeZone: Invalid value: "asia/tokyo": unknown time zone asia/tokyo']],
  [{ timeZone: '../up' }, ['spec.timeZone: Invalid value: "../up": unknown time zone ../up']],
  [
    { concurrencyPolicy: 'x' },
    ['spec.concurrencyPolicy: Unsupported value: "x": supported values: "Allow", "Forbid", "Replace"'],
  ],
  [
    { startingDeadlineSeconds: -1 },
    ['spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0'],
  ],
];
for (const [given, faults] of specs) {
  test(`a CronJob with ${JSON.stringify(given)} is ${faults.length === 0 ? 'accepted' : 'refused'}`, () => {
    assert.deepEqual(formatErrors(validateCronJob(someCronJob(given))), faults);
  });
}

test('the name of a CronJob must leave room for the names of its Jobs', () => {
  assert.deepEqual(formatErrors(validateCronJob(someCronJob({}, 'a'.repeat(52)))), []);
  assert.match(
    formatErrors(validateCronJob(someCronJob({}, 'a'.repeat(53))))[0]!,
    /must be no more than 52 characters$/,
  );
});

test('a stored schedule with a time zone is tolerated', () => {
  const stored = someCronJob({ schedule: 'TZ=UTC * * * * *' });
  assert.deepEqual(formatErrors(validateCronJobUpdate(stored, stored)), []);
});
