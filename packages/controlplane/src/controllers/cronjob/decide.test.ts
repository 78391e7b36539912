import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CronJob, CronJobSpec, CronJobStatus } from '@kruise/api/batch/cronjob';
import type { Job, JobStatus } from '@kruise/api/batch/job';
import type { CreateAction, RemoveAction } from '@kruise/client/actions';
import type { Outcome } from '@kruise/client/execute';
import { controllerReference } from '@kruise/machinery/owner-references';
import { formatTime, parseTime } from '@kruise/values/time';
import fc from 'fast-check';
import { inWords } from '../../testing/in-words.ts';
import { decide } from './decide.ts';
import type { Observed } from './history.ts';

const now = parseTime('2026-01-01T10:00:10Z');
const minutesOf = (time: string) => parseTime(`2026-01-01T${time}:00Z`) / 60_000;

function cronJobOf(spec: Partial<CronJobSpec> = {}, status: CronJobStatus = {}): CronJob {
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'sum', namespace: 'default', uid: 'cron', creationTimestamp: '2026-01-01T09:30:00Z' },
    spec: {
      schedule: '0 * * * *',
      jobTemplate: { metadata: { labels: { app: 'sum' } }, spec: { template: {} } },
      ...spec,
    },
    status,
  };
}
const nameAt = (time: string) => `sum-${minutesOf(time)}`;
function jobOf(name: string, status: JobStatus = {}, metadata: Job['metadata'] = {}): Job {
  const ownerReferences = [controllerReference(cronJobOf())];
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: 'default', uid: name, ownerReferences, ...metadata },
    status,
  };
}
const ended = (type: 'Complete' | 'Failed', startTime?: string, completionTime?: string): JobStatus => ({
  conditions: [{ type, status: 'True' }],
  ...(startTime ? { startTime } : {}),
  ...(completionTime ? { completionTime } : {}),
});
const activeOf = (...names: readonly string[]) =>
  names.map((name) => ({ kind: 'Job', apiVersion: 'batch/v1', namespace: 'default', name, uid: name }));

function worldOf(cronJob: CronJob, jobs: readonly Job[] = [], others: readonly Job[] = []): Observed {
  return { cronJob, jobs, findJob: (name) => [...jobs, ...others].find(({ metadata }) => metadata.name === name) };
}

/** What comes of a decision if all of it can be done. */
function outcomeOf(observed: Observed, failures: Outcome['failures'] = []) {
  const { actions, status, requeueAfterSeconds } = decide(observed, now);
  const made = actions
    .filter((action) => action.type === 'create')
    .map(({ object }) => ({ ...object, metadata: { ...object.metadata, uid: 'new' } }));
  const outcome: Outcome = {
    failures,
    isStale: false,
    written: failures.length > 0 ? new Map() : new Map(made.map((each) => ['new', each])),
  };
  return {
    actions,
    does: inWords(actions),
    status: (typeof status === 'function' ? status(outcome) : status) as CronJobStatus,
    active: ((typeof status === 'function' ? status(outcome) : status) as CronJobStatus).active?.map(
      ({ name }) => name,
    ),
    requeueAfterSeconds,
  };
}

