import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { StatefulSet, StatefulSetStatus } from '@kruise/api/kruise/statefulset';
import type { StorageClass } from '@kruise/api/storage/storageclass';
import { flattenSteps } from '@kruise/client/actions';
import { ownerReference } from '@kruise/machinery/owner-references';
import { allFeatureGates, type FeatureGates, featureGates } from '../configuration/feature-gates.ts';
import { managerSettings } from '../configuration/settings.ts';
import { decide } from './decide.ts';
import {
  claimOf,
  formatAction,
  now,
  parallel,
  podOf,
  podsOf,
  revisionOf,
  rolling,
  setOf,
  templateOf,
  v1,
  v2,
} from './fixtures.ts';

const former = {
  replicas: 0,
  readyReplicas: 0,
  availableReplicas: 0,
  currentReplicas: 0,
  updatedReplicas: 0,
  currentRevision: v1.metadata.name ?? '',
  updateRevision: v2.metadata.name ?? '',
};

type World = {
  readonly spec?: Partial<StatefulSet['spec']>;
  readonly metadata?: Partial<StatefulSet['metadata']>;
  readonly status?: StatefulSetStatus;
  readonly pods?: readonly Pod[];
  readonly claims?: readonly PersistentVolumeClaim[];
  readonly classes?: readonly StorageClass[];
  readonly revisions?: readonly ControllerRevision[];
  readonly gates?: Partial<FeatureGates>;
};

function decideOn({ spec, metadata, status = former, pods = [], claims = [], classes = [], gates, ...world }: World) {
  const set = setOf(spec);
  const { revisions = [v1, v2] } = world;
  const named = <T extends { readonly metadata: { readonly name?: string } }>(all: readonly T[]) => {
    return (name: string) => all.find((each) => each.metadata.name === name);
  };
  const settings = managerSettings({
    gates: featureGates({ ...allFeatureGates, PreDownloadImageForInPlaceUpdate: false, ...gates }),
  });
  const observed = {
    set: { ...set, metadata: { ...set.metadata, ...metadata }, status },
    pods,
    revisions,
    findRevision: named(revisions),
    findClaim: named(claims),
    findPod: named(pods),
    findStorageClass: named(classes),
    imagePullJobs: [],
  };
  const decision = decide(observed, settings, now);
  const outcome = { failures: [], isStale: false, written: new Map() };
  const reported = typeof decision.status === 'function' ? decision.status(outcome) : decision.status;
  const actions = flattenSteps(decision.actions);
  return { ...decision, actions, did: actions.map(formatAction).join(' '), reported: reported! };
}

type Row = World & { readonly name: string; readonly did: string };

const inPlace = { podUpdatePolicy: 'InPlaceIfPossible' } as const;
const drain = 'conditions of';
const hook = { labelsHandler: { hold: 'yes' } };
const held = { hold: 'yes' };
const made = (ordinals: number[]) => ordinals.map((ordinal) => podOf(ordinal, { image: 'app:v2' }));

