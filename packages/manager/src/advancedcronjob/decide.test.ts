import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AdvancedCronJob, AdvancedCronJobSpec, AdvancedCronJobStatus } from '@kruise/api/kruise/advancedcronjob';
import { scheduledAtAnnotation } from '@kruise/api/kruise/well-known';
import { type CreateAction, flattenSteps, type RemoveAction } from '@kruise/client/actions';
import type { Outcome } from '@kruise/client/execute';
import { controllerReference } from '@kruise/machinery/owner-references';
import { timeZone, utc } from '@kruise/machinery/time-zone';
import { formatTime, parseTime } from '@kruise/values/time';
import { summarizeActions } from '@kruise/workload-kit/testing/summarize-actions';
import fc from 'fast-check';
import type { Child } from './children.ts';
import { decide, type Observed } from './decide.ts';

const now = parseTime('2026-01-01T10:00:10Z');
const at = (time: string) => parseTime(`2026-01-01T${time}:00Z`);
const nameAt = (time: string) => `cron-${at(time) / 1000}`;

const job = { jobTemplate: { metadata: { labels: { app: 'sum' } }, spec: { template: {} } } };
const broadcast = { broadcastJobTemplate: { spec: { template: {} } } };
const images = { imageListPullJobTemplate: { spec: { images: ['app:v1'], completionPolicy: {} } } };

function cronJobOf(spec: Partial<AdvancedCronJobSpec> = {}, status: AdvancedCronJobStatus = {}): AdvancedCronJob {
  return {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'AdvancedCronJob',
    metadata: { name: 'cron', namespace: 'default', uid: 'cron-uid', creationTimestamp: '2026-01-01T09:30:00Z' },
    spec: { schedule: '0 * * * *', template: job, ...spec },
    status,
  };
}

/** Builds a child with a scheduled time and a state. */
function childAt(time: string, state: 'active' | 'Complete' | 'Failed' = 'active', kind = 'Job'): Child {
  const conditions = state === 'active' ? [] : [{ type: state, status: 'True' as const }];
  return {
    apiVersion: kind === 'Job' ? 'batch/v1' : 'apps.kruise.io/v1beta1',
    kind,
    metadata: {
      name: nameAt(time),
      namespace: 'default',
      uid: time,
      annotations: { [scheduledAtAnnotation]: formatTime(at(time)) },
      ownerReferences: [controllerReference(cronJobOf())],
    },
    status: { conditions, startTime: formatTime(at(time)) },
  } as Child;
}

function pulledAt(time: string, succeeded: number): Child {
  const { metadata } = childAt(time);
  const status = { startTime: formatTime(at(time)), completionTime: formatTime(at(time)), desired: 2, succeeded };
  return {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'ImageListPullJob',
    metadata,
    spec: images.imageListPullJobTemplate.spec,
    status,
  } as unknown as Child;
}

function worldOf(cronJob: AdvancedCronJob, children: readonly Child[] = [], more: Partial<Observed> = {}): Observed {
  const find = (name: string) => children.find(({ metadata }) => metadata.name === name);
  return { cronJob, children, find, localZone: utc, ...more };
}

function decided(observed: Observed, failures: Outcome['failures'] = []) {
  const { actions, status, requeueAfterSeconds } = decide(observed, now);
  const outcome: Outcome = { failures, isStale: false, written: new Map() };
  const result = (typeof status === 'function' ? status(outcome) : status) as AdvancedCronJobStatus;
  return { does: summarizeActions(actions), actions, status: result, requeueAfterSeconds };
}

const last = { lastScheduleTime: '2026-01-01T09:00:00Z' };

