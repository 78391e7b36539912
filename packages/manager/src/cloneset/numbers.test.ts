import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CloneSet } from '@kruise/api/kruise/cloneset';
import fc from 'fast-check';
import { lifecycleStateOf } from '../workload/lifecycle/lifecycle.ts';
import { isAvailable } from '../workload/pod-availability.ts';
import { hashLabels } from '../workload/revision/pod-revision.ts';
import { isSpecifiedDelete } from '../workload/specified-delete.ts';
import { cloneSetOf, now, podsOf, revisionOf } from './fixtures.ts';
import { type Numbers, numbersOf } from './numbers.ts';

const none: Numbers = {
  scaleUp: 0,
  scaleUpOld: 0,
  scaleUpLimit: 0,
  scaleDown: 0,
  scaleDownOld: 0,
  deleteReadyLimit: 0,
  useSurge: 0,
  useSurgeOld: 0,
  updateNumber: 0,
  updateMaxUnavailable: 0,
};

type Case = {
  readonly is: string;
  /** Replicas, partition, maxUnavailable, maxSurge. */
  readonly set: readonly [number, number | string, number | string, number | string];
  readonly pods: string;
  readonly gives: Partial<Numbers>;
  readonly paused?: boolean;
  readonly scaleMax?: number;
  readonly excludes?: boolean;
  /** Every Pod counts by its template, and the current revision is the update revision: no rollback. */
  readonly isCurrent?: boolean;
  readonly rollsBack?: boolean;
  readonly preparingIsNew?: boolean;
};