const scaling: Row[] = [
  { name: 'ordered: the first Pod is created first', did: '+web-0:v2' },
  { name: 'ordered: the next Pod waits for it', pods: podsOf('0nu'), did: '' },
  { name: 'ordered: the next Pod is created when it is available', pods: podsOf('0n'), did: '+web-1:v2' },
  {
    name: 'ordered: the next Pod waits for minReadySeconds',
    spec: rolling({ minReadySeconds: 100 }),
    pods: podsOf('0n'),
    did: '',
  },
  { name: 'ordered: the next Pod waits while it is terminating', pods: podsOf('0nt 1n'), did: '' },
  { name: 'a missing Pod is created whatever the state of higher ordinals', pods: podsOf('1nu 2n'), did: '+web-0:v2' },
  { name: 'parallel: all Pods are created at once', spec: parallel, did: '+web-0:v2 +web-1:v2 +web-2:v2' },
  {
    name: 'parallel: Pods that are not ready do not block others',
    spec: parallel,
    pods: podsOf('0nu'),
    did: '+web-1:v2 +web-2:v2',
  },
  {
    name: 'parallel: maxUnavailable limits the creation',
    spec: { ...parallel, replicas: 5, scaleStrategy: { maxUnavailable: 2 } },
    did: '+web-0:v2 +web-1:v2',
  },
  {
    name: 'parallel: another Pod is created when one is available',
    spec: { ...parallel, replicas: 5, scaleStrategy: { maxUnavailable: 2 } },
    pods: podsOf('0n 1nu'),
    did: '+web-2:v2',
  },
  {
    name: 'parallel: two more Pods are created at once when all others are available',
    spec: { ...parallel, replicas: 10, scaleStrategy: { maxUnavailable: 2 } },
    pods: made([0, 1, 2]),
    did: '+web-3:v2 +web-4:v2',
  },
  {
    name: 'a percentage of the replicas is rounded down, to at least one',
    spec: { ...parallel, scaleStrategy: { maxUnavailable: '10%' } },
    did: '+web-0:v2',
  },
  {
    name: 'a finished Pod is deleted, and recreated when it is gone',
    pods: [podOf(0, { phase: 'Failed', image: 'app:v2' })],
    did: '−web-0',
  },
  {
    name: 'parallel: a finished Pod that is stuck does not block others',
    spec: parallel,
    pods: [podOf(0, { phase: 'Succeeded', image: 'app:v2', isTerminating: true })],
    did: '+web-1:v2 +web-2:v2',
  },
  {
    name: 'reserved ordinals are skipped',
    spec: { ...parallel, reserveOrdinals: [0, 2] },
    did: '+web-1:v2 +web-3:v2 +web-4:v2',
  },
  {
    name: 'a Pod with a reserved ordinal is deleted when the others are available',
    spec: { reserveOrdinals: [1] },
    pods: made([0, 1, 2, 3]),
    did: '−web-1',
  },
  {
    name: 'ordered: the highest ordinal is deleted first',
    spec: { replicas: 1 },
    pods: made([0, 1, 2]),
    did: '−web-2',
  },
  {
    name: 'ordered: the next deletion waits until it is gone',
    spec: { replicas: 1 },
    pods: podsOf('0n 1n 2nt'),
    did: '',
  },
  {
    name: 'ordered: no Pod is deleted while a lower one is not ready',
    spec: { replicas: 1 },
    pods: podsOf('0n 1nu 2nu'),
    did: '',
  },
  {
    name: 'ordered: the only Pod that is not ready is deleted',
    spec: { replicas: 1 },
    pods: podsOf('0n 1n 2nu'),
    did: '−web-2',
  },
  {
    name: 'ordered: no Pod is deleted while a remaining one is not ready',
    spec: { replicas: 1 },
    pods: podsOf('0nu 1n'),
    did: '',
  },
  {
    name: 'parallel: all are deleted at once',
    spec: { ...parallel, replicas: 0 },
    pods: podsOf('0nu 1n 2n'),
    did: '−web-2 −web-1 −web-0',
  },
  {
    name: 'a Pod with a preDelete hook moves to PreparingDelete',
    spec: { replicas: 0, lifecycle: { preDelete: hook } },
    pods: [podOf(0, { image: 'app:v2', labels: held })],
    did: 'web-0 PreparingDelete',
  },
  {
    name: 'a Pod that a hook already blocks does not block lower ordinals',
    spec: { replicas: 1, lifecycle: { preDelete: hook } },
    pods: [...made([0, 1]), podOf(2, { image: 'app:v2', labels: held, state: 'PreparingDelete' })],
    did: '−web-1',
  },
  {
    name: 'ordered: each Pod is deleted when its hook is released',
    spec: { replicas: 1, lifecycle: { preDelete: hook } },
    pods: [
      ...made([0]),
      podOf(1, { image: 'app:v2', labels: held, state: 'PreparingDelete' }),
      podOf(2, { image: 'app:v2', state: 'PreparingDelete' }),
    ],
    did: '−web-2',
  },
  { name: 'a terminating set does nothing', metadata: { deletionTimestamp: '2026-01-01T12:00:00Z' }, did: '' },
  {
    name: 'a Pod waits for its name to be free',
    pods: [podOf(0, { owner: { apiVersion: 'v1', kind: 'Other', name: 'x', uid: 'y', controller: true } })],
    did: '',
  },
  {
    name: 'a matching orphaned Pod is adopted',
    pods: [podOf(0, { owner: undefined, image: 'app:v2' })],
    did: 'patch web-0 +web-1:v2',
  },
  {
    name: 'a missing Pod name label is restored',
    spec: { replicas: 1 },
    pods: [podOf(0, { image: 'app:v2', labels: { 'statefulset.kubernetes.io/pod-name': '' } })],
    did: 'update web-0',
  },
];