const cases: readonly (readonly [is: string, observed: Observed, does: readonly string[]])[] = [
  ['creates a job when it is due', worldOf(cronJobOf()), [`create ${nameAt('10:00')}`]],
  ['creates no job before it is due', worldOf(cronJobOf({ schedule: '30 10 * * *' })), []],
  ['creates no job twice', worldOf(cronJobOf(), [childAt('10:00')]), []],
  ['does not create a deleted job again', worldOf(cronJobOf({}, { lastScheduleTime: formatTime(at('10:00')) })), []],
  [
    'creates one job for the last of many missed times',
    worldOf(cronJobOf({ schedule: '* * * * *' }, { lastScheduleTime: '2025-01-01T00:00:00Z' })),
    [`create ${nameAt('10:00')}`],
  ],
  ['creates no job past the starting deadline', worldOf(cronJobOf({ startingDeadlineSeconds: 9 })), []],
  [
    'creates a job just within the starting deadline',
    worldOf(cronJobOf({ startingDeadlineSeconds: 11 })),
    [`create ${nameAt('10:00')}`],
  ],
  ['creates no job while paused', worldOf(cronJobOf({ paused: true })), []],
  [
    'creates a job beside the active one',
    worldOf(cronJobOf({}, last), [childAt('09:00')]),
    [`create ${nameAt('10:00')}`],
  ],
  [
    'creates no job beside the active one with Forbid',
    worldOf(cronJobOf({ concurrencyPolicy: 'Forbid' }, last), [childAt('09:00')]),
    [],
  ],
  [
    'creates a job with Forbid once the last one has finished',
    worldOf(cronJobOf({ concurrencyPolicy: 'Forbid' }, last), [childAt('09:00', 'Complete')]),
    [`create ${nameAt('10:00')}`],
  ],
  [
    'replaces the active job with Replace',
    worldOf(cronJobOf({ concurrencyPolicy: 'Replace' }, last), [childAt('09:00')]),
    [`delete ${nameAt('09:00')}`, `create ${nameAt('10:00')}`],
  ],
  ['creates no job whose name exists', worldOf(cronJobOf(), [], { find: () => childAt('10:00') }), []],
  ['does nothing with an invalid schedule', worldOf(cronJobOf({ schedule: 'often' })), []],
  ['does nothing with a schedule that never matches', worldOf(cronJobOf({ schedule: '0 0 31 2 *' })), []],
  [
    'evaluates the schedule in its time zone',
    worldOf(cronJobOf({ schedule: '0 11 * * *', timeZone: 'Europe/Berlin' })),
    [`create ${nameAt('10:00')}`],
  ],
  [
    'evaluates the schedule in the local time zone if it has none',
    worldOf(cronJobOf({ schedule: '0 11 * * *' }), [], { localZone: timeZone('Europe/Berlin') }),
    [`create ${nameAt('10:00')}`],
  ],
  [
    'evaluates the time zone in the schedule',
    worldOf(cronJobOf({ schedule: 'TZ=Europe/Berlin 0 11 * * *' })),
    [`create ${nameAt('10:00')}`],
  ],
  ['ignores an unknown time zone', worldOf(cronJobOf({ timeZone: 'Mars/Olympus' })), [`create ${nameAt('10:00')}`]],
  [
    'prunes finished jobs beyond the history limit, failed jobs first, the oldest first',
    worldOf(cronJobOf({ paused: true, successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 }), [
      childAt('03:00', 'Complete'),
      childAt('01:00', 'Complete'),
      childAt('04:00', 'Failed'),
      childAt('02:00', 'Complete'),
    ]),
    ['04:00', '01:00', '02:00'].map((time) => `delete ${nameAt(time)}`),
  ],
  [
    'distinguishes succeeded ImageListPullJobs from failed ones',
    worldOf(cronJobOf({ paused: true, successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 1 }), [
      pulledAt('01:00', 2),
      pulledAt('02:00', 1),
    ]),
    [`delete ${nameAt('01:00')}`],
  ],
];
for (const [is, observed, does] of cases) {
  test(`an AdvancedCronJob ${is}`, () => assert.deepEqual(decided(observed).does, does));
}