const cases: readonly Case[] = [
  { is: 'creates all Pods of a new set', set: [5, 0, 1, 0], pods: '', gives: { scaleUp: 5, scaleUpLimit: 5 } },
  {
    is: 'deletes a specified Pod if one may be unavailable',
    set: [5, 0, 1, 0],
    pods: 'NrD Nr Nr Nr Nr',
    gives: { deleteReadyLimit: 1 },
  },
  { is: 'keeps a specified Pod while another is unavailable', set: [5, 0, 1, 0], pods: 'NrD Nr Nr Nr Nn', gives: {} },
  {
    is: 'replaces a missing Pod beside a specified one',
    set: [5, 0, 1, 0],
    pods: 'NrD Nr Nr Nr',
    gives: { scaleUp: 1, scaleUpLimit: 1 },
  },
  {
    is: 'deletes two specified Pods if there is one Pod too many',
    set: [4, 0, 1, 0],
    pods: 'NnD NnD Nr Nr Nr',
    gives: { deleteReadyLimit: 2 },
  },
  {
    is: 'updates Pods beyond the partition',
    set: [5, 3, 1, 0],
    pods: 'Or Or Or Or Or',
    gives: { updateNumber: 2, updateMaxUnavailable: 1 },
  },
  {
    is: 'rolls Pods back when the partition grows',
    set: [5, 4, 2, 0],
    pods: 'Nr Nr Nr Nr Or',
    gives: { updateNumber: -3, updateMaxUnavailable: 2 },
  },
  {
    is: 'rolls no Pods back where rollback is disabled',
    set: [5, 4, 1, 0],
    pods: 'Nr Nr Nr Nr Or',
    rollsBack: false,
    gives: {},
  },
  {
    is: 'creates a replacement before a specified Pod is deleted',
    set: [5, 0, 0, 1],
    pods: 'NrD Nr Nr Nr Nr',
    gives: { useSurge: 1, scaleUp: 1, scaleUpLimit: 1 },
  },
  { is: 'waits for the replacement', set: [5, 0, 0, 1], pods: 'NrD Nr Nr Nr Nr Nn', gives: { useSurge: 1 } },
  {
    is: 'deletes the specified Pod once the replacement is available',
    set: [5, 0, 0, 1],
    pods: 'NrD Nr Nr Nr Nr Nr',
    gives: { useSurge: 1, deleteReadyLimit: 1 },
  },
  {
    is: 'surges for an update',
    set: [5, 3, 1, 1],
    pods: 'Or Or Or Or Or',
    gives: { scaleUp: 1, useSurge: 1, scaleUpLimit: 1, updateNumber: 2, updateMaxUnavailable: 1 },
  },
  {
    is: 'updates one more Pod while a surge Pod starts',
    set: [5, 3, 1, 1],
    pods: 'Or Or Or Or Or Nn',
    gives: { useSurge: 1, updateNumber: 1, updateMaxUnavailable: 2 },
  },
  {
    is: 'surges for a specified Pod of the old revision',
    set: [5, 3, 1, 1],
    pods: 'Or Or Or Or OrD Nn',
    gives: { useSurge: 1, useSurgeOld: 1, deleteReadyLimit: 1, updateNumber: 1, updateMaxUnavailable: 2 },
  },
  {
    is: 'surges while one updated Pod exists',
    set: [5, 3, 1, 1],
    pods: 'Or Or Or Or Nn',
    gives: { scaleUp: 1, useSurge: 1, scaleUpLimit: 1, updateNumber: 1, updateMaxUnavailable: 1 },
  },
  {
    is: 'deletes an excess old Pod, but no ready Pod while two are unavailable',
    set: [5, 3, 1, 1],
    pods: 'Or Or Or Or Nn Nn',
    gives: { scaleDown: 1, scaleDownOld: 1 },
  },
  {
    is: 'deletes an excess old Pod when enough are available',
    set: [5, 3, 1, 1],
    pods: 'Or Or Or Or Nr Nn',
    gives: { scaleDown: 1, scaleDownOld: 1, deleteReadyLimit: 1 },
  },
  {
    is: 'updates one Pod below 100 percent',
    set: [5, '99%', 3, 2],
    pods: 'Or Or Or Or Or',
    gives: { scaleUp: 1, useSurge: 1, scaleUpLimit: 1, updateNumber: 1, updateMaxUnavailable: 3 },
  },
  {
    is: 'rounds maxUnavailable down while surging',
    set: [5, '99%', '30%', '30%'],
    pods: 'Or Or Or Or Or',
    gives: { scaleUp: 1, useSurge: 1, scaleUpLimit: 1, updateNumber: 1, updateMaxUnavailable: 1 },
  },
  { is: 'leaves Pods of one revision alone', set: [5, 3, 1, 0], pods: 'Nr Nr Nr Nr Nr', isCurrent: true, gives: {} },
  {
    is: 'keeps more updated Pods than the partition demands',
    set: [5, 3, 1, 0],
    pods: 'Or Or Nr Nr Nr',
    isCurrent: true,
    gives: {},
  },
  {
    is: 'updates old Pods beyond the partition',
    set: [5, 1, 1, 0],
    pods: 'Or Or Or Nr Nr',
    isCurrent: true,
    gives: { updateNumber: 2, updateMaxUnavailable: 1 },
  },
  {
    is: 'creates a Pod and updates another',
    set: [5, 1, 2, 0],
    pods: 'Or Or Nr Nr',
    isCurrent: true,
    gives: { scaleUp: 1, scaleUpLimit: 1, updateNumber: 1, updateMaxUnavailable: 1 },
  },
  {
    is: 'deletes old Pods before updated ones',
    set: [5, 1, 1, 0],
    pods: 'Or Or Or Nr Nr Nr',
    isCurrent: true,
    gives: { scaleDown: 1, scaleDownOld: 2, deleteReadyLimit: 2, updateNumber: 1, updateMaxUnavailable: 2 },
  },
  {
    is: 'creates no more Pods at once than may be unavailable',
    set: [5, 0, 1, 0],
    scaleMax: 2,
    pods: '',
    gives: { scaleUp: 5, scaleUpLimit: 2 },
  },
  {
    is: 'counts starting Pods as unavailable',
    set: [6, 0, 1, 0],
    scaleMax: 2,
    pods: 'Nr Nr Nn',
    gives: { scaleUp: 3, scaleUpLimit: 1 },
  },
  {
    is: 'creates no Pod while maxUnavailable Pods are starting',
    set: [6, 0, 1, 0],
    scaleMax: 2,
    pods: 'Nr Nn Nn',
    gives: { scaleUp: 3 },
  },
  { is: 'counts Pods in PreparingDelete', set: [3, 0, 1, 0], pods: 'Nr Nr NrP', gives: {} },
  {
    is: 'excludes Pods in PreparingDelete where configured',
    set: [3, 0, 1, 0],
    excludes: true,
    pods: 'Nr Nr NrP',
    gives: { scaleUp: 1, scaleUpLimit: 1 },
  },
  {
    is: 'counts specified Pods where Pods in PreparingDelete are excluded',
    set: [2, 0, 1, 0],
    excludes: true,
    pods: 'Nr Nr NrD',
    gives: { deleteReadyLimit: 2 },
  },
  {
    is: 'surges up to the limit in the last wave, too',
    set: [8, 0, 0, 3],
    pods: 'Or Or Nr Nr Nr Nr Nr Nr Nn',
    gives: { scaleUp: 1, scaleUpLimit: 1, useSurge: 2, updateNumber: 1, updateMaxUnavailable: 1 },
  },
  {
    is: 'creates an old Pod while another is in PreparingUpdate',
    set: [4, '90%', 1, 0],
    preparingIsNew: true,
    pods: 'OrU Or Or',
    gives: { scaleUp: 1, scaleUpOld: 1, scaleUpLimit: 1 },
  },
  {
    is: 'creates an updated Pod where the partition has room',
    set: [4, 2, 1, 0],
    preparingIsNew: true,
    pods: 'OrU Or Or',
    gives: { scaleUp: 1, scaleUpLimit: 1 },
  },
  {
    is: 'does not surge while paused',
    set: [5, 0, 0, 3],
    paused: true,
    pods: 'Or Or Or',
    gives: { scaleUp: 2, scaleUpLimit: 2, updateNumber: 3, updateMaxUnavailable: -2 },
  },
  {
    is: 'deletes excess Pods while paused',
    set: [3, 0, 0, 3],
    paused: true,
    pods: 'Or Or Or Or Or',
    gives: { scaleDown: 2, scaleDownOld: 5, deleteReadyLimit: 2, updateNumber: 3, updateMaxUnavailable: 2 },
  },
  {
    is: 'deletes the surge Pods of an update when it is paused',
    set: [5, 0, 0, 3],
    paused: true,
    pods: 'Or Or Or Or Or Nn Nn Nn',
    gives: { scaleDown: 3, scaleDownOld: 5, updateNumber: 2, updateMaxUnavailable: 3 },
  },
];

