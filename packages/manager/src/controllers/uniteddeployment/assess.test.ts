import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type { UnitedDeploymentScheduleStrategy } from '@kruise/api/kruise/uniteddeployment';
import type { PatchAction } from '@kruise/client/actions';
import { assess } from './assess.ts';
import { ago, cloneSets, now, podOf, workloadOf } from './fixtures.ts';
import { subsetOf } from './subsets.ts';

const revision = 'web-1';
type Told = { readonly status: 'True' | 'False'; readonly since: number } | undefined;

type Options = { readonly told?: Told; readonly updated?: number; readonly replicas?: number };

function assessed(
  strategy: UnitedDeploymentScheduleStrategy,
  pods: readonly Pod[],
  { told, updated = 1000, replicas = pods.length }: Options = {},
) {
  const readyReplicas = pods.filter(({ status }) => status?.conditions?.some(({ type }) => type === 'Ready')).length;
  const workload = workloadOf(cloneSets, 'a', { replicas, readyReplicas });
  const assessment = assess(subsetOf('a', { sort: cloneSets, workload, pods, revision }), {
    strategy,
    told: told && { status: told.status, lastTransitionTime: ago(told.since) },
    revision,
    updatedAt: now - updated * 1000,
    now,
  });
  return {
    ...assessment,
    told: assessment.schedulable.map(({ status, reason, message }) => `${status} ${reason} ${message}`),
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
  readonly told?: Told;
  readonly full: boolean;
  readonly says: readonly string[];
  readonly seconds: number;
}[] = [
  { is: 'is schedulable while all Pods run', pods: [running], full: false, says: [], seconds: never },
  {
    is: 'is schedulable while a Pod is pending within the timeout',
    pods: [running, pending(15)],
    full: false,
    says: [],
    seconds: 15,
  },
  {
    is: 'is unschedulable when a Pod exceeds the timeout',
    pods: [running, pending(31)],
    full: true,
    says: ['False reschedule timeout pending pods found'],
    seconds: 300,
  },
  {
    is: 'is unschedulable exactly at the timeout',
    pods: [pending(30)],
    full: true,
    says: ['False reschedule timeout pending pods found'],
    seconds: 300,
  },
  {
    is: 'ignores terminating Pods',
    pods: [podOf('p', { isPending: true, isLeaving: true })],
    full: false,
    says: [],
    seconds: never,
  },
  { is: 'ignores starting Pods', pods: [podOf('p')], full: false, says: [], seconds: never },
  {
    is: 'stays unschedulable for a while',
    pods: [running],
    told: { status: 'False', since: 60 },
    full: true,
    says: [],
    seconds: 240,
  },
  {
    is: 'recovers afterwards',
    pods: [running],
    told: { status: 'False', since: 300 },
    full: false,
    says: ['True recover unschedulable subset recovered after 300.000000 seconds'],
    seconds: never,
  },
  {
    is: 'is unschedulable again where a Pod is still pending then',
    pods: [pending(400)],
    told: { status: 'False', since: 301 },
    full: true,
    says: [
      'True recover unschedulable subset recovered after 300.000000 seconds',
      'False reschedule timeout pending pods found',
    ],
    seconds: 300,
  },
];
for (const { is, pods, told, full, says, seconds } of pendings) {
  test(`a subset ${is}`, () => {
    const result = assessed(adaptive, pods, { told });
    assert.deepEqual([result.isUnschedulable, result.told, result.seconds], [full, says, seconds]);
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
  readonly told?: Told;
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
    told: { status: 'False', since: 1 },
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
    pod: podOf('p', { revision: 'old', isLeaving: true, mark: 'false' }),
    reserved: 0,
    marks: [],
    seconds: never,
  },
];
for (const { is, pod, told, updated, reserved, overdue = 0, marks, seconds } of reservations) {
  test(`a Pod ${is}`, () => {
    const result = assessed(reserving, [pod], { told, ...(updated === undefined ? {} : { updated }) });
    assert.deepEqual([result.reservedPods, result.overduePods, result.seconds], [reserved, overdue, seconds]);
    assert.deepEqual(result.marks, marks);
    assert.deepEqual([result.isUnschedulable, result.told], [reserved > 0, [reserved > 0 ? found : noneFound]]);
    assert.equal(result.wasUnschedulable, told !== undefined);
  });
}

test('an unschedulable subset stays so until its Pods are created', () => {
  const leaving = podOf('p', { revision: 'old', isLeaving: true, mark: 'false' });
  const full = assessed(reserving, [leaving], { told: { status: 'False', since: 9 }, replicas: 2 });
  assert.deepEqual([full.isUnschedulable, full.reservedPods, full.missingPods, full.told], [true, 0, 2, [found]]);
  const free = assessed(reserving, [], { told: { status: 'True', since: 9 }, replicas: 2 });
  assert.deepEqual([free.isUnschedulable, free.missingPods, free.told], [false, 0, [noneFound]]);
});
