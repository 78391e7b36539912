import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { StatefulSet, StatefulSetStatus } from '@kruise/api/kruise/statefulset';
import type { StorageClass } from '@kruise/api/storage/storageclass';
import { ownerReference } from '@kruise/machinery/owner-references';
import { allFeatureGates, type FeatureGates, featureGates } from '../../feature-gates.ts';
import { managerSettings } from '../../settings.ts';
import { decide } from './decide.ts';
import {
  claimOf,
  now,
  parallel,
  podOf,
  podsOf,
  revisionOf,
  rolling,
  said,
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
  return { ...decision, did: decision.actions.map(said).join(' '), reported: reported! };
}

type Row = World & { readonly name: string; readonly did: string };

const inPlace = { podUpdatePolicy: 'InPlaceIfPossible' } as const;
const drain = 'conditions of';
const hook = { labelsHandler: { hold: 'yes' } };
const held = { hold: 'yes' };
const made = (ordinals: number[]) => ordinals.map((ordinal) => podOf(ordinal, { image: 'app:v2' }));

const scaling: Row[] = [
  { name: 'in order, the first Pod is made first', did: '+web-0:v2' },
  { name: 'in order, the next one waits for it', pods: podsOf('0nu'), did: '' },
  { name: 'in order, the next one is made when it is available', pods: podsOf('0n'), did: '+web-1:v2' },
  {
    name: 'in order, the next one waits until it has been ready for long enough',
    spec: rolling({ minReadySeconds: 100 }),
    pods: podsOf('0n'),
    did: '',
  },
  { name: 'in order, the next one waits while it is leaving', pods: podsOf('0nt 1n'), did: '' },
  { name: 'a Pod that is missing is made whatever those above it do', pods: podsOf('1nu 2n'), did: '+web-0:v2' },
  { name: 'in parallel, all are made at once', spec: parallel, did: '+web-0:v2 +web-1:v2 +web-2:v2' },
  {
    name: 'in parallel, Pods that are not ready hold up nobody',
    spec: parallel,
    pods: podsOf('0nu'),
    did: '+web-1:v2 +web-2:v2',
  },
  {
    name: 'in parallel, as many are made as may be unavailable',
    spec: { ...parallel, replicas: 5, scaleStrategy: { maxUnavailable: 2 } },
    did: '+web-0:v2 +web-1:v2',
  },
  {
    name: 'in parallel, one more is made when one is available',
    spec: { ...parallel, replicas: 5, scaleStrategy: { maxUnavailable: 2 } },
    pods: podsOf('0n 1nu'),
    did: '+web-2:v2',
  },
  {
    name: 'of three Pods that are available ten become five at once',
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
    name: 'a Pod that is over is deleted, and comes back when it is gone',
    pods: [podOf(0, { phase: 'Failed', image: 'app:v2' })],
    did: '−web-0',
  },
  {
    name: 'in parallel, a Pod that is over and stuck holds up nobody',
    spec: parallel,
    pods: [podOf(0, { phase: 'Succeeded', image: 'app:v2', isLeaving: true })],
    did: '+web-1:v2 +web-2:v2',
  },
  {
    name: 'reserved numbers are left out',
    spec: { ...parallel, reserveOrdinals: [0, 2] },
    did: '+web-1:v2 +web-3:v2 +web-4:v2',
  },
  {
    name: 'a Pod whose number is reserved goes when the others are there',
    spec: { reserveOrdinals: [1] },
    pods: made([0, 1, 2, 3]),
    did: '−web-1',
  },
  { name: 'in order, the highest goes first', spec: { replicas: 1 }, pods: made([0, 1, 2]), did: '−web-2' },
  {
    name: 'in order, the next one waits until it is gone',
    spec: { replicas: 1 },
    pods: podsOf('0n 1n 2nt'),
    did: '',
  },
  {
    name: 'in order, none goes while one below it is not ready',
    spec: { replicas: 1 },
    pods: podsOf('0n 1nu 2nu'),
    did: '',
  },
  {
    name: 'in order, the one that is not ready goes if it is the only one',
    spec: { replicas: 1 },
    pods: podsOf('0n 1n 2nu'),
    did: '−web-2',
  },
  {
    name: 'in order, none goes while one that stays is not ready',
    spec: { replicas: 1 },
    pods: podsOf('0nu 1n'),
    did: '',
  },
  {
    name: 'in parallel, all go at once',
    spec: { ...parallel, replicas: 0 },
    pods: podsOf('0nu 1n 2n'),
    did: '−web-2 −web-1 −web-0',
  },
  {
    name: 'a Pod that a hook holds is told so instead',
    spec: { replicas: 0, lifecycle: { preDelete: hook } },
    pods: [podOf(0, { image: 'app:v2', labels: held })],
    did: 'web-0 PreparingDelete',
  },
  {
    name: 'a Pod that is held already does not hold up those below it',
    spec: { replicas: 1, lifecycle: { preDelete: hook } },
    pods: [...made([0, 1]), podOf(2, { image: 'app:v2', labels: held, state: 'PreparingDelete' })],
    did: '−web-1',
  },
  {
    name: 'in order, of those that are held each goes when it is let go',
    spec: { replicas: 1, lifecycle: { preDelete: hook } },
    pods: [
      ...made([0]),
      podOf(1, { image: 'app:v2', labels: held, state: 'PreparingDelete' }),
      podOf(2, { image: 'app:v2', state: 'PreparingDelete' }),
    ],
    did: '−web-2',
  },
  { name: 'a set on its way out does nothing', metadata: { deletionTimestamp: '2026-01-01T12:00:00Z' }, did: '' },
  {
    name: 'a name that somebody else has is waited for',
    pods: [podOf(0, { owner: { apiVersion: 'v1', kind: 'Other', name: 'x', uid: 'y', controller: true } })],
    did: '',
  },
  {
    name: 'a Pod of nobody that fits is taken in',
    pods: [podOf(0, { owner: undefined, image: 'app:v2' })],
    did: 'patch web-0 +web-1:v2',
  },
  {
    name: 'a Pod without the label of its name is given it back',
    spec: { replicas: 1 },
    pods: [podOf(0, { image: 'app:v2', labels: { 'statefulset.kubernetes.io/pod-name': '' } })],
    did: 'update web-0',
  },
];

