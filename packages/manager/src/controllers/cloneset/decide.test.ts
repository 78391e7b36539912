import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { CloneSet, CloneSetRollingUpdate } from '@kruise/api/kruise/cloneset';
import type { PodUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import {
  cloneSetInstanceIdLabel,
  inPlaceUpdateGraceAnnotation,
  inPlaceUpdateReadyCondition,
  kruisePodReadyCondition,
  lifecycleStateLabel,
  specifiedDeleteLabel,
} from '@kruise/api/kruise/well-known';
import type { Action } from '@kruise/client/actions';
import { controllerReference } from '@kruise/machinery/owner-references';
import { allFeatureGates, type FeatureGates, featureGates } from '../../feature-gates.ts';
import { managerSettings } from '../../settings.ts';
import { decide, type Observed } from './decide.ts';
import { cloneSetOf, now, owner, podOf, revisionOf } from './fixtures.ts';

const [v1, v2] = [revisionOf('app:v1', 1), revisionOf('app:v2', 2)];
const revisions = [v1, v2];
const atV1 = { currentRevision: v1.metadata.name ?? '', updateRevision: v2.metadata.name ?? '' };
const status = {
  replicas: 0,
  readyReplicas: 0,
  availableReplicas: 0,
  updatedReplicas: 0,
  updatedReadyReplicas: 0,
  ...atV1,
};

type World = {
  readonly generation?: number;
  readonly spec?: Partial<CloneSet['spec']>;
  readonly rolling?: CloneSetRollingUpdate;
  readonly pods?: readonly Pod[];
  readonly claims?: readonly PersistentVolumeClaim[];
  readonly revisions?: Observed['revisions'];
  readonly status?: CloneSet['status'];
  readonly gates?: Partial<FeatureGates>;
  readonly budget?: PodUnavailableBudget;
};

function decideOn({
  generation,
  spec,
  rolling,
  pods = [],
  claims = [],
  revisions: known = revisions,
  gates = {},
  ...world
}: World) {
  const desired = cloneSetOf({
    replicas: 3,
    ...(rolling ? { updateStrategy: { rollingUpdate: rolling } } : {}),
    ...spec,
  });
  const metadata = { ...desired.metadata, ...(generation === undefined ? {} : { generation }) };
  const cloneSet: CloneSet = { ...desired, metadata, status: world.status ?? status };
  const observed: Observed = {
    cloneSet,
    pods,
    claims,
    revisions: known,
    revisionNamed: (name) => known.find(({ metadata }) => metadata.name === name),
    nodeLabels: () => undefined,
    imagePullJobs: [],
    budgetNamed: () => world.budget,
  };
  const settings = managerSettings({ gates: featureGates({ ...allFeatureGates, ...gates }) });
  const decision = decide(observed, settings, now);
  const outcome = { failures: [], isStale: false, written: new Map() };
  const reported = typeof decision.status === 'function' ? decision.status(outcome) : decision.status;
  return { ...decision, cloneSet, did: decision.actions.map(said).filter((each) => each !== ''), reported };
}

/** An action as one would say it. What is told of it, and notes about images, are left out. */
function said(action: Action): string {
  if (action.type === 'record' || action.type === 'effect')
    return action.type === 'record' ? `tell ${action.event.reason}` : '';
  const { kind, metadata } = action.object;
  const name = metadata.name ?? '';
  if (action.type === 'create') {
    const isPod = kind === 'Pod';
    const isOld = metadata.labels?.['pod-template-hash'] === v1.metadata.labels?.['controller.kubernetes.io/hash'];
    return isPod ? `make ${isOld ? 'an old' : 'a new'} Pod` : `make a ${kind}`;
  }
  if (action.type === 'remove') return `delete ${name}`;
  if (action.type === 'update') return `write ${name}`;
  if (action.type !== 'patch' || action.isOptional) return '';
  const {
    metadata: changed,
    spec,
    revision,
  } = action.patch as { metadata?: Pod['metadata']; spec?: { containers?: object[] }; revision?: number };
  if (changed?.labels?.[specifiedDeleteLabel]) return `mark ${name}`;
  if (changed?.annotations?.[inPlaceUpdateGraceAnnotation]) return `give ${name} grace`;
  if (spec?.containers) return `update ${name}`;
  const state = changed?.labels?.[lifecycleStateLabel];
  if (state) return `${name} is ${state}`;
  if (changed?.ownerReferences) return `let ${name} go`;
  if (revision) return `renumber ${name}`;
  return action.subresource === 'status' ? `${name} conditions` : `change ${name}`;
}

const pod = (name: string, traits: Omit<Parameters<typeof podOf>[0], 'name'> = {}) => podOf({ name, ...traits });
const news = (...names: readonly string[]) => names.map((name) => pod(name, { image: 'app:v2' }));
const olds = (...names: readonly string[]) => names.map((name) => pod(name));
const inPlace: CloneSetRollingUpdate = { podUpdatePolicy: 'InPlaceIfPossible' };
const hook = { labelsHandler: { hold: 'yes' } };
const holding = { labels: { hold: 'yes' } };
const allNew = { ...status, currentRevision: v2.metadata.name ?? '' };

const cases: (World & { is: string; does: readonly string[] })[] = [
  {
    is: 'makes its first revision and all its Pods',
    revisions: [],
    does: ['make a ControllerRevision', 'make a new Pod', 'make a new Pod', 'make a new Pod'],
  },
  { is: 'leaves Pods that are as they should be', pods: news('a', 'b', 'c'), does: [] },
  {
    is: 'makes Pods of the old revision below the partition',
    rolling: { partition: 2 },
    pods: news('a'),
    does: ['make an old Pod', 'make an old Pod'],
  },
  {
    is: 'takes up an older revision that is wanted again',
    revisions: [revisionOf('app:v2', 1), revisionOf('app:v1', 2)],
    pods: news('a', 'b', 'c'),
    does: [`renumber ${v2.metadata.name}`],
  },
  {
    is: 'lets go a Pod its selector does not find any more',
    pods: [...news('a', 'b', 'c'), pod('d', { labels: { app: 'other' } })],
    does: ['let d go'],
  },
  {
    is: 'does not count Pods on their way out',
    pods: [...news('a', 'b'), { ...pod('c'), status: { phase: 'Failed' } }],
    does: ['make a new Pod'],
  },
  {
    is: 'removes the Pods that are not ready first',
    pods: [...news('a', 'b'), pod('c', { image: 'app:v2', isReady: false }), ...news('d')],
    does: ['delete c'],
  },
  {
    is: 'removes the Pod that is cheapest to lose',
    rolling: { maxUnavailable: 3 },
    pods: [
      ...news('a', 'b', 'c'),
      pod('d', { image: 'app:v2', annotations: { 'controller.kubernetes.io/pod-deletion-cost': '-1' } }),
    ],
    does: ['delete d'],
  },
  {
    is: 'removes as many as there are too many, though all have not been ready for long enough',
    spec: { minReadySeconds: 9999 },
    pods: news('a', 'b', 'c', 'd', 'e'),
    does: ['delete a', 'delete b'],
  },
  {
    is: 'removes two ready Pods of five',
    pods: news('a', 'b', 'c', 'd', 'e'),
    rolling: { maxUnavailable: '20%' },
    does: ['delete a', 'delete b'],
  },
  {
    is: 'removes the chosen Pod and no other',
    spec: { scaleStrategy: { podsToDelete: ['c'] } },
    pods: news('a', 'b', 'c', 'd', 'e'),
    does: ['delete c'],
  },
  {
    is: 'replaces a Pod that is marked',
    rolling: { maxUnavailable: 1 },
    pods: [...news('a', 'b'), pod('c', { image: 'app:v2', isSpecified: true })],
    does: ['delete c'],
  },
  {
    is: 'makes the replacement of a marked Pod first where none may be missing',
    rolling: { maxUnavailable: 0, maxSurge: 1 },
    pods: [...news('a', 'b'), pod('c', { image: 'app:v2', isSpecified: true })],
    does: ['make a new Pod'],
  },
  {
    is: 'keeps a marked Pod that takes traffic, though it is not Normal yet, while another is missing',
    rolling: { maxUnavailable: 1 },
    pods: [
      pod('a', { image: 'app:v2' }),
      pod('b', { image: 'app:v2', isReady: false }),
      pod('c', { image: 'app:v2', isSpecified: true, state: 'PreparingNormal' }),
    ],
    does: ['c is Normal'],
  },
  {
    is: 'lets a marked Pod that is down go alone, though another is marked, where no more can be spared',
    rolling: { maxUnavailable: 1 },
    pods: [
      pod('a', { image: 'app:v2' }),
      pod('b', { image: 'app:v2', isSpecified: true }),
      pod('c', { image: 'app:v2', isSpecified: true, isReady: false }),
    ],
    does: ['delete c'],
  },
  {
    is: 'lets of two marked Pods go first the one that waits in a hook, where one has to stay',
    spec: { replicas: 1, lifecycle: { inPlaceUpdate: hook } },
    rolling: { maxUnavailable: 0, maxSurge: 1 },
    pods: [
      pod('a', { image: 'app:v2', isSpecified: true }),
      pod('b', { image: 'app:v2', isSpecified: true, state: 'Updated' }),
    ],
    does: ['delete b'],
  },
  {
    is: 'says when it may make no more at once',
    spec: { scaleStrategy: { maxUnavailable: 1 } },
    pods: [],
    does: ['tell ScaleUpLimited', 'make a new Pod'],
  },
  {
    is: 'lets a chosen Pod go whose hook is off, where no other can be made before',
    spec: { scaleStrategy: { maxUnavailable: 1 }, lifecycle: { preDelete: hook } },
    pods: [pod('a', { image: 'app:v2' }), pod('b', { image: 'app:v2', state: 'PreparingDelete', isSpecified: true })],
    does: ['tell ScaleUpLimited', 'delete b'],
  },
  {
    is: 'deletes no other Pod while none can be made',
    spec: { scaleStrategy: { maxUnavailable: 1 } },
    pods: [pod('a', { image: 'app:v2', isReady: false }), pod('b', { image: 'app:v2', isSpecified: true })],
    does: ['tell ScaleUpLimited'],
  },
  {
    is: 'tells a Pod that a hook holds that it is to be deleted',
    spec: { lifecycle: { preDelete: hook }, replicas: 2 },
    pods: [...news('a', 'b'), pod('c', { image: 'app:v2', isReady: false, ...holding })],
    does: ['c is PreparingDelete'],
  },
  {
    is: 'waits for the hook',
    spec: { lifecycle: { preDelete: hook }, replicas: 2 },
    pods: [...news('a', 'b'), pod('c', { image: 'app:v2', state: 'PreparingDelete', ...holding })],
    does: [],
  },
  {
    is: 'deletes the Pod once the hook is off',
    spec: { lifecycle: { preDelete: hook }, replicas: 2 },
    pods: [...news('a', 'b'), pod('c', { image: 'app:v2', state: 'PreparingDelete' })],
    does: ['delete c'],
  },
  {
    is: 'keeps a Pod that was to be deleted when it is needed again',
    spec: { lifecycle: { preDelete: hook } },
    pods: [...news('a', 'b'), pod('c', { image: 'app:v2', state: 'PreparingDelete', ...holding })],
    does: ['c is PreparingNormal'],
  },
  {
    is: 'does not keep it if it was chosen',
    spec: { lifecycle: { preDelete: hook } },
    pods: [...news('a', 'b'), pod('c', { image: 'app:v2', state: 'PreparingDelete', isSpecified: true, ...holding })],
    does: [],
  },

  {
    is: 'updates as many as may be missing',
    rolling: { maxUnavailable: 1 },
    pods: olds('a', 'b', 'c'),
    does: ['mark a'],
  },
  {
    is: 'updates in place where it can',
    rolling: { ...inPlace, maxUnavailable: 1 },
    pods: olds('a', 'b', 'c'),
    does: ['a conditions', 'update a'],
  },
  {
    is: 'gives a Pod time before it is updated',
    rolling: { ...inPlace, inPlaceUpdateStrategy: { gracePeriodSeconds: 9 } },
    pods: olds('a', 'b', 'c'),
    does: ['a conditions', 'give a grace'],
  },
  {
    is: 'leaves Pods to the old revision that the partition keeps back',
    rolling: { ...inPlace, partition: 2, maxUnavailable: 3 },
    pods: olds('a', 'b', 'c'),
    does: ['a conditions', 'update a'],
  },
  {
    is: 'updates the Pod that is not ready',
    rolling: { ...inPlace, maxUnavailable: 1 },
    pods: [...olds('a', 'b'), pod('c', { isReady: false })],
    does: ['c conditions', 'update c'],
  },
  {
    is: 'updates none while one of the new revision is down',
    rolling: { ...inPlace, maxUnavailable: 1 },
    pods: [...olds('a', 'b'), pod('c', { image: 'app:v2', isReady: false })],
    does: [],
  },
  {
    is: 'makes a Pod of the new revision before it takes down an old one',
    rolling: { maxSurge: 1, maxUnavailable: 0 },
    pods: olds('a', 'b', 'c'),
    does: ['make a new Pod'],
  },
  { is: 'updates nothing while paused', rolling: { ...inPlace, paused: true }, pods: olds('a', 'b', 'c'), does: [] },
  {
    is: 'updates nothing but on deletion',
    spec: { updateStrategy: { type: 'OnDelete' } },
    pods: olds('a', 'b', 'c'),
    does: [],
  },
  {
    is: 'makes new Pods for those that were deleted',
    spec: { updateStrategy: { type: 'OnDelete' } },
    pods: olds('a'),
    does: ['make a new Pod', 'make a new Pod'],
  },
  {
    is: 'cannot update in place what came from a revision that is gone',
    rolling: { ...inPlace, maxUnavailable: 1 },
    revisions: [v2],
    pods: olds('a', 'b', 'c'),
    does: ['mark a'],
  },
  {
    is: 'brings Pods back when the partition grows',
    rolling: { ...inPlace, partition: 3, maxUnavailable: 1 },
    pods: [...news('a', 'b'), ...olds('c')],
    does: ['a conditions', 'update a'],
  },
  {
    is: 'waits for the hook before an update',
    rolling: inPlace,
    spec: { lifecycle: { inPlaceUpdate: hook } },
    pods: ['a', 'b', 'c'].map((name) => pod(name, holding)),
    does: ['a is PreparingUpdate'],
  },
  {
    is: 'goes on waiting, and with the same Pod',
    rolling: inPlace,
    spec: { lifecycle: { inPlaceUpdate: hook } },
    pods: [pod('a', holding), pod('b', holding), pod('c', { state: 'PreparingUpdate', ...holding })],
    does: [],
  },
  {
    is: 'updates the Pod once the hook is off',
    rolling: inPlace,
    spec: { lifecycle: { inPlaceUpdate: hook } },
    pods: [pod('a', holding), pod('b', holding), pod('c', { state: 'PreparingUpdate' })],
    does: ['c conditions', 'update c'],
  },
  {
    is: 'updates a Pod that is drained, though the one that was made ahead of it has gone',
    rolling: { ...inPlace, maxUnavailable: 0, maxSurge: 1 },
    spec: { lifecycle: { inPlaceUpdate: hook } },
    gates: { PreparingUpdateAsUpdate: true },
    pods: [...news('a', 'b'), pod('c', { state: 'PreparingUpdate' })],
    does: ['c conditions', 'update c'],
  },
  {
    is: 'asks the hook again when a newer template comes',
    rolling: { ...inPlace, maxUnavailable: 1 },
    spec: { lifecycle: { inPlaceUpdate: hook } },
    pods: [pod('a', holding), pod('b', holding), pod('c', { state: 'Updated', isReady: false })],
    does: ['c is PreparingUpdate'],
  },
  {
    is: 'lets a Pod be whose update is wanted no more',
    rolling: inPlace,
    spec: { lifecycle: { inPlaceUpdate: hook } },
    status: allNew,
    pods: [...news('a', 'b'), pod('c', { image: 'app:v2', state: 'PreparingUpdate', ...holding })],
    does: ['c is Normal'],
  },
  {
    is: 'lets a Pod be that a raised partition keeps from its update',
    rolling: { ...inPlace, partition: 3 },
    spec: { lifecycle: { inPlaceUpdate: hook } },
    pods: [pod('a', holding), pod('b', holding), pod('c', { state: 'PreparingUpdate', ...holding })],
    does: ['c is Normal'],
  },
  {
    is: 'waits until a Pod that was updated has its hook again',
    rolling: inPlace,
    spec: { lifecycle: { inPlaceUpdate: hook } },
    status: allNew,
    pods: [...news('a', 'b'), pod('c', { image: 'app:v2', state: 'Updating' })],
    does: ['c is Updated'],
  },
  {
    is: 'is done with a Pod that was updated',
    rolling: inPlace,
    status: allNew,
    pods: [...news('a', 'b'), pod('c', { image: 'app:v2', state: 'Updating' })],
    does: ['c is Normal'],
  },
  {
    is: 'is done with a Pod that has a node',
    status: allNew,
    pods: [...news('a', 'b'), pod('c', { image: 'app:v2', state: 'PreparingNormal' })],
    does: ['c is Normal'],
  },
  {
    is: 'waits for a node',
    status: allNew,
    pods: [...news('a', 'b'), pod('c', { image: 'app:v2', state: 'PreparingNormal', node: '' })],
    does: [],
  },
  {
    is: 'tells a new Pod in one write that it may be ready and is Normal',
    status: allNew,
    pods: [
      ...news('a', 'b'),
      pod('c', { image: 'app:v2', state: 'PreparingNormal', awaits: [inPlaceUpdateReadyCondition] }),
    ],
    does: ['c is Normal'],
  },
  {
    is: 'leaves it to others to tell a new Pod with both gates',
    status: allNew,
    pods: [
      ...news('a', 'b'),
      pod('c', {
        image: 'app:v2',
        state: 'PreparingNormal',
        awaits: [inPlaceUpdateReadyCondition, kruisePodReadyCondition],
      }),
    ],
    does: [],
  },
  {
    is: 'lets a new Pod be ready that a hook keeps from being Normal',
    spec: { lifecycle: { preNormal: hook } },
    status: allNew,
    pods: [
      ...news('a', 'b'),
      pod('c', { image: 'app:v2', state: 'PreparingNormal', awaits: [inPlaceUpdateReadyCondition] }),
    ],
    does: ['c conditions'],
  },
  {
    is: 'waits for what makes a new Pod normal',
    spec: { lifecycle: { preNormal: hook } },
    status: allNew,
    pods: [...news('a', 'b'), pod('c', { image: 'app:v2', state: 'PreparingNormal' })],
    does: [],
  },
  {
    is: 'gives Pods of older releases their hash',
    status: allNew,
    pods: [
      ...news('a', 'b'),
      {
        ...pod('c', { image: 'app:v2' }),
        metadata: { ...pod('c').metadata, labels: { app: 'web', 'controller-revision-hash': v2.metadata.name ?? '' } },
      },
    ],
    does: ['change c'],
  },
];
for (const { is, does, ...world } of cases) {
  test(`a CloneSet ${is}`, () => {
    assert.deepEqual(decideOn(world).did, does);
  });
}

test('InPlaceOnly says why nothing goes on', () => {
  const { did, reported } = decideOn({
    rolling: { podUpdatePolicy: 'InPlaceOnly', maxUnavailable: 1 },
    revisions: [v2],
    pods: olds('a', 'b', 'c'),
  });
  assert.deepEqual(did, []);
  const [condition] = reported?.conditions ?? [];
  assert.deepEqual(
    [condition?.type, condition?.message],
    ['FailedUpdate', 'find Pod a update strategy is InPlaceOnly but can not update in-place'],
  );
});

test('what cannot be made does not keep the others from being updated', () => {
  const { fallbackActions = [] } = decideOn({
    rolling: { ...inPlace, maxUnavailable: 1 },
    spec: { replicas: 4 },
    pods: [pod('a', { isReady: false }), ...olds('b', 'c')],
  });
  assert.deepEqual(fallbackActions.map(said), []);
  const more = decideOn({
    rolling: { ...inPlace, maxUnavailable: 2 },
    spec: { replicas: 4 },
    pods: [pod('a', { isReady: false }), ...olds('b', 'c')],
  });
  assert.deepEqual(more.fallbackActions?.map(said), ['a conditions', 'update a']);
});

test('a failure is told in a condition, by what it was about', () => {
  const decision = decideOn({ revisions });
  const [action] = decision.actions;
  const failures = [{ action: action!, error: new Error('exceeded quota') }];
  const report = decision.status as (outcome: object) => CloneSet['status'];
  const [condition] = report({ failures, isStale: false, written: new Map() })?.conditions ?? [];
  assert.deepEqual([condition?.type, condition?.message], ['FailedScale', 'exceeded quota']);
});

const claim = (id: string): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: {
    name: `data-web-${id}`,
    namespace: 'default',
    uid: `claim-${id}`,
    labels: { [cloneSetInstanceIdLabel]: id },
    ownerReferences: [controllerReference(owner)],
  },
});
const volumeClaimTemplates = [
  { metadata: { name: 'data' }, spec: {} },
] as unknown as CloneSet['spec']['volumeClaimTemplates'] & object;
const made = (actions: readonly Action[]) =>
  actions.flatMap((action) =>
    action.type === 'create' ? [`${action.object.kind} ${action.object.metadata.name}`] : [],
  );

