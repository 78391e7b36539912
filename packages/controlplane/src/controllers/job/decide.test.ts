import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Job, JobSpec, JobStatus } from '@kruise/api/batch/job';
import type { Pod } from '@kruise/api/core/pod';
import { type CreateAction, flattenSteps, type PatchAction, type UpdateAction } from '@kruise/client/actions';
import type { Outcome } from '@kruise/client/execute';
import { findCondition } from '@kruise/machinery/conditions';
import { formatTime } from '@kruise/values/time';
import { countActions } from '@kruise/workload-kit/testing/summarize-actions';
import { decide } from './decide.ts';
import { jobOf, now, podOf, type Shape, secondsAgo } from './fixtures.ts';
import { trackingFinalizer } from './job-pods.ts';

const clean: Outcome = { failures: [], isStale: false, written: new Map() };

function outcomeOf(job: Job, pods: readonly Pod[], outcome: Outcome = clean) {
  const { actions: steps, status, events = [], requeueAfterSeconds } = decide({ job, pods }, now);
  const actions = flattenSteps(steps);
  return {
    actions,
    does: countActions(actions),
    status: (typeof status === 'function' ? status(outcome) : status) as JobStatus,
    events: [...actions.flatMap((action) => (action.type === 'record' ? [action.event] : [])), ...events].map(
      ({ type, reason, message }) => `${type} ${reason}: ${message}`,
    ),
    requeueAfterSeconds,
  };
}
const conditionsOf = ({ conditions = [] }: JobStatus) =>
  conditions.map(({ type, status, reason }) => (status === 'True' ? `${type} ${reason}` : `not ${type} ${reason}`));

const running = (count: number, shape: Shape = {}) =>
  Array.from({ length: count }, (_, index) => podOf(`run-${index}`, shape));
const ended = (phase: 'Failed' | 'Succeeded', count: number, shape: Shape = {}) =>
  Array.from({ length: count }, (_, index) => podOf(`${phase.toLowerCase()}-${index}`, { phase, ...shape }));

type Case = { readonly name: string; readonly job: Job; readonly pods: readonly Pod[]; readonly does: string };

const counted = { isTracked: false };
const indexed = (spec: Partial<JobSpec> = {}, status?: JobStatus) =>
  jobOf({ completionMode: 'Indexed', completions: 3, parallelism: 3, ...spec }, status);
const at = (index: number, shape: Shape = {}) => podOf(`at-${index}-${shape.phase ?? 'Running'}`, { index, ...shape });