const choosing: Row[] = [
  {
    name: 'a missing Pod below the partition is created at the current revision',
    spec: rolling({ partition: 1 }),
    did: '+web-0:v1',
  },
  {
    name: 'a missing Pod above the partition is created at the update revision',
    spec: rolling({ partition: 1 }),
    pods: podsOf('0 2n'),
    did: '+web-1:v2',
  },
  {
    name: 'a partition counts Pods, not ordinals, below it',
    spec: { ...rolling({ partition: 2 }), reserveOrdinals: [1] },
    pods: podsOf('2 3'),
    did: '+web-0:v1',
  },
  {
    name: 'a partition counts Pods, not ordinals, above it',
    spec: { ...rolling({ partition: 1 }), reserveOrdinals: [1] },
    pods: podsOf('0 3n'),
    did: '+web-2:v2',
  },
  {
    name: 'unordered: Pods are created at the current revision until the partition is filled',
    spec: { ...parallel, ...rolling({ partition: 2, unorderedUpdate: {} }) },
    pods: podsOf('2'),
    did: '+web-0:v1 +web-1:v2',
  },
  {
    name: 'with OnDelete, new Pods are created at the update revision',
    spec: { updateStrategy: { type: 'OnDelete' } },
    pods: podsOf('0 2'),
    did: '+web-1:v2',
  },
  {
    name: 'while paused, new Pods follow the partition',
    spec: { ...rolling({ paused: true, partition: 3 }), replicas: 4 },
    pods: podsOf('0 1 2'),
    did: '+web-3:v2',
  },
];

