import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerStatus, Pod } from '@kruise/api/core/pod';
import type { EphemeralJob, EphemeralJobSpec, EphemeralJobStatus } from '@kruise/api/kruise/ephemeraljob';
import { ephemeralContainersCleanupFinalizer } from '@kruise/api/kruise/well-known';
import type { PatchAction } from '@kruise/client/actions';
import { formatTime, instantOf } from '@kruise/values/time';
import { summarizeActions } from '@kruise/workload-kit/testing/summarize-actions';
import { decide } from './decide.ts';
import { ownContainers } from './targets.ts';

const now = instantOf(2026, 1, 1, 12);
const debug = { name: 'debug', image: 'debug:v1' };

function jobOf(spec: Partial<EphemeralJobSpec> = {}, status?: Partial<EphemeralJobStatus>): EphemeralJob {
  return {
    apiVersion: 'apps.kruise.io/v1alpha1',
    kind: 'EphemeralJob',
    metadata: {
      name: 'look',
      namespace: 'default',
      uid: 'job-uid',
      finalizers: [ephemeralContainersCleanupFinalizer],
    },
    spec: { selector: {}, template: { ephemeralContainers: [debug] }, ...spec },
    ...(status
      ? { status: { match: 0, running: 0, succeeded: 0, waiting: 0, failed: 0, phase: 'Running', ...status } }
      : {}),
  };
}

const states = {
  waiting: { waiting: { reason: 'PodInitializing' } },
  broken: { waiting: { reason: 'RunContainerError' } },
  running: { running: { startedAt: formatTime(now) } },
  succeeded: { terminated: { exitCode: 0, finishedAt: formatTime(now) } },
  failed: { terminated: { exitCode: 1, finishedAt: formatTime(now) } },
} satisfies { readonly [state: string]: ContainerStatus['state'] };

/** Builds a Pod with the job's containers in a state, if any. */
function podOf(name: string, state?: keyof typeof states | 'added', job = jobOf()): Pod {
  const status = { name: 'debug', image: '', imageID: '', ready: false, restartCount: 0, lastState: {} };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: `uid-${name}` },
    spec: {
      containers: [{ name: 'main', image: 'app' }],
      ...(state ? { ephemeralContainers: ownContainers(job) } : {}),
    },
    status: {
      phase: 'Running',
      ...(state && state !== 'added' ? { ephemeralContainerStatuses: [{ ...status, state: states[state] }] } : {}),
    },
  };
}

function decided(job: EphemeralJob, pods: readonly Pod[] = []) {
  const { actions, status, requeueAfterSeconds } = decide({ job, pods }, now);
  const { phase, match, running, succeeded, waiting, failed, conditions, completionTime } = (status ??
    {}) as EphemeralJobStatus;
  return {
    does: summarizeActions(actions),
    figures: status && `${phase} of ${match}: ${running} ${succeeded} ${waiting} ${failed}`,
    expected: conditions?.map(({ type, reason }) => `${type} ${reason}`).slice(1),
    isOver: completionTime !== undefined,
    actions,
    requeueAfterSeconds,
  };
}