const work: readonly Case[] = [
  { name: 'creates a Pod', job: jobOf(), pods: [], does: 'create sum-' },
  {
    name: 'creates at most its parallelism',
    job: jobOf({ parallelism: 2, completions: 5 }),
    pods: running(1),
    does: 'create sum-',
  },
  {
    name: 'creates at most the remaining completions',
    job: jobOf({ parallelism: 5, completions: 5 }, { succeeded: 3 }),
    pods: [],
    does: 'create sum- ×2',
  },
  { name: 'creates no Pod with zero parallelism', job: jobOf({ parallelism: 0 }), pods: [], does: '' },
  {
    name: 'creates at most 500 Pods per reconcile',
    job: jobOf({ parallelism: 600, completions: 600 }),
    pods: [],
    does: 'create sum- ×500',
  },
  {
    name: 'without completions, keeps its parallelism',
    job: { ...jobOf(), spec: withoutCompletions(jobOf({ parallelism: 2 }).spec!) },
    pods: running(1),
    does: 'create sum-',
  },
  {
    name: 'without completions, creates none after the first success',
    job: { ...jobOf(), spec: withoutCompletions(jobOf({ parallelism: 3 }).spec!) },
    pods: [...running(1), ...ended('Succeeded', 1)],
    does: 'update sum, patch succeeded-0',
  },
  {
    name: 'deletes surplus Pods, which are not counted',
    job: jobOf({ parallelism: 1, completions: 5 }),
    pods: [podOf('busy'), podOf('idle', { phase: 'Pending' })],
    does: 'patch idle, delete idle',
  },
  {
    name: 'replaces a terminating Pod at once',
    job: jobOf(),
    pods: [podOf('a', { isTerminating: true })],
    does: 'update sum, patch a, create sum-',
  },
  {
    name: 'replaces a terminating Pod once it has failed, with the Failed replacement policy',
    job: jobOf({ podReplacementPolicy: 'Failed' }),
    pods: [podOf('a', { isTerminating: true })],
    does: '',
  },
  {
    name: 'deletes all Pods while suspended',
    job: jobOf({ suspend: true, parallelism: 2, completions: 2 }),
    pods: running(2),
    does: 'record Suspended, patch run-0, patch run-1, delete run-0, delete run-1',
  },
  { name: 'creates none while suspended', job: jobOf({ suspend: true }), pods: [], does: 'record Suspended' },
  {
    name: 'does nothing if another controller manages it',
    job: jobOf({ managedBy: 'example.com/queue' }),
    pods: [],
    does: '',
  },
  {
    name: 'does nothing when finished',
    job: jobOf({}, { conditions: [{ type: 'Complete', status: 'True' }] }),
    pods: running(1),
    does: '',
  },
  {
    name: 'releases all Pods when it is deleted, and creates none',
    job: {
      ...jobOf({ parallelism: 3, completions: 3 }),
      metadata: { ...jobOf().metadata, deletionTimestamp: secondsAgo(1) },
    },
    pods: running(2),
    does: 'patch run-0, patch run-1',
  },
  {
    name: 'creates Pods for the lowest missing indexes',
    job: indexed({ completions: 5, parallelism: 2 }, { completedIndexes: '1' }),
    pods: [],
    does: 'create sum-0-, create sum-2-',
  },
  {
    name: 'has one Pod per index',
    job: indexed({ parallelism: 2 }),
    pods: [at(0), podOf('again', { index: 0, phase: 'Pending' })],
    does: 'patch again, delete again',
  },
  {
    name: 'deletes Pods without a valid index',
    job: indexed(),
    pods: [at(0), podOf('none'), at(7)],
    does: 'patch none, patch at-7-Running, delete none, delete at-7-Running',
  },
  {
    name: 'does not reuse the index of a terminating Pod, with the Failed replacement policy',
    job: indexed({ podReplacementPolicy: 'Failed', parallelism: 2 }),
    pods: [at(0, { isTerminating: true })],
    does: 'create sum-1-',
  },
];
for (const { name, job, pods, does } of work) {
  test(name, () => assert.equal(outcomeOf(job, pods).does, does));
}

function withoutCompletions({ completions: _, ...spec }: JobSpec): JobSpec {
  return spec;
}

const waits: readonly { readonly name: string; readonly pods: readonly Pod[]; readonly seconds: number | undefined }[] =
  [
    { name: 'none failed', pods: [], seconds: undefined },
    { name: 'one failed just now', pods: ended('Failed', 1, { ...counted, finishedSecondsAgo: 0 }), seconds: 10 },
    { name: 'one failed a while ago', pods: ended('Failed', 1, { ...counted, finishedSecondsAgo: 4 }), seconds: 6 },
    {
      name: 'one failed long ago',
      pods: ended('Failed', 1, { ...counted, finishedSecondsAgo: 10 }),
      seconds: undefined,
    },
    { name: 'two failed', pods: ended('Failed', 2, { ...counted, finishedSecondsAgo: 0 }), seconds: 20 },
    { name: 'four failed', pods: ended('Failed', 4, { ...counted, finishedSecondsAgo: 0 }), seconds: 80 },
    { name: 'very many failed', pods: ended('Failed', 40, { ...counted, finishedSecondsAgo: 0 }), seconds: 600 },
    {
      name: 'failures are followed by a success',
      pods: [
        ...ended('Failed', 3, { ...counted, finishedSecondsAgo: 5 }),
        ...ended('Succeeded', 1, { ...counted, finishedSecondsAgo: 4 }),
      ],
      seconds: undefined,
    },
    {
      name: 'a success is followed by a failure',
      pods: [
        ...ended('Failed', 1, { ...counted, finishedSecondsAgo: 2 }),
        ...ended('Succeeded', 1, { ...counted, finishedSecondsAgo: 4 }),
      ],
      seconds: 8,
    },
  ];
