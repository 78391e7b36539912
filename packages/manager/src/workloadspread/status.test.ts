import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type { WorkloadSpreadStatus, WorkloadSpreadSubsetStatus } from '@kruise/api/kruise/workloadspread';
import { parseTime } from '@kruise/values/time';
import { decide } from './decide.ts';
import { ago, now, observedOf, podOf, type SpreadOptions, spreadOf, subsetsOf } from './fixtures.ts';

type Subset = WorkloadSpreadSubsetStatus;
type Noted = Pick<Subset, 'creatingPods' | 'deletingPods'>;

/** Returns the status of the first subset, of one version, after the webhook's records. */
function counted(limit: string, pods: readonly Pod[], noted: Noted = {}, options: SpreadOptions = {}) {
  const before: Subset = { name: 'a', replicas: 0, missingReplicas: 0, ...noted };
  const status = { versionedSubsetStatuses: { versionIgnored: [before] } };
  const spread = spreadOf({ subsets: subsetsOf(`a ${limit}`.trim(), 'b'), status, ...options });
  const { status: after, events = [], requeueAfterSeconds } = decide(observedOf(spread, pods), now);
  const [subset] = (after as WorkloadSpreadStatus).versionedSubsetStatuses?.['versionIgnored'] ?? [];
  return {
    subset,
    recorded: events.map(({ type, reason, message }) => `${type} ${reason} ${message}`),
    requeueAfterSeconds,
  };
}

const pod = podOf('x', { in: 'a' });
const rows: { is: string; limit: string; pods?: readonly Pod[]; noted?: Noted; counts: Partial<Subset> }[] = [
  { is: 'a Pod with a limit of five', limit: '5', counts: { replicas: 1, missingReplicas: 4 } },
  { is: 'a Pod with a limit of 100%', limit: '100%', counts: { replicas: 1, missingReplicas: 4 } },
  { is: 'a Pod with a limit of 80% of five', limit: '80%', counts: { replicas: 1, missingReplicas: 3 } },
  { is: 'a Pod with a rounded-up percentage limit', limit: '1%', counts: { replicas: 1, missingReplicas: 0 } },
  { is: 'a Pod without a limit', limit: '', counts: { replicas: 1, missingReplicas: -1 } },
  {
    is: 'more Pods than the limit',
    limit: '1',
    pods: [pod, podOf('y', { in: 'a' })],
    counts: { replicas: 2, missingReplicas: 0 },
  },
  {
    is: 'only active Pods',
    limit: '5',
    pods: [pod, podOf('y', { in: 'a', phase: 'Failed' }), podOf('z', { in: 'a', isDeleted: true })],
    counts: { replicas: 1, missingReplicas: 4 },
  },
  {
    is: 'a Pod that is being created',
    limit: '5',
    noted: { creatingPods: { y: ago(29) } },
    counts: { replicas: 1, missingReplicas: 3, creatingPods: { y: ago(29) } },
  },
  {
    is: 'a Pod that was created',
    limit: '5',
    noted: { creatingPods: { x: ago(1) } },
    counts: { replicas: 1, missingReplicas: 4 },
  },
  {
    is: 'a Pod that was created, by its generated name',
    limit: '5',
    pods: [podOf('x', { in: 'a', uid: 'id' })],
    noted: { creatingPods: { id: ago(1) } },
    counts: { replicas: 1, missingReplicas: 4 },
  },
  {
    is: 'a Pod that was created and deleted',
    limit: '5',
    pods: [pod, podOf('y', { in: 'a', phase: 'Succeeded' })],
    noted: { creatingPods: { y: ago(1) } },
    counts: { replicas: 1, missingReplicas: 4 },
  },
  {
    is: 'a Pod that is about to be deleted',
    limit: '1',
    noted: { deletingPods: { x: ago(14) } },
    counts: { replicas: 1, missingReplicas: 1, deletingPods: { x: ago(14) } },
  },
  {
    is: 'no deleted Pod',
    limit: '1',
    pods: [pod, podOf('y', { in: 'a', isDeleted: true })],
    noted: { deletingPods: { y: ago(1), z: ago(1) } },
    counts: { replicas: 1, missingReplicas: 0 },
  },
  {
    is: 'missing replicas down to 0',
    limit: '2',
    noted: { deletingPods: { x: ago(1) }, creatingPods: { y: ago(1), z: ago(1), u: ago(1) } },
    counts: {
      replicas: 1,
      missingReplicas: 0,
      creatingPods: { y: ago(1), z: ago(1), u: ago(1) },
      deletingPods: { x: ago(1) },
    },
  },
];
for (const { is, limit, pods = [pod], noted, counts } of rows) {
  test(`a subset counts ${is}`, () => {
    assert.deepEqual(counted(limit, pods, noted).subset, { name: 'a', ...counts });
  });
}