for (const each of cases) {
  test(`a CloneSet ${each.is}`, () => {
    const numbers = numbersFor(each);
    // Update numbers and old Pods to create are compared only in cases that list them.
    const compared = each.preparingIsNew ? { ...numbers, updateNumber: 0, updateMaxUnavailable: 0 } : numbers;
    assert.deepEqual(compared, { ...none, ...each.gives });
  });
}

function numbersFor(each: Pick<Case, 'set' | 'pods'> & Partial<Case>): Numbers {
  const [replicas, partition, maxUnavailable, maxSurge] = each.set;
  const { paused = false, scaleMax } = each;
  const spec: Partial<CloneSet['spec']> = {
    replicas,
    updateStrategy: { rollingUpdate: { partition, maxUnavailable, maxSurge, paused } },
    ...(scaleMax === undefined ? {} : { scaleStrategy: { maxUnavailable: scaleMax } }),
  };
  const update = revisionOf('app:v2', 2).metadata.name ?? '';
  const labels = hashLabels({ isShort: false });
  return numbersOf(cloneSetOf(spec), podsOf(each.pods), {
    isUpdatedPod: (pod) =>
      labels.isAt(pod, update) || (Boolean(each.preparingIsNew) && lifecycleStateOf(pod) === 'PreparingUpdate'),
    isAvailable: (pod) => isAvailable(pod, 0, now),
    isSpecifiedDelete,
    canRollBack: (each.rollsBack ?? true) && !each.isCurrent,
    excludesPreparingDelete: each.excludes ?? false,
  });
}

test('a CloneSet without a rolling update creates updated Pods and never updates one', () => {
  const labels = hashLabels({ isShort: false });
  const update = revisionOf('app:v2', 2).metadata.name ?? '';
  const numbers = numbersOf(
    cloneSetOf({ replicas: 6, updateStrategy: { type: 'OnDelete' } }),
    podsOf('Or Or Or Nr Nr Nr Nr Nr'),
    {
      isUpdatedPod: (pod) => labels.isAt(pod, update),
      isAvailable: () => true,
      isSpecifiedDelete,
      canRollBack: true,
      excludesPreparingDelete: false,
    },
  );
  assert.deepEqual([numbers.scaleDown, numbers.scaleDownOld], [2, 3]);
});

const anyCase = fc.record({
  set: fc.tuple(fc.nat(8), fc.nat(10), fc.nat(5), fc.nat(4)),
  pods: fc
    .array(fc.constantFrom('Nr', 'Nn', 'Or', 'On', 'NrD', 'OrD', 'NrP', 'OnP'), { maxLength: 12 })
    .map((words) => words.join(' ')),
  paused: fc.boolean(),
  rollsBack: fc.boolean(),
});

test('a CloneSet never creates and deletes Pods in one reconcile, and stays within its surge', () => {
  fc.assert(
    fc.property(anyCase, (each) => {
      const { scaleUp, scaleDown, scaleUpLimit, useSurge } = numbersFor(each);
      assert.ok(scaleUp === 0 || scaleDown === 0);
      assert.ok(scaleUpLimit <= scaleUp);
      assert.ok(useSurge <= (each.paused ? 0 : each.set[3]));
    }),
  );
});
