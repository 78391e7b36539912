import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  WorkloadSpread,
  WorkloadSpreadSubset,
  WorkloadSpreadSubsetStatus,
} from '@kruise/api/kruise/workloadspread';
import { formatTime, instantOf } from '@kruise/values/time';
import { allocateSubset, hasPercentages, isCounted, releaseSubset, subsetOfOrdinal } from './subset-allocation.ts';

const now = instantOf(2026, 1, 1);
const time = formatTime(now);

type Status = WorkloadSpread['status'];
const spreadOf = (
  subsets: readonly WorkloadSpreadSubset[],
  status: Status = {},
  kind = 'CloneSet',
): WorkloadSpread => ({
  apiVersion: 'apps.kruise.io/v1beta1',
  kind: 'WorkloadSpread',
  metadata: { name: 'ws', namespace: 'default', uid: 'uid' },
  spec: { targetRef: { apiVersion: 'apps.kruise.io/v1beta1', kind, name: 'web' }, subsets },
  status,
});
const subset = (name: string, missingReplicas: number, more = {}): WorkloadSpreadSubsetStatus => ({
  name,
  replicas: 0,
  missingReplicas,
  ...more,
});
const counted = (...subsets: readonly WorkloadSpreadSubsetStatus[]) =>
  spreadOf([{ name: 'a', maxReplicas: 2 }, { name: 'b' }], { versionedSubsetStatuses: { v1: subsets } });
const listed = (spread: WorkloadSpread | undefined) => spread?.status?.versionedSubsetStatuses?.['v1'];
const closed = {
  conditions: [
    { type: 'Schedulable', status: 'False', reason: 'PodUnschedulable', message: '', lastTransitionTime: time },
  ],
};

const takings: {
  when: string;
  spread: WorkloadSpread;
  name?: string;
  expectedSubset: string | undefined;
  written?: readonly WorkloadSpreadSubsetStatus[];
}[] = [
  {
    when: 'the first subset has a free place',
    spread: counted(subset('a', 2), subset('b', -1)),
    name: 'web-1',
    expectedSubset: 'a',
    written: [subset('a', 1, { creatingPods: { 'web-1': time } }), subset('b', -1)],
  },
  {
    when: 'it has no name yet',
    spread: counted(subset('a', 2), subset('b', -1)),
    expectedSubset: 'a by id',
    written: [subset('a', 1, { creatingPods: { id: time } }), subset('b', -1)],
  },
  { when: 'the first subset is full', spread: counted(subset('a', 0), subset('b', -1)), expectedSubset: 'b' },
  {
    when: 'the first subset is unschedulable',
    spread: counted(subset('a', 2, closed), subset('b', -1)),
    expectedSubset: 'b',
  },
  {
    when: 'all groups are full',
    spread: counted(subset('a', 0), subset('b', 0)),
    name: 'web-1',
    expectedSubset: undefined,
  },
  {
    when: 'its creation is already recorded',
    spread: counted(subset('a', 1, { creatingPods: { 'web-1': time } }), subset('b', -1)),
    name: 'web-1',
    expectedSubset: 'a',
  },
  {
    when: 'the one before it of its name is leaving',
    spread: counted(subset('a', 1), subset('b', 0, { deletingPods: { 'web-1': time } })),
    name: 'web-1',
    expectedSubset: 'b',
  },
  {
    when: 'the version has not been counted yet',
    spread: spreadOf([{ name: 'a', maxReplicas: '40%' }, { name: 'b' }]),
    name: 'web-1',
    expectedSubset: 'a',
    written: [subset('a', 1, { creatingPods: { 'web-1': time } }), subset('b', -1)],
  },
  {
    when: 'the replicas are unknown',
    spread: spreadOf([{ name: 'a', maxReplicas: '40' }, { name: 'b' }]),
    expectedSubset: 'b',
  },
];
for (const { when, spread, name, expectedSubset, written } of takings) {
  test(`a Pod gets ${expectedSubset ? `subset ${expectedSubset}` : 'no subset'} when ${when}`, () => {
    const identity = { version: 'v1', ...(name ? { name } : {}) };
    const { result, object, needsLiveRead } = allocateSubset(spread, identity, { replicas: 5, uid: 'id', now });
    assert.equal(result && [result.subset, ...(result.uid ? ['by', result.uid] : [])].join(' '), expectedSubset);
    assert.deepEqual(listed(object), written);
    assert.equal(needsLiveRead ?? false, expectedSubset === undefined);
  });
}