const starts: readonly { readonly name: string; readonly observed: Observed; readonly does: readonly string[] }[] = [
  { name: 'starts a Job when it is due', observed: worldOf(cronJobOf()), does: [`create ${nameAt('10:00')}`] },
  { name: 'starts none before', observed: worldOf(cronJobOf({ schedule: '30 10 * * *' })), does: [] },
  {
    name: 'starts none twice',
    observed: worldOf(cronJobOf({}, { lastScheduleTime: '2026-01-01T10:00:00Z' })),
    does: [],
  },
  {
    name: 'starts one for the last of three missed times',
    observed: worldOf(cronJobOf({}, { lastScheduleTime: '2026-01-01T07:00:00Z' })),
    does: [`create ${nameAt('10:00')}`],
  },
  {
    name: 'starts one for many missed times, and complains',
    observed: worldOf(cronJobOf({ schedule: '* * * * *' }, { lastScheduleTime: '2025-01-01T00:00:00Z' })),
    does: ['tell TooManyMissedTimes', `create ${nameAt('10:00')}`],
  },
  {
    name: 'does not complain about a hundred missed times',
    observed: worldOf(cronJobOf({ schedule: '* * * * *' }, { lastScheduleTime: '2026-01-01T08:20:00Z' })),
    does: [`create ${nameAt('10:00')}`],
  },
  {
    name: 'does not look back beyond its deadline',
    observed: worldOf(
      cronJobOf({ schedule: '* * * * *', startingDeadlineSeconds: 60 }, { lastScheduleTime: '2025-01-01T00:00:00Z' }),
    ),
    does: [`create ${nameAt('10:00')}`],
  },
  {
    name: 'skips a time beyond its deadline',
    observed: worldOf(cronJobOf({ startingDeadlineSeconds: 9 })),
    does: [],
  },
  { name: 'starts none while suspended', observed: worldOf(cronJobOf({ suspend: true })), does: [] },
  {
    name: 'starts none on its way out',
    observed: worldOf({ ...cronJobOf(), metadata: { ...cronJobOf().metadata, deletionTimestamp: formatTime(now) } }),
    does: [],
  },
  {
    name: 'starts another beside the last by default',
    observed: worldOf(cronJobOf({}, { active: activeOf('old') }), [jobOf('old')]),
    does: [`create ${nameAt('10:00')}`],
  },
  {
    name: 'starts none beside the last if that is forbidden',
    observed: worldOf(cronJobOf({ concurrencyPolicy: 'Forbid' }, { active: activeOf('old') }), [jobOf('old')]),
    does: ['tell JobAlreadyActive'],
  },
  {
    name: 'starts one where another is forbidden once the last has ended',
    observed: worldOf(cronJobOf({ concurrencyPolicy: 'Forbid' }, { active: activeOf('old') }), [
      jobOf('old', ended('Complete')),
    ]),
    does: ['tell SawCompletedJob', `create ${nameAt('10:00')}`],
  },
  {
    name: 'starts one in place of the last if asked to',
    observed: worldOf(cronJobOf({ concurrencyPolicy: 'Replace' }, { active: activeOf('old') }), [jobOf('old')]),
    does: ['delete old', `create ${nameAt('10:00')}`],
  },
  {
    name: 'takes up a Job that it started and forgot',
    observed: worldOf(cronJobOf(), [jobOf(nameAt('10:00'))]),
    does: ['tell UnexpectedJob'],
  },
  {
    name: 'starts none where its name is taken',
    observed: worldOf(cronJobOf(), [], [jobOf(nameAt('10:00'), {}, { ownerReferences: [] })]),
    does: [],
  },
  {
    name: 'complains about a schedule that cannot be read',
    observed: worldOf(cronJobOf({ schedule: 'often' })),
    does: ['tell UnparseableSchedule'],
  },
  {
    name: 'complains about a schedule that has no runs',
    observed: worldOf(cronJobOf({ schedule: '59 23 31 2 *' })),
    does: ['tell InvalidSchedule'],
  },
  {
    name: 'complains about a zone that is not known',
    observed: worldOf(cronJobOf({ timeZone: 'Mars/Olympus' })),
    does: ['tell UnknownTimeZone'],
  },
  {
    name: 'complains about a zone in a schedule, and heeds it',
    observed: worldOf(cronJobOf({ schedule: 'TZ=Europe/Berlin 0 11 * * *' })),
    does: ['tell UnsupportedSchedule', `create ${nameAt('10:00')}`],
  },
  {
    name: 'reads the schedule in its zone',
    observed: worldOf(cronJobOf({ schedule: '0 11 * * *', timeZone: 'Europe/Berlin' })),
    does: [`create ${nameAt('10:00')}`],
  },
  {
    name: 'deletes Jobs beyond those it keeps, the oldest first',
    observed: worldOf(cronJobOf({ suspend: true, successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 }), [
      jobOf('c', ended('Complete', '2026-01-01T03:00:00Z')),
      jobOf('a', ended('Complete', '2026-01-01T01:00:00Z')),
      jobOf('b', ended('Complete', '2026-01-01T02:00:00Z')),
      jobOf('d', ended('Failed', '2026-01-01T04:00:00Z')),
    ]),
    does: ['delete a', 'delete b', 'delete d'],
  },
  {
    name: 'deletes each once',
    observed: worldOf(cronJobOf({ suspend: true, failedJobsHistoryLimit: 0 }), [
      jobOf('a', ended('Failed'), { deletionTimestamp: formatTime(now) }),
    ]),
    does: [],
  },
];
for (const { name, observed, does } of starts) {
  test(`a CronJob ${name}`, () => assert.deepEqual(outcomeOf(observed).does, does));
}

test('what is complained about is told in the words of Kubernetes', () => {
  const told = (spec: Partial<CronJobSpec>) => {
    const { actions } = decide(worldOf(cronJobOf(spec)), now);
    return actions.flatMap((action) => (action.type === 'record' ? [action.event.message] : []))[0];
  };
  assert.equal(told({ timeZone: 'Mars/Olympus' }), 'invalid timeZone: "Mars/Olympus": unknown time zone Mars/Olympus');
  assert.equal(told({ schedule: '* *' }), 'unparseable schedule: "* *" : expected exactly 5 fields, found 2: [* *]');
  assert.equal(
    told({ schedule: '59 23 31 2 *' }),
    'invalid schedule: 59 23 31 2 * : time difference between two schedules is less than 1 second',
  );
});

