import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CronJob, CronJobSpec, CronJobStatus } from '@kruise/api/batch/cronjob';
import type { Job, JobStatus } from '@kruise/api/batch/job';
import { type CreateAction, flattenSteps, type RemoveAction } from '@kruise/client/actions';
import type { Outcome } from '@kruise/client/execute';
import { controllerReference } from '@kruise/machinery/owner-references';
import { formatTime, parseTime } from '@kruise/values/time';
import { summarizeActions } from '@kruise/workload-kit/testing/summarize-actions';
import fc from 'fast-check';
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

/** Returns the result of a decision whose actions succeed, except for the given failures. */
function outcomeOf(observed: Observed, failures: Outcome['failures'] = []) {
  const { actions, status, requeueAfterSeconds } = decide(observed, now);
  const made = flattenSteps(actions)
    .filter((action) => action.type === 'create')
    .map(({ object }) => ({ ...object, metadata: { ...object.metadata, uid: 'new' } }));
  const outcome: Outcome = {
    failures,
    isStale: false,
    written: failures.length > 0 ? new Map() : new Map(made.map((each) => ['new', each])),
  };
  return {
    actions,
    does: summarizeActions(actions),
    status: (typeof status === 'function' ? status(outcome) : status) as CronJobStatus,
    active: ((typeof status === 'function' ? status(outcome) : status) as CronJobStatus).active?.map(
      ({ name }) => name,
    ),
    requeueAfterSeconds,
  };
}