test('claims that were left are given to new Pods, where that is asked for', () => {
  const world = { pods: news('a', 'b'), claims: [claim('b'), claim('c')] };
  const reusing = decideOn({ ...world, spec: { volumeClaimTemplates, scaleStrategy: { enablePVCReuse: true } } });
  assert.deepEqual(made(reusing.actions), ['Pod web-c']);
});

test('claims that were left are deleted where they are not used again, and new ones made', () => {
  const { actions, did } = decideOn({
    pods: news('a', 'b'),
    claims: [claim('b'), claim('c')],
    spec: { volumeClaimTemplates },
  });
  assert.deepEqual(did, ['delete data-web-c', 'make a PersistentVolumeClaim', 'make a new Pod']);
  const [claimed, pods] = made(actions).map((each) => each.split('-').at(-1));
  assert.equal(claimed, pods);
});

test('claims of a Pod on its way out are left to it', () => {
  const leaving = { ...pod('c'), status: { phase: 'Failed' as const } };
  const { did } = decideOn({
    pods: [...news('a', 'b'), leaving],
    claims: [claim('c')],
    spec: { volumeClaimTemplates },
  });
  assert.deepEqual(did.slice(0, 1), ['let data-web-c go']);
});

test('claims go with the Pods that are deleted', () => {
  const { did } = decideOn({
    spec: { replicas: 1, volumeClaimTemplates },
    rolling: { maxUnavailable: 1 },
    pods: news('a', 'b'),
    claims: ['a', 'b'].map(claim),
  });
  assert.deepEqual(did, ['delete a', 'delete data-web-a']);
});