for (const { name, pods, seconds } of waits) {
  test(`a Pod is created ${seconds === undefined ? 'at once' : `after ${seconds} s`} if ${name}`, () => {
    const job = jobOf({ completions: 9, backoffLimit: 100 }, { startTime: secondsAgo(3600), failed: pods.length });
    const { does, requeueAfterSeconds } = outcomeOf(job, pods);
    assert.deepEqual([does, requeueAfterSeconds], [seconds === undefined ? 'create sum-' : '', seconds]);
  });
}

type End = {
  readonly name: string;
  readonly job: Job;
  readonly pods: readonly Pod[];
  readonly conditions: readonly string[];
  readonly events?: readonly string[];
};
const failing = { type: 'FailureTarget', status: 'True', reason: 'BackoffLimitExceeded', message: 'x' };
const succeeding = { type: 'SuccessCriteriaMet', status: 'True', reason: 'SuccessPolicy', message: 'x' };
const exit = (
  action: 'FailJob' | 'Ignore' | 'Count' | 'FailIndex',
  values: readonly number[],
  operator: 'In' | 'NotIn' = 'In',
) => ({
  action,
  onExitCodes: { operator, values },
});
const ends: readonly End[] = [
  {
    name: 'is complete once enough Pods have succeeded',
    job: jobOf(),
    pods: ended('Succeeded', 1),
    conditions: ['SuccessCriteriaMet CompletionsReached', 'Complete CompletionsReached'],
    events: ['Normal Completed: Job completed'],
  },
  {
    name: 'is active until enough Pods have succeeded',
    job: jobOf({ completions: 2 }),
    pods: ended('Succeeded', 1),
    conditions: [],
  },
  {
    name: 'reports SuccessCriteriaMet while surplus Pods are terminating',
    job: jobOf({ completions: 1 }),
    pods: [...ended('Succeeded', 1), ...running(1)],
    conditions: ['SuccessCriteriaMet CompletionsReached'],
    events: [],
  },
  {
    name: 'is complete at once with zero completions',
    job: jobOf({ completions: 0 }),
    pods: [],
    conditions: ['SuccessCriteriaMet CompletionsReached', 'Complete CompletionsReached'],
  },
  {
    name: 'reports if more Pods have succeeded than needed',
    job: jobOf(),
    pods: ended('Succeeded', 2),
    conditions: ['SuccessCriteriaMet CompletionsReached', 'Complete CompletionsReached'],
    events: [
      'Warning TooManySucceededPods: Too many succeeded pods running after completion count reached',
      'Normal Completed: Job completed',
    ],
  },
  {
    name: 'without completions, is complete once one Pod has succeeded and none is active',
    job: { ...jobOf(), spec: withoutCompletions(jobOf({ parallelism: 3 }).spec!) },
    pods: ended('Succeeded', 1),
    conditions: ['SuccessCriteriaMet CompletionsReached', 'Complete CompletionsReached'],
  },
  {
    name: 'without completions, is not complete while a Pod is active',
    job: { ...jobOf(), spec: withoutCompletions(jobOf({ parallelism: 3 }).spec!) },
    pods: [...ended('Succeeded', 1), ...running(1)],
    conditions: [],
  },
  {
    name: 'fails above its backoff limit',
    job: jobOf({ backoffLimit: 2 }),
    pods: ended('Failed', 3),
    conditions: ['FailureTarget BackoffLimitExceeded', 'Failed BackoffLimitExceeded'],
    events: ['Warning BackoffLimitExceeded: Job has reached the specified backoff limit'],
  },
  {
    name: 'tolerates as many failures as its backoff limit',
    job: jobOf({ backoffLimit: 2 }),
    pods: ended('Failed', 2),
    conditions: [],
  },
  {
    name: 'counts earlier failures',
    job: jobOf({ backoffLimit: 2 }, { startTime: secondsAgo(60), failed: 2 }),
    pods: ended('Failed', 1),
    conditions: ['FailureTarget BackoffLimitExceeded', 'Failed BackoffLimitExceeded'],
  },
  {
    name: 'counts restarts with restartPolicy OnFailure',
    job: restarting(jobOf({ backoffLimit: 2 })),
    pods: running(1, { restarts: 2 }),
    conditions: ['FailureTarget BackoffLimitExceeded'],
  },
  {
    name: 'tolerates fewer restarts',
    job: restarting(jobOf({ backoffLimit: 2 })),
    pods: running(1, { restarts: 1 }),
    conditions: [],
  },
  {
    name: 'tolerates no restart with a limit of zero',
    job: restarting(jobOf({ backoffLimit: 0 })),
    pods: running(1, { restarts: 1 }),
    conditions: ['FailureTarget BackoffLimitExceeded'],
  },
  {
    name: 'does not treat zero restarts as exceeding a limit of zero',
    job: restarting(jobOf({ backoffLimit: 0 })),
    pods: running(1),
    conditions: [],
  },
  {
    name: 'fails after its active deadline',
    job: jobOf({ activeDeadlineSeconds: 3600 }),
    pods: [],
    conditions: ['FailureTarget DeadlineExceeded', 'Failed DeadlineExceeded'],
    events: ['Warning DeadlineExceeded: Job was active longer than specified deadline'],
  },
  { name: 'runs until its active deadline', job: jobOf({ activeDeadlineSeconds: 3601 }), pods: [], conditions: [] },
  {
    name: 'has no active deadline while suspended',
    job: jobOf({ activeDeadlineSeconds: 1, suspend: true }),
    pods: [],
    conditions: ['Suspended JobSuspended'],
    events: ['Normal Suspended: Job suspended'],
  },
  {
    name: 'fails with the announced reason',
    job: jobOf({}, { startTime: secondsAgo(60), conditions: [failing] }),
    pods: ended('Succeeded', 1),
    conditions: ['FailureTarget BackoffLimitExceeded', 'Failed BackoffLimitExceeded'],
    events: ['Warning BackoffLimitExceeded: x'],
  },
  {
    name: 'completes with the announced reason',
    job: indexed({ backoffLimit: 0 }, { startTime: secondsAgo(60), conditions: [succeeding] }),
    pods: [at(0, { phase: 'Failed' })],
    conditions: ['SuccessCriteriaMet SuccessPolicy', 'Complete SuccessPolicy'],
  },
  {
    name: 'does not finish before all Pods are terminated',
    job: jobOf({}, { startTime: secondsAgo(60), conditions: [failing] }),
    pods: running(1, { isTerminating: true, ...counted }),
    conditions: ['FailureTarget BackoffLimitExceeded'],
  },
  {
    name: 'fails by its policy on an exit code',
    job: jobOf({ podFailurePolicy: { rules: [exit('Ignore', [1]), exit('FailJob', [42])] } }),
    pods: ended('Failed', 1, { exitCode: 42 }),
    conditions: ['FailureTarget PodFailurePolicy', 'Failed PodFailurePolicy'],
    events: [
      'Warning PodFailurePolicy: Container main for pod default/failed-0 failed with exit code 42 matching FailJob rule at index 1',
    ],
  },
  {
    name: 'fails by its policy on any other exit code',
    job: jobOf({ podFailurePolicy: { rules: [exit('FailJob', [1], 'NotIn')] } }),
    pods: ended('Failed', 1, { exitCode: 2 }),
    conditions: ['FailureTarget PodFailurePolicy', 'Failed PodFailurePolicy'],
  },
  {
    name: 'fails by its policy on a Pod condition',
    job: jobOf({
      podFailurePolicy: { rules: [{ action: 'FailJob', onPodConditions: [{ type: 'ConfigIssue', status: 'True' }] }] },
    }),
    pods: ended('Failed', 1, { conditions: [{ type: 'ConfigIssue', status: 'True' }] }),
    conditions: ['FailureTarget PodFailurePolicy', 'Failed PodFailurePolicy'],
    events: [
      'Warning PodFailurePolicy: Pod default/failed-0 has condition ConfigIssue matching FailJob rule at index 0',
    ],
  },
  {
    name: 'fails by its policy on the exit code of an init container',
    job: jobOf({ podFailurePolicy: { rules: [exit('FailJob', [42])] } }),
    pods: [preparedBadly(42)],
    conditions: ['FailureTarget PodFailurePolicy', 'Failed PodFailurePolicy'],
    events: [
      'Warning PodFailurePolicy: Container setup for pod default/failed-0 failed with exit code 42 matching FailJob rule at index 0',
    ],
  },
  {
    name: 'matches only the container that its policy names',
    job: jobOf({
      podFailurePolicy: {
        rules: [{ action: 'FailJob', onExitCodes: { containerName: 'other', operator: 'In', values: [42] } }],
      },
    }),
    pods: ended('Failed', 1, { exitCode: 42 }),
    conditions: [],
  },
  {
    name: 'applies the first matching rule of its policy',
    job: jobOf({ backoffLimit: 0, podFailurePolicy: { rules: [exit('Count', [42]), exit('FailJob', [42])] } }),
    pods: ended('Failed', 1, { exitCode: 42 }),
    conditions: ['FailureTarget BackoffLimitExceeded', 'Failed BackoffLimitExceeded'],
  },
  {
    name: 'does not count failures that its policy ignores',
    job: jobOf({ backoffLimit: 0, podFailurePolicy: { rules: [exit('Ignore', [1])] } }),
    pods: ended('Failed', 3),
    conditions: [],
  },
  {
    name: 'counts failures without a matching rule',
    job: jobOf({ backoffLimit: 0, podFailurePolicy: { rules: [exit('Ignore', [2])] } }),
    pods: ended('Failed', 1),
    conditions: ['FailureTarget BackoffLimitExceeded', 'Failed BackoffLimitExceeded'],
  },
  {
    name: 'is complete once every index has succeeded',
    job: indexed({}, { startTime: secondsAgo(60), completedIndexes: '0,2', succeeded: 2 }),
    pods: [at(1, { phase: 'Succeeded' })],
    conditions: ['SuccessCriteriaMet CompletionsReached', 'Complete CompletionsReached'],
  },
  {
    name: 'counts an index once, however many of its Pods succeeded',
    job: indexed(),
    pods: [
      at(0, { phase: 'Succeeded' }),
      podOf('b', { index: 0, phase: 'Succeeded' }),
      podOf('c', { index: 0, phase: 'Succeeded' }),
    ],
    conditions: [],
  },
  {
    name: 'succeeds early once the required indexes have',
    job: indexed({ successPolicy: { rules: [{ succeededIndexes: '2' }, { succeededIndexes: '0-1' }] } }),
    pods: [at(0, { phase: 'Succeeded' }), at(1, { phase: 'Succeeded' }), at(2)],
    conditions: ['SuccessCriteriaMet SuccessPolicy'],
  },
  {
    name: 'succeeds early once the required count has',
    job: indexed({ successPolicy: { rules: [{ succeededCount: 1 }] } }),
    pods: [at(1, { phase: 'Succeeded' }), at(2)],
    conditions: ['SuccessCriteriaMet SuccessPolicy'],
  },
  {
    name: 'succeeds early once enough of the required indexes have',
    job: indexed({ successPolicy: { rules: [{ succeededIndexes: '0-1', succeededCount: 1 }] } }),
    pods: [at(2, { phase: 'Succeeded' })],
    conditions: [],
  },
  {
    name: 'does not fail an index within its backoff limit',
    job: indexed({ backoffLimitPerIndex: 1, completions: 1 }),
    pods: [at(0, { phase: 'Failed', failuresBefore: 0 })],
    conditions: [],
  },
  {
    name: 'fails once every index is completed or failed',
    job: indexed({ backoffLimitPerIndex: 1, completions: 2 }),
    pods: [at(0, { phase: 'Failed', failuresBefore: 1 }), at(1, { phase: 'Succeeded' })],
    conditions: ['FailureTarget FailedIndexes', 'Failed FailedIndexes'],
    events: ['Warning FailedIndexes: Job has failed indexes'],
  },
  {
    name: 'fails at once when too many indexes failed',
    job: indexed({ backoffLimitPerIndex: 0, maxFailedIndexes: 0 }),
    pods: [at(0, { phase: 'Failed', failuresBefore: 0 }), at(1)],
    conditions: ['FailureTarget MaxFailedIndexesExceeded'],
  },
  {
    name: 'fails an index by its policy',
    job: indexed({ backoffLimitPerIndex: 5, completions: 1, podFailurePolicy: { rules: [exit('FailIndex', [7])] } }),
    pods: [at(0, { phase: 'Failed', failuresBefore: 0, exitCode: 7 })],
    conditions: ['FailureTarget FailedIndexes', 'Failed FailedIndexes'],
  },
];
/** Returns a Pod whose container never started, because an init container failed. */
function preparedBadly(exitCode: number): Pod {
  const [pod] = ended('Failed', 1, { exitCode: 0 }) as [Pod];
  const setup = {
    name: 'setup',
    state: { terminated: { exitCode } },
    ready: false,
    restartCount: 0,
    image: '',
    imageID: '',
  };
  return { ...pod, status: { ...pod.status, initContainerStatuses: [setup] } };
}