test('a Job has what its template says, and when it was due', () => {
  const { actions } = outcomeOf(worldOf(cronJobOf({ timeZone: 'Europe/Berlin' })));
  const { object, announcement } = actions[0] as CreateAction;
  assert.deepEqual(object.metadata.labels, { app: 'sum' });
  assert.deepEqual(object.metadata.annotations, {
    'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-01-01T11:00:00+01:00',
  });
  assert.equal(object.metadata.ownerReferences?.[0]?.name, 'sum');
  assert.equal(announcement?.done?.message, 'Created job {name}');
  assert.equal(announcement?.failed?.message, 'Error creating job: {error}');
});

test('a Job that was started is listed', () => {
  const { status } = outcomeOf(worldOf(cronJobOf()));
  assert.equal(status.lastScheduleTime, '2026-01-01T10:00:00Z');
  assert.deepEqual(
    status.active?.map(({ kind, name, namespace, uid }) => ({ kind, name, namespace, uid })),
    [{ kind: 'Job', name: nameAt('10:00'), namespace: 'default', uid: 'new' }],
  );
});

test('a Job that could not be started is not listed, and is tried again', () => {
  const observed = worldOf(cronJobOf({ concurrencyPolicy: 'Replace' }, { active: activeOf('old') }), [jobOf('old')]);
  const { actions } = decide(observed, now);
  const { status, active } = outcomeOf(observed, [{ action: actions[0]!, error: 'no' }]);
  assert.deepEqual([status.lastScheduleTime, active], [undefined, ['old']]);
});

const lists: readonly {
  readonly name: string;
  readonly observed: Observed;
  readonly active: readonly string[];
  readonly does: readonly string[];
}[] = [
  {
    name: 'a Job that goes on stays listed',
    observed: worldOf(cronJobOf({ suspend: true }, { active: activeOf('a') }), [jobOf('a')]),
    active: ['a'],
    does: [],
  },
  {
    name: 'a Job that has ended is not listed any more',
    observed: worldOf(cronJobOf({ suspend: true }, { active: activeOf('a', 'b') }), [
      jobOf('a', ended('Failed')),
      jobOf('b'),
    ]),
    active: ['b'],
    does: ['tell SawCompletedJob'],
  },
  {
    name: 'a Job that is gone is not listed any more',
    observed: worldOf(cronJobOf({ suspend: true }, { active: activeOf('a') })),
    active: [],
    does: ['tell MissingJob'],
  },
  {
    name: 'a Job nobody listed is told of, and not listed',
    observed: worldOf(cronJobOf({ suspend: true }), [jobOf('a')]),
    active: [],
    does: ['tell UnexpectedJob'],
  },
  {
    name: 'a Job that is replaced is not listed any more',
    observed: worldOf(cronJobOf({ concurrencyPolicy: 'Replace' }, { active: activeOf('old') }), [jobOf('old')]),
    active: [nameAt('10:00')],
    does: ['delete old', `create ${nameAt('10:00')}`],
  },
  {
    name: 'a Job that was started and forgotten is listed',
    observed: worldOf(cronJobOf(), [jobOf(nameAt('10:00'))]),
    active: [nameAt('10:00')],
    does: ['tell UnexpectedJob'],
  },
];
for (const { name, observed, active, does } of lists) {
  test(name, () => {
    const outcome = outcomeOf(observed);
    assert.deepEqual([outcome.active, outcome.does], [active, does]);
  });
}

test('the last success is the latest', () => {
  const jobs = [
    jobOf('a', ended('Complete', undefined, '2026-01-01T05:00:00Z')),
    jobOf('b', ended('Complete', undefined, '2026-01-01T04:00:00Z')),
    jobOf('c', ended('Failed', undefined, '2026-01-01T06:00:00Z')),
  ];
  const lastOf = (status: CronJobStatus) =>
    outcomeOf(worldOf(cronJobOf({ suspend: true }, status), jobs)).status.lastSuccessfulTime;
  assert.equal(lastOf({}), '2026-01-01T05:00:00Z');
  assert.equal(lastOf({ lastSuccessfulTime: '2026-01-01T09:00:00Z' }), '2026-01-01T09:00:00Z');
});

test('Jobs are deleted together with their Pods, and without waiting for them', () => {
  const observed = worldOf(cronJobOf({ failedJobsHistoryLimit: 0, suspend: true }), [jobOf('a', ended('Failed'))]);
  const [action] = decide(observed, now).actions as RemoveAction[];
  assert.deepEqual(action?.options, { propagationPolicy: 'Background' });
  assert.equal(action?.announcement?.done?.message, 'Deleted job {name}');
});