const updating: Row[] = [
  { name: 'an update starts with the highest ordinal', pods: podsOf('0 1 2'), did: '−web-2' },
  { name: 'an update continues when that Pod is available', pods: podsOf('0 1 2n'), did: '−web-1' },
  { name: 'an update waits while that Pod is not ready', pods: podsOf('0 1 2nu'), did: '' },
  { name: 'ordered: an unavailable Pod blocks the update', pods: podsOf('0u 1 2'), did: '' },
  { name: 'a partition of all keeps all', spec: rolling({ partition: 3 }), pods: podsOf('0 1 2'), did: '' },
  { name: 'a partition above the replicas keeps all', spec: rolling({ partition: 9 }), pods: podsOf('0 1 2'), did: '' },
  { name: 'a partition keeps the lowest ordinals', spec: rolling({ partition: 2 }), pods: podsOf('0 1 2n'), did: '' },
  {
    name: 'with reserved ordinals a partition keeps the same number of Pods',
    spec: { ...rolling({ partition: 2 }), reserveOrdinals: [1, 3] },
    pods: podsOf('0 2 4'),
    did: '−web-4',
  },
  { name: 'a paused set updates nothing', spec: rolling({ paused: true }), pods: podsOf('0 1 2d'), did: '' },
  {
    name: 'an OnDelete set updates nothing',
    spec: { updateStrategy: { type: 'OnDelete' } },
    pods: podsOf('0 1 2'),
    did: '',
  },
  {
    name: 'parallel: maxUnavailable Pods are updated at once',
    spec: { ...parallel, ...rolling({ maxUnavailable: 2, partition: 3 }), replicas: 6 },
    pods: podsOf('0 1 2 3 4 5'),
    did: '−web-5 −web-4',
  },
  {
    name: 'an available updated Pod makes room for the next',
    spec: { ...parallel, ...rolling({ maxUnavailable: 2, partition: 3 }), replicas: 6 },
    pods: podsOf('0 1 2 3 4n 5nu'),
    did: '−web-3',
  },
  {
    name: 'a terminating Pod counts, whatever its ordinal',
    spec: { ...parallel, ...rolling({ maxUnavailable: 2, partition: 3 }), replicas: 6 },
    pods: podsOf('0t 1 2 3 4 5'),
    did: '−web-5',
  },
  {
    name: 'two terminating Pods block the update',
    spec: { ...parallel, ...rolling({ maxUnavailable: 2, partition: 3 }), replicas: 6 },
    pods: podsOf('0t 1 2t 3 4 5'),
    did: '',
  },
  {
    name: 'an unavailable Pod below the partition counts',
    spec: { ...parallel, ...rolling({ maxUnavailable: 1 }) },
    pods: podsOf('0u 1 2'),
    did: '',
  },
  {
    name: 'an unavailable Pod that is next in order is updated in any case',
    spec: { ...parallel, ...rolling({ maxUnavailable: 1 }) },
    pods: podsOf('0 1 2u'),
    did: '−web-2',
  },
  {
    name: 'a drained Pod is recreated even if earlier Pods wait',
    spec: { ...parallel, ...rolling({ maxUnavailable: 1 }), lifecycle: { preDelete: hook }, replicas: 2 },
    pods: [podOf(0, { state: 'PreparingDelete' }), podOf(1)],
    did: '−web-0',
  },
  {
    name: 'ordered: a Pod whose preDelete hook is released is deleted though it is unavailable',
    spec: { lifecycle: { preDelete: hook }, replicas: 2 },
    pods: [podOf(0), podOf(1, { state: 'PreparingDelete' })],
    did: '−web-1',
  },
  {
    name: 'a Pod whose preDelete hook is released is deleted, even if it is updated by now',
    spec: { lifecycle: { preDelete: hook }, replicas: 2 },
    pods: [podOf(0, { image: 'app:v2' }), podOf(1, { image: 'app:v2', state: 'PreparingDelete' })],
    did: '−web-1',
  },
  {
    name: 'a Pod in PreparingDelete is not updated in place, and blocks no other',
    spec: { ...parallel, ...rolling({ maxUnavailable: 2, ...inPlace }), lifecycle: { preDelete: hook }, replicas: 2 },
    pods: [podOf(0), podOf(1, { state: 'PreparingDelete', labels: held })],
    did: `${drain} web-0 ~web-0:v2`,
  },
  {
    name: 'a fifth of three Pods is one',
    spec: { ...parallel, ...rolling({ maxUnavailable: '20%' }) },
    pods: podsOf('0 1 2'),
    did: '−web-2',
  },
  {
    name: 'Pods that never started are updated even if scaleStrategy.maxUnavailable is used up',
    spec: { ...parallel, scaleStrategy: { maxUnavailable: '100%' }, ...rolling({ maxUnavailable: '100%' }) },
    pods: podsOf('0u 1u 2u'),
    did: '−web-2 −web-1 −web-0',
  },
  {
    name: 'the update waits until the last Pod is available',
    spec: { ...parallel, ...rolling({ minReadySeconds: 100 }) },
    pods: [podOf(0, { readyForSeconds: 200 }), podOf(1, { readyForSeconds: 200 }), podOf(2, { image: 'app:v2' })],
    did: '',
  },
  {
    name: 'a recreation waits for the hook',
    spec: { lifecycle: { preDelete: hook }, replicas: 1 },
    pods: [podOf(0, { labels: held })],
    did: 'web-0 PreparingDelete',
  },
];

