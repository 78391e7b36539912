import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type { UnitedDeploymentScheduleStrategy } from '@kruise/api/kruise/uniteddeployment';
import type { PatchAction } from '@kruise/client/actions';
import { assess } from './assess.ts';
import { ago, cloneSets, now, podOf, workloadOf } from './fixtures.ts';
import { subsetOf } from './subsets.ts';

const revision = 'web-1';
type Reported = { readonly status: 'True' | 'False'; readonly since: number } | undefined;

type Options = { readonly reported?: Reported; readonly updated?: number; readonly replicas?: number };

function assessed(
  strategy: UnitedDeploymentScheduleStrategy,
  pods: readonly Pod[],
  { reported, updated = 1000, replicas = pods.length }: Options = {},
) {
  const readyReplicas = pods.filter(({ status }) => status?.conditions?.some(({ type }) => type === 'Ready')).length;
  const workload = workloadOf(cloneSets, 'a', { replicas, readyReplicas });
  const assessment = assess(subsetOf('a', { workloadType: cloneSets, workload, pods, revision }), {
    strategy,
    reported: reported && { status: reported.status, lastTransitionTime: ago(reported.since) },
    revision,
    updatedAt: now - updated * 1000,
    now,
  });
  return {
    ...assessment,
    reported: assessment.schedulable.map(({ status, reason, message }) => `${status} ${reason} ${message}`),
    marks: assessment.actions.map((action) => {
      const { object, patch } = action as PatchAction;
      return `${object.metadata.name} ${Object.values((patch as Pod).metadata.labels ?? {})}`;
    }),
    seconds: Math.min(...assessment.seconds),
  };
}

const never = Number.POSITIVE_INFINITY;
const adaptive: UnitedDeploymentScheduleStrategy = { type: 'Adaptive' };
const pending = (age: number) => podOf('p', { revision, age, isPending: true });
const running = podOf('r', { revision, ready: 50 });

const pendings: readonly {
  readonly is: string;
  readonly pods: readonly Pod[];
  readonly reported?: Reported;
  readonly full: boolean;
  readonly expected: readonly string[];
  readonly seconds: number;
}[] = [
  { is: 'is schedulable while all Pods run', pods: [running], full: false, expected: [], seconds: never },
  {
    is: 'is schedulable while a Pod is pending within the timeout',
    pods: [running, pending(15)],
    full: false,
    expected: [],
    seconds: 15,
  },
  {
    is: 'is unschedulable when a Pod exceeds the timeout',
    pods: [running, pending(31)],
    full: true,
    expected: ['False reschedule timeout pending pods found'],
    seconds: 300,
  },
  {
    is: 'is unschedulable exactly at the timeout',
    pods: [pending(30)],
    full: true,
    expected: ['False reschedule timeout pending pods found'],
    seconds: 300,
  },
  {
    is: 'ignores terminating Pods',
    pods: [podOf('p', { isPending: true, isTerminating: true })],
    full: false,
    expected: [],
    seconds: never,
  },
  { is: 'ignores starting Pods', pods: [podOf('p')], full: false, expected: [], seconds: never },
  {
    is: 'stays unschedulable for a while',
    pods: [running],
    reported: { status: 'False', since: 60 },
    full: true,
    expected: [],
    seconds: 240,
  },
  {
    is: 'recovers afterwards',
    pods: [running],
    reported: { status: 'False', since: 300 },
    full: false,
    expected: ['True recover unschedulable subset recovered after 300.000000 seconds'],
    seconds: never,
  },
  {
    is: 'is unschedulable again where a Pod is still pending then',
    pods: [pending(400)],
    reported: { status: 'False', since: 301 },
    full: true,
    expected: [
      'True recover unschedulable subset recovered after 300.000000 seconds',
      'False reschedule timeout pending pods found',
    ],
    seconds: 300,
  },
];
for (const { is, pods, reported, full, expected, seconds } of pendings) {
  test(`a subset ${is}`, () => {
    const result = assessed(adaptive, pods, { reported });
    assert.deepEqual([result.isUnschedulable, result.reported, result.seconds], [full, expected, seconds]);
    assert.deepEqual(result.marks, []);
  });
}