function restarting(job: Job): Job {
  const { template } = job.spec!;
  return {
    ...job,
    spec: { ...job.spec!, template: { ...template, spec: { ...template.spec!, restartPolicy: 'OnFailure' } } },
  };
}
for (const { name, job, pods, conditions, events } of ends) {
  test(`a Job ${name}`, () => {
    const { status, events: actualEvents } = outcomeOf(job, pods);
    assert.deepEqual(conditionsOf(status), conditions);
    if (events) assert.deepEqual(actualEvents, events);
  });
}

test('a failing Job deletes its Pods, reports the failure, and counts them, in this order', () => {
  const pods = [...ended('Failed', 1), ...running(2, { isReady: true })];
  const { does, actions, status } = outcomeOf(jobOf({ backoffLimit: 0, parallelism: 3, completions: 3 }), pods);
  assert.equal(does, 'delete run-0, delete run-1, update sum, patch failed-0, patch run-0, patch run-1');
  const { object } = actions.find(({ type }) => type === 'update') as UpdateAction;
  const announced = (object as Job).status!;
  assert.deepEqual(conditionsOf(announced), ['FailureTarget BackoffLimitExceeded']);
  assert.deepEqual(announced.uncountedTerminatedPods?.failed, ['failed-0', 'run-0', 'run-1']);
  const { active, ready, terminating, failed } = status;
  assert.deepEqual({ active, ready, terminating, failed }, { active: 0, ready: 0, terminating: 2, failed: 3 });
});