const cases: readonly {
  readonly is: string;
  readonly job?: EphemeralJob;
  readonly pods: readonly Pod[];
  readonly does?: readonly string[];
  readonly figures: string;
  readonly expected?: readonly string[];
  readonly isOver?: boolean;
}[] = [
  { is: 'waits for Pods', pods: [], figures: 'Waiting of 0: 0 0 0 0', expected: ['MatchedEmpty MatchEmpty'] },
  {
    is: 'handles one Pod at a time',
    pods: [podOf('b'), podOf('a')],
    does: ['patch a'],
    figures: 'Unknown of 2: 0 0 0 0',
  },
  {
    is: 'handles as many Pods at a time as parallelism allows',
    job: jobOf({ parallelism: 2 }),
    pods: [podOf('a'), podOf('b'), podOf('c')],
    does: ['patch a', 'patch b'],
    figures: 'Unknown of 3: 0 0 0 0',
  },
  {
    is: 'handles no more Pods while that many run',
    pods: [podOf('a', 'running'), podOf('b')],
    figures: 'Running of 2: 1 0 0 0',
  },
  {
    is: 'counts containers that have not started yet',
    job: jobOf({ parallelism: 3 }),
    pods: [podOf('a', 'added'), podOf('b', 'waiting'), podOf('c'), podOf('d')],
    does: ['patch c'],
    figures: 'Unknown of 4: 0 0 1 0',
  },
  {
    is: 'continues when one Pod has finished',
    pods: [podOf('a', 'succeeded'), podOf('b')],
    does: ['patch b'],
    figures: 'Unknown of 2: 0 1 0 0',
  },
  {
    is: 'handles at most `replicas` Pods',
    job: jobOf({ replicas: 1, parallelism: 5 }),
    pods: [podOf('a'), podOf('b')],
    does: ['patch a'],
    figures: 'Unknown of 1: 0 0 0 0',
  },
  {
    is: 'succeeds when all Pods have succeeded',
    pods: [podOf('a', 'succeeded'), podOf('b', 'succeeded')],
    figures: 'Succeeded of 2: 0 2 0 0',
    expected: ['JobSucceeded JobSucceeded'],
    isOver: true,
  },
  {
    is: 'fails when all Pods have failed',
    pods: [podOf('a', 'failed'), podOf('b', 'broken')],
    figures: 'Failed of 2: 0 0 0 2',
    expected: ['JobFailed CreateFailed'],
    isOver: true,
  },
  {
    is: 'fails when some Pods have failed and none is running',
    pods: [podOf('a', 'failed'), podOf('b', 'succeeded')],
    figures: 'Failed of 2: 0 1 0 1',
    expected: ['JobFailed CreateFailed'],
    isOver: true,
  },
  { is: 'waits with its containers', pods: [podOf('a', 'waiting')], figures: 'Waiting of 1: 0 0 1 0' },
  {
    is: 'handles no Pod twice before its containers start',
    pods: [podOf('a', 'added')],
    figures: 'Unknown of 1: 0 0 0 0',
  },
  {
    is: 'does nothing while paused',
    job: jobOf({ paused: true }),
    pods: [podOf('a')],
    figures: 'Paused of 1: 0 0 0 0',
  },
  {
    is: 'skips Pods where another container has the name',
    pods: [podOf('a', 'running', { ...jobOf(), metadata: { uid: 'other' } }), podOf('b')],
    does: ['patch b'],
    figures: 'Unknown of 1: 0 0 0 0',
  },
  {
    is: 'skips finished Pods',
    pods: [{ ...podOf('a'), status: { phase: 'Succeeded' } }],
    figures: 'Waiting of 0: 0 0 0 0',
    expected: ['MatchedEmpty MatchEmpty'],
  },
  {
    is: 'fails past its deadline',
    job: jobOf({ activeDeadlineSeconds: 10 }, { startTime: formatTime(now - 10_000) }),
    pods: [podOf('a', 'running')],
    figures: 'Failed of 1: 1 0 0 0',
    expected: ['JobFailed DeadlineExceeded'],
    isOver: true,
  },
  {
    is: 'reports an error where it has no containers',
    job: jobOf({ template: { ephemeralContainers: [] } }),
    pods: [podOf('a')],
    figures: 'Error of 1: 0 0 0 0',
    expected: ['JobError Error'],
  },
];
for (const { is, job = jobOf(), pods, does = [], figures, expected = [], isOver = false } of cases) {
  test(`a job ${is}`, () => {
    const result = decided(job, pods);
    assert.deepEqual([result.does, result.figures, result.expected, result.isOver], [does, figures, expected, isOver]);
  });
}

test("containers are added with the job's environment variable", () => {
  const [action] = decided(jobOf(), [podOf('a')]).actions as readonly PatchAction[];
  assert.equal(action?.subresource, 'ephemeralcontainers');
  assert.deepEqual(action?.patch, {
    spec: { ephemeralContainers: [{ ...debug, env: [{ name: 'KRUISE_EJOB_ID', value: 'job-uid' }] }] },
  });
});

test('a job has a finalizer until it is deleted, and then loses it at once', () => {
  const { finalizers: _, ...metadata } = jobOf().metadata;
  assert.deepEqual(decided({ ...jobOf(), metadata }, []).does, ['update look']);
  const leaving = { ...jobOf(), metadata: { ...jobOf().metadata, deletionTimestamp: formatTime(now) } };
  assert.deepEqual(decided(leaving, [podOf('a')]).does, ['patch look']);
});

test('a finished job is deleted after half an hour, or after its TTL', () => {
  const over = (secondsAgo: number, spec: Partial<EphemeralJobSpec> = {}) =>
    decided(jobOf(spec, { completionTime: formatTime(now - secondsAgo * 1000) }), [podOf('a')]);
  assert.deepEqual([over(10).does, over(10).requeueAfterSeconds], [[], 1790]);
  assert.deepEqual(over(1800).does, ['delete look']);
  assert.deepEqual(over(0, { ttlSecondsAfterFinished: 0 }).does, ['delete look']);
});

test('a job with a deadline is requeued for the deadline', () => {
  assert.equal(decided(jobOf({ activeDeadlineSeconds: 10 }), [podOf('a')]).requeueAfterSeconds, 10);
});

test('existing conditions are not changed', () => {
  const before = { type: 'MatchedEmpty', status: 'True' as const, reason: 'MatchEmpty', message: 'job match no pods' };
  const initialized = { type: 'Initialized', status: 'True' as const, reason: 'Initialized' };
  const job = jobOf({}, { conditions: [initialized, before], startTime: formatTime(now) });
  assert.deepEqual((decide({ job, pods: [] }, now).status as EphemeralJobStatus).conditions, [initialized, before]);
});