const reserving: UnitedDeploymentScheduleStrategy = {
  type: 'Adaptive',
  adaptive: { reserveUnschedulablePods: true, rescheduleCriticalSeconds: 10, unschedulableDuration: 30 },
};
const found = 'False reschedule reserved pods found';
const noneFound = 'True reschedule no reserved pods';

const reservations: readonly {
  readonly is: string;
  readonly pod: Pod;
  readonly reported?: Reported;
  readonly updated?: number;
  readonly reserved: number;
  readonly overdue?: number;
  readonly marks: readonly string[];
  readonly seconds: number;
}[] = [
  {
    is: 'may be pending for a while',
    pod: podOf('p', { revision, age: 1, isPending: true }),
    reserved: 0,
    marks: ['p false'],
    seconds: 9,
  },
  {
    is: 'is not reserved while it runs',
    pod: podOf('p', { revision, ready: 5, mark: 'false' }),
    reserved: 0,
    marks: [],
    seconds: never,
  },
  {
    is: 'is reserved when it exceeds the timeout',
    pod: podOf('p', { revision, age: 13, isPending: true, mark: 'false' }),
    reserved: 1,
    marks: ['p true'],
    seconds: 30,
  },
  {
    is: 'stays reserved until it starts',
    pod: podOf('p', { revision, age: 90, isPending: true, mark: 'true' }),
    reserved: 1,
    marks: [],
    seconds: 30,
  },
  {
    is: 'stays reserved until it is proven',
    pod: podOf('p', { revision, ready: 10, mark: 'true' }),
    reserved: 1,
    marks: [],
    seconds: 20,
  },
  {
    is: 'is released when it is proven',
    pod: podOf('p', { revision, ready: 35, mark: 'true' }),
    reserved: 0,
    marks: ['p false'],
    seconds: never,
  },
  {
    is: 'stays reserved at an old revision',
    pod: podOf('p', { revision: 'old', ready: 35, mark: 'true' }),
    reserved: 1,
    marks: [],
    seconds: 30,
  },
  {
    is: 'is reserved at once in an unschedulable subset',
    pod: podOf('p', { revision, age: 1, isPending: true }),
    reported: { status: 'False', since: 1 },
    reserved: 1,
    marks: ['p true'],
    seconds: 30,
  },
  {
    is: 'at an old revision has time to be updated',
    pod: podOf('p', { revision: 'old', ready: 90, mark: 'false' }),
    updated: 4,
    reserved: 0,
    marks: [],
    seconds: 6,
  },
  {
    is: 'at an old revision is reserved past the timeout',
    pod: podOf('p', { revision: 'old', ready: 90, mark: 'false' }),
    updated: 11,
    reserved: 1,
    overdue: 1,
    marks: ['p true'],
    seconds: 30,
  },
  {
    is: 'is not reserved any more when it terminates',
    pod: podOf('p', { revision: 'old', isTerminating: true, mark: 'false' }),
    reserved: 0,
    marks: [],
    seconds: never,
  },
];
for (const { is, pod, reported, updated, reserved, overdue = 0, marks, seconds } of reservations) {
  test(`a Pod ${is}`, () => {
    const result = assessed(reserving, [pod], { reported, ...(updated === undefined ? {} : { updated }) });
    assert.deepEqual([result.reservedPods, result.overduePods, result.seconds], [reserved, overdue, seconds]);
    assert.deepEqual(result.marks, marks);
    assert.deepEqual([result.isUnschedulable, result.reported], [reserved > 0, [reserved > 0 ? found : noneFound]]);
    assert.equal(result.wasUnschedulable, reported !== undefined);
  });
}

test('an unschedulable subset stays so until its Pods are created', () => {
  const leaving = podOf('p', { revision: 'old', isTerminating: true, mark: 'false' });
  const full = assessed(reserving, [leaving], { reported: { status: 'False', since: 9 }, replicas: 2 });
  assert.deepEqual([full.isUnschedulable, full.reservedPods, full.missingPods, full.reported], [true, 0, 2, [found]]);
  const free = assessed(reserving, [], { reported: { status: 'True', since: 9 }, replicas: 2 });
  assert.deepEqual([free.isUnschedulable, free.missingPods, free.reported], [false, 0, [noneFound]]);
});