const unordered = (partition: number) => ({
  ...parallel,
  ...rolling({
    partition,
    maxUnavailable: 9,
    unorderedUpdate: {
      priorityStrategy: { weightPriority: [{ weight: 9, matchSelector: { matchLabels: { tier: 'gold' } } }] },
    },
  }),
});
const chosen: Row[] = [
  {
    name: 'unordered: Pods with priority are updated first',
    spec: unordered(2),
    pods: [podOf(0, { labels: { tier: 'gold' } }), ...podsOf('1 2')],
    did: '−web-0',
  },
  {
    name: 'unordered: updated Pods count first',
    spec: { ...unordered(6), replicas: 10 },
    pods: podsOf('0 1 2n 3 4 5n 6 7 8 9'),
    did: '−web-9 −web-8',
  },
  {
    name: 'a specified Pod is deleted below the partition, too',
    spec: { ...parallel, ...rolling({ maxUnavailable: 3, partition: 3 }), replicas: 6 },
    pods: podsOf('0d 1 2 3 4 5'),
    did: '−web-0 −web-5 −web-4',
  },
  {
    name: 'specified Pods beyond maxUnavailable wait, and so does the update',
    spec: { ...parallel, ...rolling({ maxUnavailable: 3, partition: 3 }), replicas: 6 },
    pods: podsOf('0d 1d 2d 3 4 5d'),
    did: '−web-5 −web-2 −web-1',
  },
  {
    name: 'a specified Pod is deleted, not updated',
    spec: rolling(inPlace),
    pods: podsOf('0 1 2d'),
    did: '−web-2',
  },
];

const inPlaceUpdates: Row[] = [
  {
    name: 'in-place: the highest ordinal is updated',
    spec: rolling(inPlace),
    pods: podsOf('0 1 2'),
    did: `${drain} web-2 ~web-2:v2`,
  },
  {
    name: 'in-place: a Pod with a hook moves to PreparingUpdate first',
    spec: { ...parallel, ...rolling(inPlace), lifecycle: { inPlaceUpdate: hook }, replicas: 1 },
    pods: [podOf(0, { labels: held })],
    did: 'web-0 PreparingUpdate',
  },
  {
    name: 'in-place: a Pod whose hook is released is updated',
    spec: { ...parallel, ...rolling(inPlace), lifecycle: { inPlaceUpdate: hook }, replicas: 1 },
    pods: [podOf(0, { state: 'PreparingUpdate' })],
    did: `${drain} web-0 ~web-0:v2`,
  },
  {
    name: 'in-place: a Pod whose hook is released does not wait for earlier Pods',
    spec: { ...parallel, ...rolling(inPlace), lifecycle: { inPlaceUpdate: hook }, replicas: 2 },
    pods: [podOf(0, { state: 'PreparingUpdate' }), podOf(1)],
    did: `${drain} web-0 ~web-0:v2`,
  },
  {
    name: 'ordered: a Pod whose hook is released is updated, and no other',
    spec: { ...rolling(inPlace), lifecycle: { inPlaceUpdate: hook }, replicas: 3 },
    pods: [podOf(0), podOf(1, { state: 'PreparingUpdate' }), podOf(2, { isReady: false })],
    did: `${drain} web-1 ~web-1:v2`,
  },
  {
    name: 'ordered: a Pod whose hook is released waits for the end of a pause',
    spec: { ...rolling({ ...inPlace, paused: true }), lifecycle: { inPlaceUpdate: hook }, replicas: 1 },
    pods: [podOf(0, { state: 'PreparingUpdate' })],
    did: '',
  },
  {
    name: 'in-place: a Pod with a hook waits',
    spec: { ...parallel, ...rolling(inPlace), lifecycle: { inPlaceUpdate: hook }, replicas: 1 },
    pods: [podOf(0, { state: 'PreparingUpdate', labels: held })],
    did: '',
  },
  {
    name: 'an updated Pod waits for its hook to be restored',
    spec: { ...parallel, ...rolling(inPlace), lifecycle: { inPlaceUpdate: hook }, replicas: 1 },
    pods: [podOf(0, { image: 'app:v2', state: 'Updating' })],
    did: 'web-0 Updated',
  },
  {
    name: 'an updated Pod with its hook restored is Normal',
    spec: { ...parallel, ...rolling(inPlace), lifecycle: { inPlaceUpdate: hook }, replicas: 1 },
    pods: [podOf(0, { image: 'app:v2', state: 'Updated', labels: held })],
    did: 'web-0 Normal',
  },
  {
    name: 'a Pod that is at the right revision again returns to Normal',
    spec: { ...parallel, ...rolling(inPlace), replicas: 1 },
    pods: [podOf(0, { image: 'app:v2', state: 'PreparingUpdate' })],
    did: 'web-0 Normal',
  },
  ...(
    [
      ['still hooked', held, 'web-0 Normal'],
      ['with its hook released', {}, 'web-0 Updated'],
    ] as const
  ).map(([how, labels, did]) => ({
    name: `a Pod in PreparingUpdate, ${how}, returns to Normal where the partition keeps it`,
    spec: {
      ...parallel,
      ...rolling({ ...inPlace, partition: 1 }),
      lifecycle: { inPlaceUpdate: hook },
      replicas: 1,
    },
    pods: [podOf(0, { state: 'PreparingUpdate', labels })],
    did,
  })),
  {
    name: 'a changed lifecycle state delays the update for a reconcile',
    spec: { ...parallel, ...rolling(inPlace), lifecycle: { inPlaceUpdate: hook }, replicas: 1 },
    pods: [podOf(0, { state: 'Updated', labels: held })],
    did: 'web-0 Normal',
  },
  {
    name: 'a Pod that cannot be updated in place is recreated',
    spec: { ...rolling(inPlace), template: { ...templateOf('app:v2'), spec: { containers: [] } } },
    pods: podsOf('0 1 2'),
    did: 'create revision −web-2',
  },
  {
    name: 'with InPlaceOnly the Pod is not recreated',
    spec: {
      ...rolling({ podUpdatePolicy: 'InPlaceOnly' }),
      template: { ...templateOf('app:v2'), spec: { containers: [] } },
    },
    pods: podsOf('0 1 2'),
    did: 'create revision',
  },
  {
    name: 'a new Pod waits for its preNormal hook',
    spec: { lifecycle: { preNormal: hook }, replicas: 1 },
    pods: [podOf(0, { image: 'app:v2', state: 'PreparingNormal' })],
    did: '',
  },
  {
    name: 'a new Pod is Normal once all hooks are present',
    spec: { lifecycle: { preNormal: hook }, replicas: 1 },
    pods: [podOf(0, { image: 'app:v2', state: 'PreparingNormal', labels: held })],
    did: 'web-0 Normal',
  },
];