const choosing: Row[] = [
  {
    name: 'a missing Pod below the partition is of the current revision',
    spec: rolling({ partition: 1 }),
    did: '+web-0:v1',
  },
  {
    name: 'a missing Pod above it is of the update revision',
    spec: rolling({ partition: 1 }),
    pods: podsOf('0 2n'),
    did: '+web-1:v2',
  },
  {
    name: 'a partition counts Pods, not numbers, below it',
    spec: { ...rolling({ partition: 2 }), reserveOrdinals: [1] },
    pods: podsOf('2 3'),
    did: '+web-0:v1',
  },
  {
    name: 'a partition counts Pods, not numbers, above it',
    spec: { ...rolling({ partition: 1 }), reserveOrdinals: [1] },
    pods: podsOf('0 3n'),
    did: '+web-2:v2',
  },
  {
    name: 'out of order, Pods are of the current revision until enough are',
    spec: { ...parallel, ...rolling({ partition: 2, unorderedUpdate: {} }) },
    pods: podsOf('2'),
    did: '+web-0:v1 +web-1:v2',
  },
  {
    name: 'on deletion, new Pods are of the update revision',
    spec: { updateStrategy: { type: 'OnDelete' } },
    pods: podsOf('0 2'),
    did: '+web-1:v2',
  },
  {
    name: 'while paused, new Pods are made as the partition says',
    spec: { ...rolling({ paused: true, partition: 3 }), replicas: 4 },
    pods: podsOf('0 1 2'),
    did: '+web-3:v2',
  },
];