test('ids of old Pods come first in the alphabet', () => {
  const { actions } = decideOn({
    spec: { volumeClaimTemplates, scaleStrategy: { enablePVCReuse: true } },
    rolling: { partition: 1 },
    claims: ['id1', 'id3', 'id4'].map(claim),
    pods: [],
  });
  const pods = actions.flatMap((action) =>
    action.type === 'create' && action.object.kind === 'Pod' ? [`${action.object.metadata.name} ${said(action)}`] : [],
  );
  assert.deepEqual(pods, ['web-id1 make an old Pod', 'web-id3 make a new Pod', 'web-id4 make a new Pod']);
});

test('names of Pods that are gone come off the list when nothing else is to do', () => {
  const spec = { scaleStrategy: { podsToDelete: ['gone', 'a'] } };
  const first = decideOn({ spec, rolling: { maxUnavailable: 1 }, pods: news('a', 'b', 'c') });
  assert.deepEqual(first.did, ['delete a']);
  const settled = decideOn({
    spec: { scaleStrategy: { podsToDelete: ['gone'] } },
    pods: news('a', 'b', 'c'),
    status: allNew,
  });
  const again = decideOn({
    spec: { scaleStrategy: { podsToDelete: ['gone'] } },
    pods: news('a', 'b', 'c'),
    status: settled.reported,
  });
  assert.deepEqual(again.did, ['change web']);
});