test('a record of a creation that never happened expires, with an event', () => {
  const { subset, recorded } = counted('5', [pod], { creatingPods: { y: ago(31) } });
  assert.deepEqual(subset, { name: 'a', replicas: 1, missingReplicas: 4 });
  assert.deepEqual(recorded, ["Warning CreatePodFailed Pod default/y was expected to be created but it wasn't"]);
});

test('a record of a deletion that never happened expires, with an event', () => {
  const { subset, recorded } = counted('1', [pod], { deletingPods: { x: ago(16) } });
  assert.deepEqual(subset, { name: 'a', replicas: 1, missingReplicas: 0 });
  assert.deepEqual(recorded, ["Warning DeletePodFailed Pod default/x was expected to be deleted but it wasn't"]);
});

test('the WorkloadSpread is requeued when the first record expires', () => {
  const noted = { creatingPods: { y: ago(3) }, deletingPods: { x: ago(5) } };
  assert.equal(counted('5', [pod], noted).requeueAfterSeconds, 10.001);
  assert.equal(counted('5', [pod]).requeueAfterSeconds, undefined);
});

test('subsets are reported in the order of the spec, each with its own records', () => {
  const status = {
    subsetStatuses: [],
    versionedSubsetStatuses: {
      versionIgnored: [
        { name: 'a', replicas: 0, missingReplicas: 2, creatingPods: { x: ago(1) } },
        { name: 'b', replicas: 0, missingReplicas: 2, creatingPods: { y: ago(2) } },
      ],
    },
  };
  const { status: after } = decide(
    observedOf(spreadOf({ subsets: subsetsOf('b 2', 'a 2'), status }), [podOf('z', { in: 'a' })]),
    now,
  );
  assert.deepEqual((after as WorkloadSpreadStatus).versionedSubsetStatuses?.['versionIgnored'], [
    { name: 'b', replicas: 0, missingReplicas: 1, creatingPods: { y: ago(2) } },
    { name: 'a', replicas: 1, missingReplicas: 0, creatingPods: { x: ago(1) } },
  ]);
});

test('all Pods are counted together, and the Pods of each version separately', () => {
  const pods = [podOf('x', { in: 'a', version: 'old' }), podOf('y', { in: 'a', version: 'new' })];
  const { status } = decide(observedOf(spreadOf({ kind: 'Deployment' }), pods, { latestVersion: 'new' }), now);
  const { subsetStatuses, versionedSubsetStatuses } = status as WorkloadSpreadStatus;
  const inShort = (list: readonly Subset[] | undefined) =>
    list?.map(({ name, replicas, missingReplicas }) => `${name} ${replicas}/${missingReplicas}`).join(' ');
  assert.equal(inShort(subsetStatuses), 'a 2/0 b 0/-1');
  assert.equal(inShort(versionedSubsetStatuses?.['old']), 'a 1/1 b 0/-1');
  assert.equal(inShort(versionedSubsetStatuses?.['new']), 'a 1/1 b 0/-1');
});

test('a version without Pods is kept while records are pending', () => {
  const list = (noted: Noted) => [{ name: 'a', replicas: 1, missingReplicas: 0, ...noted }];
  const status = { versionedSubsetStatuses: { coming: list({ creatingPods: { x: ago(1) } }), gone: list({}) } };
  const { status: after } = decide(observedOf(spreadOf({ status }), []), now);
  assert.deepEqual(Object.keys((after as WorkloadSpreadStatus).versionedSubsetStatuses ?? {}), ['coming']);
});