const starts: readonly { readonly name: string; readonly observed: Observed; readonly does: readonly string[] }[] = [
  { name: 'creates a Job when a run is due', observed: worldOf(cronJobOf()), does: [`create ${nameAt('10:00')}`] },
  { name: 'creates no Job before a run is due', observed: worldOf(cronJobOf({ schedule: '30 10 * * *' })), does: [] },
  {
    name: 'creates no Job twice',
    observed: worldOf(cronJobOf({}, { lastScheduleTime: '2026-01-01T10:00:00Z' })),
    does: [],
  },
  {
    name: 'creates one Job for the last of three missed runs',
    observed: worldOf(cronJobOf({}, { lastScheduleTime: '2026-01-01T07:00:00Z' })),
    does: [`create ${nameAt('10:00')}`],
  },
  {
    name: 'creates one Job for many missed runs, with a warning',
    observed: worldOf(cronJobOf({ schedule: '* * * * *' }, { lastScheduleTime: '2025-01-01T00:00:00Z' })),
    does: ['record TooManyMissedTimes', `create ${nameAt('10:00')}`],
  },
  {
    name: 'emits no warning for a hundred missed runs',
    observed: worldOf(cronJobOf({ schedule: '* * * * *' }, { lastScheduleTime: '2026-01-01T08:20:00Z' })),
    does: [`create ${nameAt('10:00')}`],
  },
  {
    name: 'ignores missed runs before the starting deadline',
    observed: worldOf(
      cronJobOf({ schedule: '* * * * *', startingDeadlineSeconds: 60 }, { lastScheduleTime: '2025-01-01T00:00:00Z' }),
    ),
    does: [`create ${nameAt('10:00')}`],
  },
  {
    name: 'skips a run after its starting deadline',
    observed: worldOf(cronJobOf({ startingDeadlineSeconds: 9 })),
    does: [],
  },
  { name: 'creates no Job while suspended', observed: worldOf(cronJobOf({ suspend: true })), does: [] },
  {
    name: 'creates no Job while terminating',
    observed: worldOf({ ...cronJobOf(), metadata: { ...cronJobOf().metadata, deletionTimestamp: formatTime(now) } }),
    does: [],
  },
  {
    name: 'creates a Job beside an active one by default',
    observed: worldOf(cronJobOf({}, { active: activeOf('old') }), [jobOf('old')]),
    does: [`create ${nameAt('10:00')}`],
  },
  {
    name: 'creates no Job beside an active one with Forbid',
    observed: worldOf(cronJobOf({ concurrencyPolicy: 'Forbid' }, { active: activeOf('old') }), [jobOf('old')]),
    does: ['record JobAlreadyActive'],
  },
  {
    name: 'creates a Job with Forbid once the last one has finished',
    observed: worldOf(cronJobOf({ concurrencyPolicy: 'Forbid' }, { active: activeOf('old') }), [
      jobOf('old', ended('Complete')),
    ]),
    does: ['record SawCompletedJob', `create ${nameAt('10:00')}`],
  },
  {
    name: 'replaces the active Job with Replace',
    observed: worldOf(cronJobOf({ concurrencyPolicy: 'Replace' }, { active: activeOf('old') }), [jobOf('old')]),
    does: ['delete old', `create ${nameAt('10:00')}`],
  },
  {
    name: 'lists a Job that it created but did not record',
    observed: worldOf(cronJobOf(), [jobOf(nameAt('10:00'))]),
    does: ['record UnexpectedJob'],
  },
  {
    name: 'creates no Job if its name is taken',
    observed: worldOf(cronJobOf(), [], [jobOf(nameAt('10:00'), {}, { ownerReferences: [] })]),
    does: [],
  },
  {
    name: 'warns about an invalid schedule',
    observed: worldOf(cronJobOf({ schedule: 'often' })),
    does: ['record UnparseableSchedule'],
  },
  {
    name: 'warns about a schedule without runs',
    observed: worldOf(cronJobOf({ schedule: '59 23 31 2 *' })),
    does: ['record InvalidSchedule'],
  },
  {
    name: 'warns about an unknown time zone',
    observed: worldOf(cronJobOf({ timeZone: 'Mars/Olympus' })),
    does: ['record UnknownTimeZone'],
  },
  {
    name: 'warns about a time zone in the schedule, and uses it',
    observed: worldOf(cronJobOf({ schedule: 'TZ=Europe/Berlin 0 11 * * *' })),
    does: ['record UnsupportedSchedule', `create ${nameAt('10:00')}`],
  },
  {
    name: 'evaluates the schedule in its time zone',
    observed: worldOf(cronJobOf({ schedule: '0 11 * * *', timeZone: 'Europe/Berlin' })),
    does: [`create ${nameAt('10:00')}`],
  },
  {
    name: 'deletes Jobs above the history limits, oldest first',
    observed: worldOf(cronJobOf({ suspend: true, successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 }), [
      jobOf('c', ended('Complete', '2026-01-01T03:00:00Z')),
      jobOf('a', ended('Complete', '2026-01-01T01:00:00Z')),
      jobOf('b', ended('Complete', '2026-01-01T02:00:00Z')),
      jobOf('d', ended('Failed', '2026-01-01T04:00:00Z')),
    ]),
    does: ['delete a', 'delete b', 'delete d'],
  },
  {
    name: 'deletes each Job once',
    observed: worldOf(cronJobOf({ suspend: true, failedJobsHistoryLimit: 0 }), [
      jobOf('a', ended('Failed'), { deletionTimestamp: formatTime(now) }),
    ]),
    does: [],
  },
];
for (const { name, observed, does } of starts) {
  test(`a CronJob ${name}`, () => assert.deepEqual(outcomeOf(observed).does, does));
}

test('warnings have the event messages of Kubernetes', () => {
  const warningFor = (spec: Partial<CronJobSpec>) => {
    const { actions } = decide(worldOf(cronJobOf(spec)), now);
    return actions.flatMap((action) => (action.type === 'record' ? [action.event.message] : []))[0];
  };
  assert.equal(
    warningFor({ timeZone: 'Mars/Olympus' }),
    'invalid timeZone: "Mars/Olympus": unknown time zone Mars/Olympus',
  );
  assert.equal(
    warningFor({ schedule: '* *' }),
    'unparseable schedule: "* *" : expected exactly 5 fields, found 2: [* *]',
  );
  assert.equal(
    warningFor({ schedule: '59 23 31 2 *' }),
    'invalid schedule: 59 23 31 2 * : time difference between two schedules is less than 1 second',
  );
});