test('old revisions beyond the limit go, those in use stay', () => {
  const history = ['app:v0', 'app:v1', 'app:x', 'app:y'].map((image, index) => revisionOf(image, index + 1));
  const { did } = decideOn({
    spec: { revisionHistoryLimit: 1 },
    revisions: [...history, revisionOf('app:v2', 9)],
    pods: [...olds('a'), ...news('b', 'c')],
    status: { ...allNew },
    rolling: { partition: 1 },
  });
  assert.deepEqual(did, [`delete ${history[0]?.metadata.name}`, `delete ${history[2]?.metadata.name}`]);
});

/** What is decided about a CloneSet on its way out. */
function decideOnLeaving(pods: readonly Pod[]) {
  const cloneSet = { ...cloneSetOf({ replicas: 3 }), status };
  const observed = {
    cloneSet: { ...cloneSet, metadata: { ...cloneSet.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
    pods,
    claims: [],
    revisions,
    revisionNamed: () => undefined,
    nodeLabels: () => undefined,
    imagePullJobs: [],
    budgetNamed: () => undefined,
  };
  return decide(observed, managerSettings(), now);
}

test('a CloneSet on its way out neither makes nor removes Pods', () => {
  assert.deepEqual(decideOnLeaving(news('a')).actions, []);
});

test('a CloneSet of thousands is left alone between two looks, one on its way out too', () => {
  const thousands = news(...Array.from({ length: 2000 }, (_, index) => `web-${index}`));
  assert.equal(decideOn({ pods: thousands, spec: { replicas: 2000 } }).minIntervalMs, 100);
  assert.equal(decideOnLeaving(thousands).minIntervalMs, 100);
});

const budgetWith = (unavailableAllowed: number): PodUnavailableBudget => ({
  apiVersion: 'policy.kruise.io/v1beta1',
  kind: 'PodUnavailableBudget',
  metadata: { name: 'pub', namespace: 'default', uid: 'pub' },
  spec: {},
  status: { unavailableAllowed, currentAvailable: 3, desiredAvailable: 2, totalReplicas: 3 },
});
const budgeted = ['a', 'b', 'c'].map((name) => pod(name, { annotations: { 'pub.kruise.io/related-pub': 'pub' } }));

test('a budget is taken from before a Pod is touched, and no further than it goes', () => {
  const rolling = { ...inPlace, maxUnavailable: 3 };
  const { did, requeueAfterSeconds } = decideOn({ rolling, pods: budgeted, budget: budgetWith(2) });
  assert.deepEqual(did, ['write pub', 'a conditions', 'update a', 'b conditions', 'update b']);
  assert.equal(requeueAfterSeconds, 1);
});

test('a budget that is spent keeps Pods from being updated', () => {
  const { did, requeueAfterSeconds } = decideOn({ rolling: inPlace, pods: budgeted, budget: budgetWith(0) });
  assert.deepEqual([did, requeueAfterSeconds], [[], 1]);
});

test('without the gate budgets are not asked', () => {
  const gates = { PodUnavailableBudgetUpdateGate: false };
  const { did } = decideOn({
    rolling: { ...inPlace, maxUnavailable: 1 },
    pods: budgeted,
    budget: budgetWith(0),
    gates,
  });
  assert.deepEqual(did, ['a conditions', 'update a']);
});

const looks: readonly { readonly readyForSeconds: readonly number[]; readonly seconds: number | undefined }[] = [
  { readyForSeconds: [9, 4, 60], seconds: 1.001 },
  { readyForSeconds: [10], seconds: 0.001 },
  { readyForSeconds: [11, 60], seconds: undefined },
  { readyForSeconds: [], seconds: undefined },
];
for (const { readyForSeconds, seconds } of looks) {
  test(`where Pods must be ready for 10 s and are for ${readyForSeconds.join(', ') || 'none'}, it looks again in ${seconds} s`, () => {
    const pods = readyForSeconds.map((ready, index) => pod(`p${index}`, { image: 'app:v2', readyForSeconds: ready }));
    const { requeueAfterSeconds } = decideOn({ spec: { replicas: pods.length, minReadySeconds: 10 }, pods });
    assert.equal(requeueAfterSeconds, seconds);
  });
}

test('what is found under a new spec is told before Pods change for it, and once', () => {
  const scaledDown = { generation: 2, spec: { replicas: 2 }, pods: news('a', 'b', 'c') };
  const before = decideOn({ ...scaledDown, status: { ...status, observedGeneration: 1 } });
  assert.deepEqual(before.did, ['write web', 'delete a']);
  const [told] = before.actions;
  assert.deepEqual(told?.type === 'update' && [told.subresource, told.object], [
    'status',
    { ...before.cloneSet, status: before.reported },
  ]);
  const after = decideOn({ ...scaledDown, status: before.reported });
  assert.deepEqual(after.did, ['delete a']);
});

test('a CloneSet of which nothing has been told yet has nothing to take back', () => {
  assert.deepEqual(decideOn({ generation: 1, spec: { replicas: 1 } }).did, ['make a new Pod']);
});

test('a new spec that has nothing done about Pods is told when all is done', () => {
  const pods = news('a', 'b', 'c');
  const { did, reported } = decideOn({ generation: 2, pods, status: { ...status, observedGeneration: 1 } });
  assert.deepEqual(did, []);
  assert.equal(reported?.observedGeneration, 2);
});