const data = claimOf('data', { request: '2Gi', className: 'fast' });
const fast = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'fast' }, provisioner: 'x' };
const growing = {
  volumeClaimTemplates: [data],
  volumeClaimUpdateStrategy: { type: 'OnPodRollingUpdate' as const },
  replicas: 2,
};
const using = (ordinal: number, image = 'app:v2') => podOf(ordinal, { image, claims: ['data'] });
const claims: Row[] = [
  {
    name: 'a PVC is created before its Pod',
    spec: { volumeClaimTemplates: [data] },
    did: '+data-web-0 +web-0:v2',
  },
  {
    name: 'an existing PVC is reused',
    spec: { volumeClaimTemplates: [data] },
    claims: [claimOf('data-web-0')],
    did: '+web-0:v2',
  },
  {
    name: 'the creation waits for a terminating PVC',
    spec: { volumeClaimTemplates: [data] },
    claims: [claimOf('data-web-0', { isTerminating: true })],
    did: 'event FailedCreate',
  },
  {
    name: 'the creation waits for a PVC owned by the former Pod',
    spec: {
      volumeClaimTemplates: [data],
      persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Retain' },
    },
    claims: [claimOf('data-web-0', { ownerReferences: [ownerReference(podOf(0))] })],
    did: '',
  },
  {
    name: 'a missing PVC of a pending Pod is created',
    spec: { volumeClaimTemplates: [data], replicas: 1 },
    pods: [podOf(0, { image: 'app:v2', claims: ['data'], phase: 'Pending', isReady: false })],
    did: '+data-web-0',
  },
  {
    name: 'a PVC gets the deleted Pod as an owner',
    spec: {
      volumeClaimTemplates: [data],
      replicas: 1,
      persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Retain' },
    },
    pods: [using(0), using(1)],
    claims: [claimOf('data-web-0'), claimOf('data-web-1')],
    did: 'update data-web-1 −web-1',
  },
  {
    name: 'a PVC gets its owner when the policy changes, with an event',
    spec: {
      volumeClaimTemplates: [data],
      replicas: 1,
      persistentVolumeClaimRetentionPolicy: { whenScaled: 'Retain', whenDeleted: 'Delete' },
    },
    pods: [using(0)],
    claims: [claimOf('data-web-0')],
    did: 'update data-web-0 event SuccessfulUpdate',
  },
  {
    name: 'PVCs are expanded from the highest ordinal down',
    spec: growing,
    pods: [using(0), using(1)],
    claims: [claimOf('data-web-0', { className: 'fast' }), claimOf('data-web-1', { className: 'fast' })],
    classes: [{ ...fast, allowVolumeExpansion: true }],
    did: 'update data-web-1',
  },
  {
    name: 'the next PVC waits until the volume is expanded',
    spec: growing,
    pods: [using(0), using(1)],
    claims: [
      claimOf('data-web-0', { className: 'fast' }),
      claimOf('data-web-1', { className: 'fast', request: '2Gi', capacity: '1Gi' }),
    ],
    classes: [{ ...fast, allowVolumeExpansion: true }],
    did: '',
  },
  {
    name: 'a Pod is updated when its volume is expanded',
    spec: { ...growing, replicas: 1 },
    pods: [using(0, 'app:v1')],
    claims: [claimOf('data-web-0', { className: 'fast', request: '2Gi' })],
    did: '−web-0',
  },
  {
    name: 'a Pod is updated when its file system resize is pending',
    spec: { ...growing, replicas: 1 },
    pods: [using(0, 'app:v1')],
    claims: [
      claimOf('data-web-0', {
        className: 'fast',
        request: '2Gi',
        capacity: '1Gi',
        conditions: [{ type: 'FileSystemResizePending', status: 'True' }],
      }),
    ],
    did: '−web-0',
  },
  {
    name: 'a Pod waits while its volume is expanded',
    spec: { ...growing, replicas: 1 },
    pods: [using(0, 'app:v1')],
    claims: [
      claimOf('data-web-0', {
        className: 'fast',
        request: '2Gi',
        capacity: '1Gi',
        conditions: [{ type: 'Resizing', status: 'True' }],
      }),
    ],
    did: '',
  },
  {
    name: 'a PVC of a class without expansion stays',
    spec: growing,
    pods: [using(0), using(1)],
    claims: [claimOf('data-web-1', { className: 'fast' })],
    classes: [fast],
    did: '',
  },
  {
    name: 'a PVC of another class records an event',
    spec: growing,
    pods: [using(0), using(1)],
    claims: [claimOf('data-web-0'), claimOf('data-web-1', { className: 'slow' })],
    did: 'event FailedUpdatePVC',
  },
  {
    name: 'a PVC that is larger than requested stays',
    spec: growing,
    pods: [using(0), using(1)],
    claims: [claimOf('data-web-1', { className: 'fast', request: '3Gi' })],
    did: '',
  },
  {
    name: 'PVCs are not expanded without the strategy',
    spec: { volumeClaimTemplates: [data], replicas: 1 },
    pods: [using(0)],
    claims: [claimOf('data-web-0')],
    did: '',
  },
];