test('an invalid limit reports no counts', () => {
  const subsets = [{ name: 'a', maxReplicas: 'five' }, { name: 'b' }];
  const { status } = decide(observedOf(spreadOf({ subsets }), []), now);
  assert.deepEqual(status, { observedGeneration: 3 });
});

type Reported = readonly [status: 'True' | 'False', secondsAgo: number];

/** Returns the Schedulable condition of each subset: `True Sufficient 0`, with the seconds since its transition. */
function room(pods: readonly Pod[], former?: Reported) {
  const conditions = former && [
    {
      type: 'Schedulable',
      status: former[0],
      reason: former[0] === 'True' ? 'Sufficient' : 'PodUnschedulable',
      message: '',
      lastTransitionTime: ago(former[1]),
    },
  ];
  const before = { name: 'a', replicas: 0, missingReplicas: 0, ...(conditions ? { conditions } : {}) };
  const status = { subsetStatuses: [before], versionedSubsetStatuses: { versionIgnored: [before] } };
  const decision = decide(observedOf(spreadOf({ patience: 5, status }), pods), now);
  const { subsetStatuses = [] } = decision.status as WorkloadSpreadStatus;
  const reported = subsetStatuses.map(({ conditions: [condition] = [] }) => {
    const since = (now - parseTime(condition!.lastTransitionTime)) / 1000;
    return `${condition!.status} ${condition!.reason} ${since}`;
  });
  return {
    reported: reported,
    recorded: (decision.events ?? []).map(({ message }) => message),
    again: decision.requeueAfterSeconds,
  };
}

const stuck = (ageSeconds: number, subset = 'a') => podOf('x', { in: subset, isStuck: true, ageSeconds });
const scheduling: { when: string; pods?: readonly Pod[]; former?: Reported; expected: string; again?: number }[] = [
  { when: 'there are no Pods', expected: 'True Sufficient 0' },
  { when: 'Pods have nodes', pods: [podOf('x', { in: 'a' })], former: ['True', 60], expected: 'True Sufficient 60' },
  { when: 'a Pod exceeds the timeout', pods: [stuck(6)], expected: 'False PodUnschedulable 0' },
  { when: 'a Pod is pending within the timeout', pods: [stuck(3)], expected: 'True Sufficient 0', again: 2.001 },
  {
    when: 'a Pod is terminating',
    pods: [podOf('x', { in: 'a', phase: 'Pending', isDeleted: true })],
    expected: 'True Sufficient 0',
  },
  { when: 'the subset was schedulable', pods: [stuck(6)], former: ['True', 60], expected: 'False PodUnschedulable 0' },
  {
    when: 'the subset stays unschedulable',
    pods: [stuck(6)],
    former: ['False', 400],
    expected: 'False PodUnschedulable 400',
  },
  {
    when: 'the subset became unschedulable a while ago',
    former: ['False', 290],
    expected: 'False PodUnschedulable 290',
    again: 10.001,
  },
  { when: 'the subset became unschedulable long ago', former: ['False', 301], expected: 'True Sufficient 0' },
];
for (const { when, pods = [], former, expected, again } of scheduling) {
  test(`a subset reports ${expected} when ${when}`, () => {
    const found = room(pods, former);
    assert.equal(found.reported[0], expected);
    assert.equal(found.again, again);
  });
}

test('the last subset is always schedulable', () => {
  assert.equal(room([stuck(60, 'b')]).reported[1], 'True Sufficient 0');
});

test('the recovery of a subset records one event', () => {
  assert.deepEqual(room([], ['False', 301]).recorded, [
    'Subset a of WorkloadSpread default/ws is recovered from unschedulable to schedulable',
  ]);
});

test('without rescheduling there is no Schedulable condition', () => {
  const conditions = [
    { type: 'Schedulable', status: 'False' as const, reason: 'x', message: '', lastTransitionTime: ago(1) },
  ];
  const status = { subsetStatuses: [{ name: 'a', replicas: 0, missingReplicas: 0, conditions }] };
  const { status: after } = decide(observedOf(spreadOf({ status }), []), now);
  assert.equal((after as WorkloadSpreadStatus).subsetStatuses?.[0]?.conditions, undefined);
});