test('the reason of a completion is in the conditions', () => {
  const messagesOf = (job: Job, pods: readonly Pod[]) =>
    outcomeOf(job, pods).status.conditions?.map(({ message }) => message);
  assert.deepEqual(messagesOf(jobOf(), ended('Succeeded', 1)), [
    'Reached expected number of succeeded pods',
    'Reached expected number of succeeded pods',
  ]);
  const early = indexed({ successPolicy: { rules: [{ succeededIndexes: '2' }, { succeededIndexes: '0-1' }] } });
  assert.deepEqual(messagesOf(early, [at(0, { phase: 'Succeeded' }), at(1, { phase: 'Succeeded' })]), [
    'Matched rules at index 1',
    'Matched rules at index 1',
  ]);
});

test('a completed Job has a completion time, and a failed one has none', () => {
  const { status } = outcomeOf(jobOf(), ended('Succeeded', 1));
  assert.equal(status.completionTime, formatTime(now));
  assert.equal(findCondition(status.conditions, 'Complete')?.lastTransitionTime, formatTime(now));
  assert.equal(outcomeOf(jobOf({ backoffLimit: 0 }), ended('Failed', 1)).status.completionTime, undefined);
});

test('Pods lose their finalizer after the status lists them as uncounted, and are counted afterwards', () => {
  const job = jobOf({ completions: 5, parallelism: 1 });
  const { actions, status } = outcomeOf(job, [...ended('Succeeded', 2), ...ended('Failed', 1), ...running(1)]);
  const [first, ...rest] = actions;
  const uncounted = ((first as UpdateAction).object as Job).status?.uncountedTerminatedPods;
  assert.deepEqual(uncounted, { succeeded: ['succeeded-0', 'succeeded-1'], failed: ['failed-0'] });
  assert.equal(countActions(rest), 'patch succeeded-0, patch succeeded-1, patch failed-0');
  assert.deepEqual((rest[0] as PatchAction).patch, {
    metadata: { '$deleteFromPrimitiveList/finalizers': [trackingFinalizer] },
  });
  const { succeeded, failed, uncountedTerminatedPods } = status;
  assert.deepEqual([succeeded, failed], [2, 1]);
  assert.deepEqual(uncountedTerminatedPods, { succeeded: [], failed: [] });
});