for (const { name, did, ...world } of [...scaling, ...choosing, ...updating, ...chosen, ...inPlaceUpdates, ...claims]) {
  test(name, () => assert.equal(decideOn(world).did, did));
}

test('a new Pod has its identity and its lifecycle state', () => {
  const [action] = decideOn({ spec: { lifecycle: { preNormal: hook }, volumeClaimTemplates: [data] } }).actions.slice(
    -1,
  );
  const { metadata, spec } = (action as { readonly object: Pod }).object;
  assert.deepEqual(metadata.labels, {
    app: 'web',
    'apps.kubernetes.io/pod-index': '0',
    'controller-revision-hash': v2.metadata.name,
    'lifecycle.apps.kruise.io/state': 'PreparingNormal',
    'statefulset.kubernetes.io/pod-name': 'web-0',
  });
  assert.deepEqual(
    [metadata.name, metadata.generateName, spec?.hostname, spec?.subdomain],
    ['web-0', 'web-', 'web-0', 'web'],
  );
  assert.deepEqual(spec?.volumes, [{ name: 'data', persistentVolumeClaim: { claimName: 'data-web-0' } }]);
});

test('a Pod has no index label without the feature gate', () => {
  const [action] = decideOn({ gates: { PodIndexLabel: false } }).actions;
  const { metadata } = (action as { readonly object: Pod }).object;
  assert.equal(metadata.labels?.['apps.kubernetes.io/pod-index'], undefined);
});