const updating: Row[] = [
  { name: 'an update begins with the highest number', pods: podsOf('0 1 2'), did: '−web-2' },
  { name: 'it goes on when that one is back', pods: podsOf('0 1 2n'), did: '−web-1' },
  { name: 'it waits while that one is not ready', pods: podsOf('0 1 2nu'), did: '' },
  { name: 'in order, a Pod that is broken holds everything up', pods: podsOf('0u 1 2'), did: '' },
  { name: 'a partition of all keeps all', spec: rolling({ partition: 3 }), pods: podsOf('0 1 2'), did: '' },
  { name: 'a partition larger than all keeps all', spec: rolling({ partition: 9 }), pods: podsOf('0 1 2'), did: '' },
  { name: 'a partition keeps the lowest', spec: rolling({ partition: 2 }), pods: podsOf('0 1 2n'), did: '' },
  {
    name: 'with reserved numbers a partition keeps as many',
    spec: { ...rolling({ partition: 2 }), reserveOrdinals: [1, 3] },
    pods: podsOf('0 2 4'),
    did: '−web-4',
  },
  { name: 'nothing is updated while paused', spec: rolling({ paused: true }), pods: podsOf('0 1 2d'), did: '' },
  {
    name: 'nothing is updated on deletion only',
    spec: { updateStrategy: { type: 'OnDelete' } },
    pods: podsOf('0 1 2'),
    did: '',
  },
  {
    name: 'in parallel, as many go as may be unavailable',
    spec: { ...parallel, ...rolling({ maxUnavailable: 2, partition: 3 }), replicas: 6 },
    pods: podsOf('0 1 2 3 4 5'),
    did: '−web-5 −web-4',
  },
  {
    name: 'one of them that is back lets the next go',
    spec: { ...parallel, ...rolling({ maxUnavailable: 2, partition: 3 }), replicas: 6 },
    pods: podsOf('0 1 2 3 4n 5nu'),
    did: '−web-3',
  },
  {
    name: 'a Pod that leaves counts, wherever it is',
    spec: { ...parallel, ...rolling({ maxUnavailable: 2, partition: 3 }), replicas: 6 },
    pods: podsOf('0t 1 2 3 4 5'),
    did: '−web-5',
  },
  {
    name: 'two that leave stop it',
    spec: { ...parallel, ...rolling({ maxUnavailable: 2, partition: 3 }), replicas: 6 },
    pods: podsOf('0t 1 2t 3 4 5'),
    did: '',
  },
  {
    name: 'a Pod below that is broken counts',
    spec: { ...parallel, ...rolling({ maxUnavailable: 1 }) },
    pods: podsOf('0u 1 2'),
    did: '',
  },
  {
    name: 'a Pod whose turn it is and that is broken needs no leave',
    spec: { ...parallel, ...rolling({ maxUnavailable: 1 }) },
    pods: podsOf('0 1 2u'),
    did: '−web-2',
  },
  {
    name: 'a Pod that is held before its replacement is replaced though those before it wait',
    spec: { ...parallel, ...rolling({ maxUnavailable: 1 }), lifecycle: { preDelete: hook }, replicas: 2 },
    pods: [podOf(0, { state: 'PreparingDelete' }), podOf(1)],
    did: '−web-0',
  },
  {
    name: 'in order, a Pod that waited for its end and is let go is deleted though it is not available',
    spec: { lifecycle: { preDelete: hook }, replicas: 2 },
    pods: [podOf(0), podOf(1, { state: 'PreparingDelete' })],
    did: '−web-1',
  },
  {
    name: 'a Pod that waited for its end and is let go is deleted, though it is what it should be by now',
    spec: { lifecycle: { preDelete: hook }, replicas: 2 },
    pods: [podOf(0, { image: 'app:v2' }), podOf(1, { image: 'app:v2', state: 'PreparingDelete' })],
    did: '−web-1',
  },
  {
    name: 'a Pod that is held before its deletion is not changed in place, and holds up nobody',
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
    name: 'Pods that never started are updated though no more may be made',
    spec: { ...parallel, scaleStrategy: { maxUnavailable: '100%' }, ...rolling({ maxUnavailable: '100%' }) },
    pods: podsOf('0u 1u 2u'),
    did: '−web-2 −web-1 −web-0',
  },
  {
    name: 'Pods wait until the last one has been ready for long enough',
    spec: { ...parallel, ...rolling({ minReadySeconds: 100 }) },
    pods: [podOf(0, { readyForSeconds: 200 }), podOf(1, { readyForSeconds: 200 }), podOf(2, { image: 'app:v2' })],
    did: '',
  },
  {
    name: 'recreation waits for the hook',
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
    name: 'out of order, those with priority are updated first',
    spec: unordered(2),
    pods: [podOf(0, { labels: { tier: 'gold' } }), ...podsOf('1 2')],
    did: '−web-0',
  },
  {
    name: 'out of order, those that are updated count first',
    spec: { ...unordered(6), replicas: 10 },
    pods: podsOf('0 1 2n 3 4 5n 6 7 8 9'),
    did: '−web-9 −web-8',
  },
  {
    name: 'a Pod that somebody chose is deleted below the partition, too',
    spec: { ...parallel, ...rolling({ maxUnavailable: 3, partition: 3 }), replicas: 6 },
    pods: podsOf('0d 1 2 3 4 5'),
    did: '−web-0 −web-5 −web-4',
  },
  {
    name: 'more than may be unavailable wait, and so does the update',
    spec: { ...parallel, ...rolling({ maxUnavailable: 3, partition: 3 }), replicas: 6 },
    pods: podsOf('0d 1d 2d 3 4 5d'),
    did: '−web-5 −web-2 −web-1',
  },
  {
    name: 'a Pod that somebody chose is deleted, not updated',
    spec: rolling(inPlace),
    pods: podsOf('0 1 2d'),
    did: '−web-2',
  },
];