test('a Job has its template and the scheduled time', () => {
  const { actions } = outcomeOf(worldOf(cronJobOf({ timeZone: 'Europe/Berlin' })));
  const { object, outcomeEvents } = actions[0] as CreateAction;
  assert.deepEqual(object.metadata.labels, { app: 'sum' });
  assert.deepEqual(object.metadata.annotations, {
    'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-01-01T11:00:00+01:00',
  });
  assert.equal(object.metadata.ownerReferences?.[0]?.name, 'sum');
  assert.equal(outcomeEvents?.done?.message, 'Created job {name}');
  assert.equal(outcomeEvents?.failed?.message, 'Error creating job: {error}');
});

test('a created Job is listed as active', () => {
  const { status } = outcomeOf(worldOf(cronJobOf()));
  assert.equal(status.lastScheduleTime, '2026-01-01T10:00:00Z');
  assert.deepEqual(
    status.active?.map(({ kind, name, namespace, uid }) => ({ kind, name, namespace, uid })),
    [{ kind: 'Job', name: nameAt('10:00'), namespace: 'default', uid: 'new' }],
  );
});

test('a Job that could not be created is not listed, and is retried', () => {
  const observed = worldOf(cronJobOf({ concurrencyPolicy: 'Replace' }, { active: activeOf('old') }), [jobOf('old')]);
  const [action] = flattenSteps(decide(observed, now).actions);
  const { status, active } = outcomeOf(observed, [{ action: action!, error: 'no' }]);
  assert.deepEqual([status.lastScheduleTime, active], [undefined, ['old']]);
});

const lists: readonly {
  readonly name: string;
  readonly observed: Observed;
  readonly active: readonly string[];
  readonly does: readonly string[];
}[] = [
  {
    name: 'an active Job stays listed',
    observed: worldOf(cronJobOf({ suspend: true }, { active: activeOf('a') }), [jobOf('a')]),
    active: ['a'],
    does: [],
  },
  {
    name: 'a finished Job is no longer listed',
    observed: worldOf(cronJobOf({ suspend: true }, { active: activeOf('a', 'b') }), [
      jobOf('a', ended('Failed')),
      jobOf('b'),
    ]),
    active: ['b'],
    does: ['record SawCompletedJob'],
  },
  {
    name: 'a deleted Job is no longer listed',
    observed: worldOf(cronJobOf({ suspend: true }, { active: activeOf('a') })),
    active: [],
    does: ['record MissingJob'],
  },
  {
    name: 'an unlisted Job gets an event, and is not listed',
    observed: worldOf(cronJobOf({ suspend: true }), [jobOf('a')]),
    active: [],
    does: ['record UnexpectedJob'],
  },
  {
    name: 'a replaced Job is no longer listed',
    observed: worldOf(cronJobOf({ concurrencyPolicy: 'Replace' }, { active: activeOf('old') }), [jobOf('old')]),
    active: [nameAt('10:00')],
    does: ['delete old', `create ${nameAt('10:00')}`],
  },
  {
    name: 'a created but unrecorded Job is listed',
    observed: worldOf(cronJobOf(), [jobOf(nameAt('10:00'))]),
    active: [nameAt('10:00')],
    does: ['record UnexpectedJob'],
  },
];
for (const { name, observed, active, does } of lists) {
  test(name, () => {
    const outcome = outcomeOf(observed);
    assert.deepEqual([outcome.active, outcome.does], [active, does]);
  });
}