test('if some finalizers could not be removed, the other Pods are counted', () => {
  const job = jobOf({ completions: 5, parallelism: 1 });
  const pods = [...ended('Succeeded', 2), ...running(1)];
  const { metadata, ...rest } = pods[0]!;
  const { finalizers: _, ...free } = metadata;
  const written = new Map([['succeeded-0', { ...rest, metadata: free }]]);
  const { status } = outcomeOf(job, pods, {
    ...clean,
    written,
    failures: [{ action: flattenSteps(decide({ job, pods }, now).actions)[0]!, error: 'x' }],
  });
  assert.equal(status.succeeded, 1);
  assert.deepEqual(status.uncountedTerminatedPods, { succeeded: ['succeeded-1'], failed: [] });
});

test('a listed Pod that is gone is counted', () => {
  const status = {
    startTime: secondsAgo(60),
    succeeded: 1,
    failed: 2,
    uncountedTerminatedPods: { succeeded: ['gone'], failed: ['lost'] },
  };
  const { status: next, does } = outcomeOf(jobOf({ completions: 5 }, status), running(1));
  assert.deepEqual([next.succeeded, next.failed, does], [2, 3, '']);
});

test('a Pod that was counted as failed when it was deleted does not count as succeeded', () => {
  const status = {
    startTime: secondsAgo(60),
    succeeded: 3,
    uncountedTerminatedPods: { failed: ['succeeded-0'] },
  };
  const { status: next } = outcomeOf(jobOf({ completions: 4 }, status), ended('Succeeded', 1));
  assert.deepEqual([next.succeeded, next.failed, conditionsOf(next)], [3, 1, []]);
});