test('a child has the content of its template and its scheduled time', () => {
  const { actions } = decided(worldOf(cronJobOf(), [], { localZone: timeZone('Europe/Berlin') }));
  const { object } = actions[0] as CreateAction;
  assert.deepEqual(object.metadata.labels, { app: 'sum' });
  assert.deepEqual(object.metadata.annotations, { [scheduledAtAnnotation]: '2026-01-01T11:00:00+01:00' });
  assert.deepEqual(object.metadata.ownerReferences, [controllerReference(cronJobOf())]);
});

test('a child has the kind of its template', () => {
  const kindsOf = (template: AdvancedCronJobSpec['template']) => {
    const { actions, status } = decided(worldOf(cronJobOf({ template })));
    const { apiVersion, kind } = (actions[0] as CreateAction).object;
    return [status.type, apiVersion, kind];
  };
  assert.deepEqual(kindsOf(job), ['Job', 'batch/v1', 'Job']);
  assert.deepEqual(kindsOf(broadcast), ['BroadcastJob', 'apps.kruise.io/v1beta1', 'BroadcastJob']);
  assert.deepEqual(kindsOf(images), ['ImageListPullJob', 'apps.kruise.io/v1beta1', 'ImageListPullJob']);
});

test('the status reports active children and the last schedule time', () => {
  const { status } = decided(worldOf(cronJobOf({ paused: true }), [childAt('08:00', 'Complete'), childAt('09:00')]));
  assert.deepEqual(
    status.active?.map(({ name }) => name),
    [nameAt('09:00')],
  );
  assert.equal(status.lastScheduleTime, '2026-01-01T09:00:00Z');
  assert.equal(decided(worldOf(cronJobOf())).status.lastScheduleTime, '2026-01-01T10:00:00Z');
});

test('a failed creation is retried', () => {
  const observed = worldOf(cronJobOf());
  const [action] = flattenSteps(decide(observed, now).actions);
  assert.equal(decided(observed, [{ action: action!, error: 'no' }]).status.lastScheduleTime, undefined);
});

test('the deletion of a child cascades to its dependents', () => {
  const observed = worldOf(cronJobOf({ concurrencyPolicy: 'Replace' }, last), [childAt('09:00')]);
  assert.deepEqual((decided(observed).actions[0] as RemoveAction).options, { propagationPolicy: 'Background' });
});

test('an AdvancedCronJob is requeued for the next scheduled time', () => {
  assert.equal(decided(worldOf(cronJobOf({}, last), [childAt('09:00')])).requeueAfterSeconds, 3590);
  assert.equal(decided(worldOf(cronJobOf({ paused: true }))).requeueAfterSeconds, undefined);
});

test('no job is created twice for one time, even if status or children are lost', () => {
  const looks = fc.array(
    fc.record({ minutes: fc.integer({ min: 0, max: 7 }), loses: fc.boolean(), isKilled: fc.boolean() }),
  );
  fc.assert(
    fc.property(looks, (steps) => {
      let cronJob = cronJobOf({ schedule: '*/5 * * * *' });
      let children: readonly Child[] = [];
      let time = at('09:30');
      const started = new Set<string>();
      for (const { minutes, loses, isKilled } of steps) {
        time += minutes * 60_000 + 1000;
        const { actions, status } = decide(worldOf(cronJob, children), time);
        const made = actions.flatMap((action) => (action.type === 'create' ? [action.object as Child] : []));
        for (const { metadata } of made) {
          assert.ok(!started.has(metadata.name!), `${metadata.name} is created twice`);
          started.add(metadata.name!);
        }
        children = [...children, ...made];
        if (isKilled) continue;
        const outcome: Outcome = { failures: [], isStale: false, written: new Map() };
        cronJob = { ...cronJob, status: (typeof status === 'function' ? status(outcome) : status) ?? {} };
        if (loses) children = [];
      }
    }),
  );
});