test('the status counts Pods, without Pods that are about to leave their revision', () => {
  const { reported } = decideOn({ spec: rolling({ minReadySeconds: 0 }), pods: podsOf('0 1 2n') });
  assert.deepEqual(reported, {
    observedGeneration: 1,
    replicas: 3,
    readyReplicas: 3,
    availableReplicas: 3,
    currentReplicas: 1,
    updatedReplicas: 1,
    updatedReadyReplicas: 1,
    updatedAvailableReplicas: 1,
    currentRevision: v1.metadata.name,
    updateRevision: v2.metadata.name,
    collisionCount: 0,
    labelSelector: 'app=web',
  });
});

test('once every Pod is updated and ready, the update revision becomes the current revision', () => {
  const { reported } = decideOn({ pods: podsOf('0n 1n 2n') });
  assert.deepEqual([reported.currentRevision, reported.currentReplicas], [v2.metadata.name, 3]);
  const unready = decideOn({ pods: podsOf('0n 1n 2nu') }).reported;
  assert.deepEqual([unready.currentRevision, unready.currentReplicas], [v1.metadata.name, 0]);
});

test('the status reports the progress of each volume claim template', () => {
  const { reported } = decideOn({
    spec: { volumeClaimTemplates: [data] },
    pods: [using(0), using(1), using(2)],
    claims: [
      claimOf('data-web-0', { className: 'fast', request: '3Gi' }),
      claimOf('data-web-1', { className: 'fast', request: '2Gi', capacity: '1Gi' }),
      claimOf('data-web-2', { className: 'fast' }),
    ],
  });
  assert.deepEqual(reported.volumeClaims, [
    { volumeClaimName: 'data', compatibleReplicas: 2, compatibleReadyReplicas: 1 },
  ]);
});

test('a Pod that cannot be created sets a condition', () => {
  const { reported } = decideOn({
    spec: { volumeClaimTemplates: [data] },
    claims: [claimOf('data-web-0', { isTerminating: true })],
  });
  assert.deepEqual(
    reported.conditions?.map(({ type, status, message }) => [type, status, message]),
    [['FailedCreatePod', 'True', 'StatefulPodControl failed to create Pod error: pvc data-web-0 is to be deleted']],
  );
});

test('a set is requeued for the next Pod that becomes available', () => {
  const { requeueAfterSeconds } = decideOn({ spec: rolling({ minReadySeconds: 100 }), pods: podsOf('0n') });
  assert.equal(requeueAfterSeconds, 40);
});

test('a rollback reuses the revision with a higher number', () => {
  const revisions = [revisionOf('app:v2', 1), revisionOf('app:v1', 2)];
  const { actions } = decideOn({ revisions, pods: podsOf('0n 1n 2n') });
  const patch = actions.find((action) => 'object' in action && action.object.kind === 'ControllerRevision');
  assert.deepEqual(patch?.type === 'patch' && patch.patch, { revision: 3 });
});

test('unused revisions beyond the limit are pruned', () => {
  const revisions = ['a', 'b', 'c'].map((tag, index) => revisionOf(`app:${tag}`, index + 1));
  const world = {
    revisions: [...revisions, revisionOf('app:v1', 8), revisionOf('app:v2', 9)],
    spec: { revisionHistoryLimit: 1 },
  };
  assert.equal(decideOn({ ...world, pods: podsOf('0n 1n 2n') }).did, 'remove revision remove revision');
});