test('at most 500 Pods are counted at a time, and the Job finishes after the rest', () => {
  const { actions, status } = outcomeOf(jobOf({ completions: 600, parallelism: 600 }), ended('Succeeded', 600));
  assert.equal(actions.filter(({ type }) => type === 'patch').length, 500);
  assert.deepEqual(conditionsOf(status), ['SuccessCriteriaMet CompletionsReached']);
  assert.equal(status.succeeded, 500);
});

test('a Job with more work than fits into a reconcile is requeued at once', () => {
  const restOf = (job: Job, pods: readonly Pod[]) => decide({ job, pods }, now).minIntervalMs;
  assert.equal(restOf(jobOf({ completions: 501, parallelism: 501 }), []), 0);
  assert.equal(restOf(jobOf({ completions: 500, parallelism: 500 }), []), undefined);
  assert.equal(restOf(jobOf({ completions: 9000, parallelism: 501 }), ended('Succeeded', 501)), 0);
});

test('the failed Pod of an index is kept until its replacement exists, which continues the failure count', () => {
  const job = indexed({ backoffLimitPerIndex: 3, completions: 1, parallelism: 1 });
  const failed = at(0, { phase: 'Failed', failuresBefore: 1, finishedSecondsAgo: 20 });
  const [creation, ...more] = outcomeOf(job, [failed]).actions;
  assert.equal(more.length, 0);
  const { metadata } = (creation as CreateAction).object;
  assert.equal(metadata.annotations?.['batch.kubernetes.io/job-index-failure-count'], '2');
  assert.equal(
    outcomeOf(job, [failed, podOf('new', { index: 0, failuresBefore: 2 })]).does,
    'update sum, patch at-0-Failed',
  );
});

test('the backoff of an index is independent of other indexes', () => {
  const job = indexed({ backoffLimitPerIndex: 3, completions: 2, parallelism: 2 });
  const failed = at(0, { phase: 'Failed', failuresBefore: 1, finishedSecondsAgo: 5 });
  const { does, requeueAfterSeconds } = outcomeOf(job, [failed]);
  assert.deepEqual([does, requeueAfterSeconds], ['create sum-1-', 15]);
});

test('ignored failures are counted separately', () => {
  const podFailurePolicy = { rules: [exit('Ignore', [9])] };
  const job = indexed({ backoffLimitPerIndex: 0, completions: 1, parallelism: 1, podFailurePolicy });
  const [creation] = outcomeOf(job, [at(0, { phase: 'Failed', failuresBefore: 0, exitCode: 9 })]).actions;
  const { annotations } = (creation as CreateAction).object.metadata;
  assert.equal(annotations?.['batch.kubernetes.io/job-index-failure-count'], '0');
  assert.equal(annotations?.['batch.kubernetes.io/job-index-ignored-failure-count'], '1');
});