test('other versions and the overall counts are unchanged', () => {
  const [others, all] = [[subset('a', 0)], [subset('a', 0)]];
  const status = { subsetStatuses: all, versionedSubsetStatuses: { v0: others, v1: [subset('a', 1)] } };
  const spread = spreadOf([{ name: 'a', maxReplicas: 1 }, { name: 'b' }], status);
  const { object } = allocateSubset(spread, { version: 'v1', name: 'p' }, { replicas: 1, uid: 'id', now });
  assert.equal(object?.status?.subsetStatuses, all);
  assert.equal(object?.status?.versionedSubsetStatuses?.['v0'], others);
});

const leavings: {
  when: string;
  spread: WorkloadSpread;
  subset?: string;
  uid?: string;
  written?: readonly WorkloadSpreadSubsetStatus[];
}[] = [
  {
    when: 'its subset is counted',
    spread: counted(subset('a', 0), subset('b', -1)),
    written: [subset('a', 1, { deletingPods: { 'web-1': time } }), subset('b', -1)],
  },
  { when: 'its subset is gone', spread: counted(subset('b', 0)) },
  { when: 'its subset has no limit', spread: counted(subset('a', 0), subset('b', -1)), subset: 'b' },
  { when: 'that is noted already', spread: counted(subset('a', 0, { deletingPods: { 'web-1': time } })) },
  {
    when: 'the controller has not observed it yet',
    spread: counted(subset('a', 0, { creatingPods: { 'web-1': time, other: time } })),
    written: [subset('a', 1, { creatingPods: { other: time }, deletingPods: { 'web-1': time } })],
  },
  {
    when: 'the controller has observed neither it nor its name yet',
    spread: counted(subset('a', 0, { creatingPods: { id: time } })),
    uid: 'id',
    written: [subset('a', 1, { creatingPods: {}, deletingPods: { 'web-1': time } })],
  },
  { when: 'the version has not been counted yet', spread: spreadOf([{ name: 'a', maxReplicas: 2 }]) },
];
for (const { when, spread, subset: own = 'a', uid = '', written } of leavings) {
  test(`a deleted Pod ${written ? 'releases its place' : 'changes nothing'} when ${when}`, () => {
    const { object } = releaseSubset(spread, { version: 'v1', name: 'web-1' }, { subset: own, uid, now });
    assert.deepEqual(listed(object), written);
  });
}

test('percentages depend on the replicas of the workload', () => {
  assert.equal(hasPercentages(spreadOf([{ name: 'a', maxReplicas: '40%' }, { name: 'b' }])), true);
  assert.equal(hasPercentages(spreadOf([{ name: 'a', maxReplicas: 40 }, { name: 'b' }])), false);
});

test('versions are counted separately', () => {
  const spread = counted(subset('a', 2));
  assert.deepEqual(
    [isCounted(spread, 'v1'), isCounted(spread, 'v2'), isCounted(spreadOf([]), 'v1')],
    [true, false, false],
  );
});

const three: readonly WorkloadSpreadSubset[] = [
  { name: 'a', maxReplicas: 2 },
  { name: 'b', maxReplicas: 2 },
  { name: 'c' },
];
const ordinals: { pod: string; subsets?: readonly WorkloadSpreadSubset[]; status?: Status; is: string | undefined }[] =
  [
    { pod: 'web-0', is: 'a' },
    { pod: 'web-1', is: 'a' },
    { pod: 'web-2', is: 'b' },
    { pod: 'web-4', is: 'c' },
    { pod: 'web-100', is: 'c' },
    { pod: 'web', is: 'a' },
    { pod: 'web-2', status: { subsetStatuses: [subset('a', 0, closed)] }, is: 'c' },
    { pod: 'web-4', subsets: three.slice(0, 2), is: undefined },
  ];
for (const { pod, subsets = three, status, is } of ordinals) {
  test(`of ${subsets.length} subsets${status ? ', the first unschedulable,' : ''} ${is ?? 'none'} is assigned to ${pod}`, () => {
    assert.equal(subsetOfOrdinal(spreadOf(subsets, status, 'StatefulSet'), pod), is);
  });
}