test('the last successful time is the latest completion', () => {
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

test('Jobs are deleted with background propagation', () => {
  const observed = worldOf(cronJobOf({ failedJobsHistoryLimit: 0, suspend: true }), [jobOf('a', ended('Failed'))]);
  const [action] = decide(observed, now).actions as RemoveAction[];
  assert.deepEqual(action?.options, { propagationPolicy: 'Background' });
  assert.equal(action?.outcomeEvents?.done?.message, 'Deleted job {name}');
});

const requeues = [
  { name: 'when the next run is due', spec: {}, status: { lastScheduleTime: '2026-01-01T10:00:00Z' }, seconds: 3590.1 },
  { name: 'when the next run is due after a Job was created', spec: {}, status: {}, seconds: 3590.1 },
  {
    name: 'in the phase of an interval',
    spec: { schedule: '@every 7m' },
    status: { lastScheduleTime: '2026-01-01T09:58:00Z' },
    seconds: 290.1,
  },
  { name: 'not at all while suspended', spec: { suspend: true }, status: {}, seconds: undefined },
];
for (const { name, spec, status, seconds } of requeues) {
  test(`a CronJob is requeued ${name}`, () => {
    assert.equal(outcomeOf(worldOf(cronJobOf(spec, status))).requeueAfterSeconds, seconds);
  });
}

type Life = { cronJob: CronJob; jobs: readonly Job[]; at: number };

/** Reconciles once: executes the decision and completes deletions. A killed reconcile reports no status. */
function reconcile({ cronJob, jobs, at }: Life, isKilled: boolean): Life {
  const { actions: steps, status } = decide(worldOf(cronJob, jobs), at);
  const actions = flattenSteps(steps);
  const made = actions.filter((action) => action.type === 'create').map(({ object }) => object as Job);
  const gone = new Set(actions.flatMap((action) => (action.type === 'remove' ? [action.object.metadata.name] : [])));
  const started = made.map(({ metadata, ...rest }) => ({
    ...rest,
    metadata: { ...metadata, uid: metadata.name!, creationTimestamp: formatTime(at) },
    status: { startTime: formatTime(at) },
  }));
  for (const { metadata } of started)
    assert.ok(!jobs.some((each) => each.metadata.name === metadata.name), 'no Job is created twice');
  const left = [...jobs.filter(({ metadata }) => !gone.has(metadata.name)), ...started];
  if (isKilled) return { cronJob, jobs: left, at };
  const outcome = { failures: [], isStale: false, written: new Map(started.map((each) => [each.metadata.uid, each])) };
  const reported = typeof status === 'function' ? status(outcome) : status;
  return { cronJob: { ...cronJob, status: reported ?? {} }, jobs: left, at };
}

const isActive = ({ status }: Job) => !status?.conditions?.length;

test('with arbitrary reconciles, crashes and pauses, no run has two Jobs, concurrency policy holds, and history limits hold', () => {
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
        if (isKilled) life = reconcile(life, true);
        life = reconcile(life, false);
        // A second reconcile repeats nothing, and deletes finished Jobs above the limits.
        life = reconcile(life, false);
        const again = decide(worldOf(life.cronJob, life.jobs), life.at).actions;
        assert.deepEqual(
          summarizeActions(again).filter(
            (words) => words !== 'record JobAlreadyActive' && words !== 'record TooManyMissedTimes',
          ),
          [],
        );
        if (rest.concurrencyPolicy !== 'Allow') assert.ok(life.jobs.filter(isActive).length <= 1, 'one at a time');
        const kept = (type: string) => life.jobs.filter(({ status }) => status?.conditions?.[0]?.type === type).length;
        assert.ok(kept('Complete') <= rest.successfulJobsHistoryLimit, 'the successful history limit holds');
        assert.ok(kept('Failed') <= rest.failedJobsHistoryLimit, 'the failed history limit holds');
        life = {
          ...life,
          at: life.at + minutes * 60_000,
          jobs: life.jobs.map((job) =>
            ends && isActive(job) ? { ...job, status: { ...job.status, ...ended(ends) } } : job,
          ),
        };
      }
    }),
  );
});