const requeues = [
  { name: 'when the next is due', spec: {}, status: { lastScheduleTime: '2026-01-01T10:00:00Z' }, seconds: 3590.1 },
  { name: 'when the next is due after one was started', spec: {}, status: {}, seconds: 3590.1 },
  {
    name: 'at the pace of an interval',
    spec: { schedule: '@every 7m' },
    status: { lastScheduleTime: '2026-01-01T09:58:00Z' },
    seconds: 290.1,
  },
  { name: 'not at all while suspended', spec: { suspend: true }, status: {}, seconds: undefined },
];
for (const { name, spec, status, seconds } of requeues) {
  test(`a CronJob is looked at again ${name}`, () => {
    assert.equal(outcomeOf(worldOf(cronJobOf(spec, status))).requeueAfterSeconds, seconds);
  });
}

type Life = { cronJob: CronJob; jobs: readonly Job[]; at: number };

/** A look at the world: what is decided is done, and what was deleted is gone; killed half way, nothing is reported. */
function look({ cronJob, jobs, at }: Life, isKilled: boolean): Life {
  const { actions, status } = decide(worldOf(cronJob, jobs), at);
  const made = actions.filter((action) => action.type === 'create').map(({ object }) => object as Job);
  const gone = new Set(actions.flatMap((action) => (action.type === 'remove' ? [action.object.metadata.name] : [])));
  const started = made.map(({ metadata, ...rest }) => ({
    ...rest,
    metadata: { ...metadata, uid: metadata.name!, creationTimestamp: formatTime(at) },
    status: { startTime: formatTime(at) },
  }));
  for (const { metadata } of started)
    assert.ok(!jobs.some((each) => each.metadata.name === metadata.name), 'no Job is started twice');
  const left = [...jobs.filter(({ metadata }) => !gone.has(metadata.name)), ...started];
  if (isKilled) return { cronJob, jobs: left, at };
  const outcome = { failures: [], isStale: false, written: new Map(started.map((each) => [each.metadata.uid, each])) };
  const reported = typeof status === 'function' ? status(outcome) : status;
  return { cronJob: { ...cronJob, status: reported ?? {} }, jobs: left, at };
}

const isAtWork = ({ status }: Job) => !status?.conditions?.length;

test('however it is looked at, killed and left alone, no time has two Jobs, none run that must not, and no more are kept than asked for', () => {
  const step = fc.record({
    minutes: fc.integer({ min: 1, max: 200 }),
    ends: fc.constantFrom('Complete', 'Failed', undefined),
    isKilled: fc.boolean(),
  });
  const spec = fc.record({
    schedule: fc.constantFrom('* * * * *', '*/7 * * * *', '0 * * * *', '@every 90s'),
    concurrencyPolicy: fc.constantFrom('Allow', 'Forbid', 'Replace'),
    startingDeadlineSeconds: fc.constantFrom(undefined, 30, 600),
    successfulJobsHistoryLimit: fc.nat(3),
    failedJobsHistoryLimit: fc.nat(2),
  });
  fc.assert(
    fc.property(spec, fc.array(step, { maxLength: 30 }), ({ startingDeadlineSeconds, ...rest }, steps) => {
      const deadline = startingDeadlineSeconds === undefined ? {} : { startingDeadlineSeconds };
      let life: Life = { cronJob: cronJobOf({ ...rest, ...deadline }), jobs: [], at: now };
      for (const { minutes, ends, isKilled } of steps) {
        if (isKilled) life = look(life, true);
        life = look(life, false);
        // What was just done is not done again, and what is over is cleared away.
        life = look(life, false);
        const again = decide(worldOf(life.cronJob, life.jobs), life.at).actions;
        assert.deepEqual(
          inWords(again).filter((words) => words !== 'tell JobAlreadyActive' && words !== 'tell TooManyMissedTimes'),
          [],
        );
        if (rest.concurrencyPolicy !== 'Allow') assert.ok(life.jobs.filter(isAtWork).length <= 1, 'one at a time');
        const kept = (type: string) => life.jobs.filter(({ status }) => status?.conditions?.[0]?.type === type).length;
        assert.ok(kept('Complete') <= rest.successfulJobsHistoryLimit, 'too many that succeeded are kept');
        assert.ok(kept('Failed') <= rest.failedJobsHistoryLimit, 'too many that failed are kept');
        life = {
          ...life,
          at: life.at + minutes * 60_000,
          jobs: life.jobs.map((job) =>
            ends && isAtWork(job) ? { ...job, status: { ...job.status, ...ended(ends) } } : job,
          ),
        };
      }
    }),
  );
});