test('indexes are recorded in the status', () => {
  const job = indexed(
    { completions: 6, parallelism: 6, backoffLimitPerIndex: 0 },
    { startTime: secondsAgo(60), completedIndexes: '0,1', succeeded: 2 },
  );
  const pods = [at(2, { phase: 'Succeeded' }), at(5, { phase: 'Failed', failuresBefore: 0 })];
  const { completedIndexes, failedIndexes, succeeded, failed } = outcomeOf(job, pods).status;
  assert.deepEqual(
    { completedIndexes, failedIndexes, succeeded, failed },
    { completedIndexes: '0-2', failedIndexes: '5', succeeded: 3, failed: 1 },
  );
});

test('a Pod has its completion index as an environment variable', () => {
  const [creation] = outcomeOf(indexed(), []).actions;
  const { metadata, spec } = (creation as CreateAction).object as Pod;
  assert.equal(metadata.generateName, 'sum-0-');
  assert.equal(metadata.labels?.['batch.kubernetes.io/job-completion-index'], '0');
  assert.equal(metadata.annotations?.['batch.kubernetes.io/job-completion-index'], '0');
  assert.equal(spec?.hostname, 'sum-0');
  assert.deepEqual(spec?.containers?.[0]?.env, [
    {
      name: 'JOB_COMPLETION_INDEX',
      valueFrom: { fieldRef: { fieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']" } },
    },
  ]);
  assert.deepEqual(metadata.finalizers, [trackingFinalizer]);
});

test('a Pod of an Indexed Job with a long name keeps its index', () => {
  const job = { ...indexed(), metadata: { ...indexed().metadata, name: 'x'.repeat(63) } };
  const [creation] = outcomeOf(job, []).actions;
  const { generateName = '' } = (creation as CreateAction).object.metadata;
  assert.deepEqual([generateName.length, generateName.slice(-4)], [58, 'x-0-']);
});

test('the status contains the number of active Pods', () => {
  const job = jobOf({ parallelism: 3, completions: 9 });
  const pods = [podOf('a', { isReady: true }), podOf('b'), podOf('c', { isTerminating: true })];
  const { active, ready, terminating, failed } = outcomeOf(job, pods).status;
  assert.deepEqual({ active, ready, terminating, failed }, { active: 3, ready: 1, terminating: 1, failed: 1 });
});

test('a Job starts with its first reconcile, unless it is suspended', () => {
  assert.equal(outcomeOf(jobOf({}, {}), []).status.startTime, formatTime(now));
  assert.equal(outcomeOf(jobOf({ suspend: true }, {}), []).status.startTime, undefined);
});

test('a resumed Job gets a new start time', () => {
  const conditions = [{ type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended' }];
  const { status, events } = outcomeOf(jobOf({}, { startTime: secondsAgo(60), conditions }), []);
  assert.deepEqual(conditionsOf(status), ['not Suspended JobResumed']);
  assert.equal(status.startTime, formatTime(now));
  assert.deepEqual(events, ['Normal Resumed: Job resumed']);
});

test('a Job is requeued at its active deadline', () => {
  assert.equal(outcomeOf(jobOf({ activeDeadlineSeconds: 3700 }), running(1)).requeueAfterSeconds, 100);
});

test('an orphaned Pod is adopted with its finalizer, and one that does not match any more is released without it', () => {
  const stray = podOf('stray', { isTracked: false });
  const orphan = { ...stray, metadata: { ...stray.metadata, ownerReferences: [] } };
  const nonMatching = { ...podOf('stranger'), metadata: { ...podOf('stranger').metadata, labels: {} } };
  const [adoption, release] = outcomeOf(jobOf(), [orphan, nonMatching]).actions as PatchAction[];
  const finalizersOf = (action: PatchAction) =>
    (action.patch as { metadata: { finalizers: string[] } }).metadata.finalizers;
  assert.deepEqual([adoption?.object.metadata.name, finalizersOf(adoption!)], ['stray', [trackingFinalizer]]);
  assert.deepEqual([release?.object.metadata.name, finalizersOf(release!)], ['stranger', []]);
});