const inPlaceUpdates: Row[] = [
  {
    name: 'in place, the highest is changed',
    spec: rolling(inPlace),
    pods: podsOf('0 1 2'),
    did: `${drain} web-2 ~web-2:v2`,
  },
  {
    name: 'in place, a Pod that is held is told so first',
    spec: { ...parallel, ...rolling(inPlace), lifecycle: { inPlaceUpdate: hook }, replicas: 1 },
    pods: [podOf(0, { labels: held })],
    did: 'web-0 PreparingUpdate',
  },
  {
    name: 'in place, a Pod that is let go is updated',
    spec: { ...parallel, ...rolling(inPlace), lifecycle: { inPlaceUpdate: hook }, replicas: 1 },
    pods: [podOf(0, { state: 'PreparingUpdate' })],
    did: `${drain} web-0 ~web-0:v2`,
  },
  {
    name: 'in place, a Pod that is let go does not wait for those before it',
    spec: { ...parallel, ...rolling(inPlace), lifecycle: { inPlaceUpdate: hook }, replicas: 2 },
    pods: [podOf(0, { state: 'PreparingUpdate' }), podOf(1)],
    did: `${drain} web-0 ~web-0:v2`,
  },
  {
    name: 'in order, too, a Pod that is let go is updated, and no other',
    spec: { ...rolling(inPlace), lifecycle: { inPlaceUpdate: hook }, replicas: 3 },
    pods: [podOf(0), podOf(1, { state: 'PreparingUpdate' }), podOf(2, { isReady: false })],
    did: `${drain} web-1 ~web-1:v2`,
  },
  {
    name: 'in order, a Pod that is let go waits for the end of a pause',
    spec: { ...rolling({ ...inPlace, paused: true }), lifecycle: { inPlaceUpdate: hook }, replicas: 1 },
    pods: [podOf(0, { state: 'PreparingUpdate' })],
    did: '',
  },
  {
    name: 'in place, a Pod that is still held waits',
    spec: { ...parallel, ...rolling(inPlace), lifecycle: { inPlaceUpdate: hook }, replicas: 1 },
    pods: [podOf(0, { state: 'PreparingUpdate', labels: held })],
    did: '',
  },
  {
    name: 'a Pod that has been updated waits for its hook to be put back',
    spec: { ...parallel, ...rolling(inPlace), lifecycle: { inPlaceUpdate: hook }, replicas: 1 },
    pods: [podOf(0, { image: 'app:v2', state: 'Updating' })],
    did: 'web-0 Updated',
  },
  {
    name: 'with it put back, all is normal again',
    spec: { ...parallel, ...rolling(inPlace), lifecycle: { inPlaceUpdate: hook }, replicas: 1 },
    pods: [podOf(0, { image: 'app:v2', state: 'Updated', labels: held })],
    did: 'web-0 Normal',
  },
  {
    name: 'a Pod that was to be updated and is at the right revision again is let go',
    spec: { ...parallel, ...rolling(inPlace), replicas: 1 },
    pods: [podOf(0, { image: 'app:v2', state: 'PreparingUpdate' })],
    did: 'web-0 Normal',
  },
  ...(
    [
      ['still held', held, 'web-0 Normal'],
      ['let go', {}, 'web-0 Updated'],
    ] as const
  ).map(([how, labels, did]) => ({
    name: `a Pod that was to be updated, ${how}, goes back where the partition keeps it`,
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
    name: 'a state that changes holds up the update for a pass',
    spec: { ...parallel, ...rolling(inPlace), lifecycle: { inPlaceUpdate: hook }, replicas: 1 },
    pods: [podOf(0, { state: 'Updated', labels: held })],
    did: 'web-0 Normal',
  },
  {
    name: 'what cannot be done in place is done by recreating',
    spec: { ...rolling(inPlace), template: { ...templateOf('app:v2'), spec: { containers: [] } } },
    pods: podsOf('0 1 2'),
    did: 'create revision −web-2',
  },
  {
    name: 'or not at all, where that is not wanted',
    spec: {
      ...rolling({ podUpdatePolicy: 'InPlaceOnly' }),
      template: { ...templateOf('app:v2'), spec: { containers: [] } },
    },
    pods: podsOf('0 1 2'),
    did: 'create revision',
  },
  {
    name: 'a new Pod waits in its hook',
    spec: { lifecycle: { preNormal: hook }, replicas: 1 },
    pods: [podOf(0, { image: 'app:v2', state: 'PreparingNormal' })],
    did: '',
  },
  {
    name: 'and is normal once it carries all of it',
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
    name: 'a claim is made before its Pod',
    spec: { volumeClaimTemplates: [data] },
    did: '+data-web-0 +web-0:v2',
  },
  {
    name: 'a claim that is there is used again',
    spec: { volumeClaimTemplates: [data] },
    claims: [claimOf('data-web-0')],
    did: '+web-0:v2',
  },
  {
    name: 'a claim that is leaving is waited for',
    spec: { volumeClaimTemplates: [data] },
    claims: [claimOf('data-web-0', { isLeaving: true })],
    did: 'tell FailedCreate',
  },
  {
    name: 'a claim that goes with the Pod before is waited for, too',
    spec: {
      volumeClaimTemplates: [data],
      persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Retain' },
    },
    claims: [claimOf('data-web-0', { ownerReferences: [ownerReference(podOf(0))] })],
    did: '',
  },
  {
    name: 'a claim that a Pod waits for is made',
    spec: { volumeClaimTemplates: [data], replicas: 1 },
    pods: [podOf(0, { image: 'app:v2', claims: ['data'], phase: 'Pending', isReady: false })],
    did: '+data-web-0',
  },
  {
    name: 'a claim is given to the Pod that goes',
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
    name: 'a claim gets its owner when the policy changes, and that is told',
    spec: {
      volumeClaimTemplates: [data],
      replicas: 1,
      persistentVolumeClaimRetentionPolicy: { whenScaled: 'Retain', whenDeleted: 'Delete' },
    },
    pods: [using(0)],
    claims: [claimOf('data-web-0')],
    did: 'update data-web-0 tell SuccessfulUpdate',
  },
  {
    name: 'claims grow from the highest number down',
    spec: growing,
    pods: [using(0), using(1)],
    claims: [claimOf('data-web-0', { className: 'fast' }), claimOf('data-web-1', { className: 'fast' })],
    classes: [{ ...fast, allowVolumeExpansion: true }],
    did: 'update data-web-1',
  },
  {
    name: 'the next waits until that volume has grown',
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
    name: 'a Pod is updated when its volume has grown',
    spec: { ...growing, replicas: 1 },
    pods: [using(0, 'app:v1')],
    claims: [claimOf('data-web-0', { className: 'fast', request: '2Gi' })],
    did: '−web-0',
  },
  {
    name: 'a Pod is updated when its volume waits for it to grow',
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
    name: 'a Pod waits while its volume grows',
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
    name: 'a claim of a class that cannot grow stays as it is',
    spec: growing,
    pods: [using(0), using(1)],
    claims: [claimOf('data-web-1', { className: 'fast' })],
    classes: [fast],
    did: '',
  },
  {
    name: 'a claim of another class is said to be in the way',
    spec: growing,
    pods: [using(0), using(1)],
    claims: [claimOf('data-web-0'), claimOf('data-web-1', { className: 'slow' })],
    did: 'tell FailedUpdatePVC',
  },
  {
    name: 'a claim that is larger than asked for stays as it is',
    spec: growing,
    pods: [using(0), using(1)],
    claims: [claimOf('data-web-1', { className: 'fast', request: '3Gi' })],
    did: '',
  },
  {
    name: 'claims do not grow where nobody asked for it',
    spec: { volumeClaimTemplates: [data], replicas: 1 },
    pods: [using(0)],
    claims: [claimOf('data-web-0')],
    did: '',
  },
];

for (const { name, did, ...world } of [...scaling, ...choosing, ...updating, ...chosen, ...inPlaceUpdates, ...claims]) {
  test(name, () => assert.equal(decideOn(world).did, did));
}

test('a new Pod knows who and where it is, and in which state', () => {
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

test('without the gate a Pod does not say its number', () => {
  const [action] = decideOn({ gates: { PodIndexLabel: false } }).actions;
  const { metadata } = (action as { readonly object: Pod }).object;
  assert.equal(metadata.labels?.['apps.kubernetes.io/pod-index'], undefined);
});

test('the status counts Pods, and what is about to leave its revision no more', () => {
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

test('once every Pod is updated and ready, the update revision is the current one', () => {
  const { reported } = decideOn({ pods: podsOf('0n 1n 2n') });
  assert.deepEqual([reported.currentRevision, reported.currentReplicas], [v2.metadata.name, 3]);
  const unready = decideOn({ pods: podsOf('0n 1n 2nu') }).reported;
  assert.deepEqual([unready.currentRevision, unready.currentReplicas], [v1.metadata.name, 0]);
});

test('the status says how far each claim template has been carried out', () => {
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

test('what keeps a Pod from being made is told in a condition', () => {
  const { reported } = decideOn({
    spec: { volumeClaimTemplates: [data] },
    claims: [claimOf('data-web-0', { isLeaving: true })],
  });
  assert.deepEqual(
    reported.conditions?.map(({ type, status, message }) => [type, status, message]),
    [['FailedCreatePod', 'True', 'StatefulPodControl failed to create Pod error: pvc data-web-0 is to be deleted']],
  );
});

test('a set looks again when the next Pod becomes available', () => {
  const { requeueAfterSeconds } = decideOn({ spec: rolling({ minReadySeconds: 100 }), pods: podsOf('0n') });
  assert.equal(requeueAfterSeconds, 40);
});

test('a template that comes back brings its revision back with a higher number', () => {
  const revisions = [revisionOf('app:v2', 1), revisionOf('app:v1', 2)];
  const { actions } = decideOn({ revisions, pods: podsOf('0n 1n 2n') });
  const patch = actions.find((action) => 'object' in action && action.object.kind === 'ControllerRevision');
  assert.deepEqual(patch?.type === 'patch' && patch.patch, { revision: 3 });
});

test('revisions that nobody needs are deleted beyond the limit', () => {
  const revisions = ['a', 'b', 'c'].map((tag, index) => revisionOf(`app:${tag}`, index + 1));
  const world = {
    revisions: [...revisions, revisionOf('app:v1', 8), revisionOf('app:v2', 9)],
    spec: { revisionHistoryLimit: 1 },
  };
  assert.equal(decideOn({ ...world, pods: podsOf('0n 1n 2n') }).did, 'remove revision remove revision');
});
