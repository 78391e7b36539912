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
import { type Action, flattenSteps } from '@kruise/client/actions';
import { controllerReference } from '@kruise/machinery/owner-references';
import { allFeatureGates, type FeatureGates, featureGates } from '../configuration/feature-gates.ts';
import { managerSettings } from '../configuration/settings.ts';
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
    findRevision: (name) => known.find(({ metadata }) => metadata.name === name),
    nodeLabels: () => undefined,
    imagePullJobs: [],
    findBudget: () => world.budget,
  };
  const settings = managerSettings({ gates: featureGates({ ...allFeatureGates, ...gates }) });
  const decision = decide(observed, settings, now);
  const outcome = { failures: [], isStale: false, written: new Map() };
  const reported = typeof decision.status === 'function' ? decision.status(outcome) : decision.status;
  const actions = flattenSteps(decision.actions);
  return { ...decision, actions, cloneSet, did: actions.map(formatAction).filter((each) => each !== ''), reported };
}

/** Formats an action. Announced events and optional patches about images are omitted. */
function formatAction(action: Action): string {
  if (action.type === 'record' || action.type === 'effect')
    return action.type === 'record' ? `event ${action.event.reason}` : '';
  const { kind, metadata } = action.object;
  const name = metadata.name ?? '';
  if (action.type === 'create') {
    const isPod = kind === 'Pod';
    const isOld = metadata.labels?.['pod-template-hash'] === v1.metadata.labels?.['controller.kubernetes.io/hash'];
    return isPod ? `create ${isOld ? 'an old' : 'an updated'} Pod` : `create a ${kind}`;
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
  if (changed?.annotations?.[inPlaceUpdateGraceAnnotation]) return `grace ${name}`;
  if (spec?.containers) return `update ${name}`;
  const state = changed?.labels?.[lifecycleStateLabel];
  if (state) return `${name} is ${state}`;
  if (changed?.ownerReferences) return `release ${name}`;
  if (revision) return `renumber ${name}`;
  return action.subresource === 'status' ? `${name} conditions` : `change ${name}`;
}

const pod = (name: string, traits: Omit<Parameters<typeof podOf>[0], 'name'> = {}) => podOf({ name, ...traits });
const updatedPods = (...names: readonly string[]) => names.map((name) => pod(name, { image: 'app:v2' }));
const outdatedPods = (...names: readonly string[]) => names.map((name) => pod(name));
const inPlace: CloneSetRollingUpdate = { podUpdatePolicy: 'InPlaceIfPossible' };
const hook = { labelsHandler: { hold: 'yes' } };
const holding = { labels: { hold: 'yes' } };
const allNew = { ...status, currentRevision: v2.metadata.name ?? '' };

const cases: (World & { is: string; does: readonly string[] })[] = [
  {
    is: 'creates its first revision and all its Pods',
    revisions: [],
    does: ['create a ControllerRevision', 'create an updated Pod', 'create an updated Pod', 'create an updated Pod'],
  },
  { is: 'leaves up-to-date Pods alone', pods: updatedPods('a', 'b', 'c'), does: [] },
  {
    is: 'creates Pods of the old revision below the partition',
    rolling: { partition: 2 },
    pods: updatedPods('a'),
    does: ['create an old Pod', 'create an old Pod'],
  },
  {
    is: 'reuses an older revision on rollback',
    revisions: [revisionOf('app:v2', 1), revisionOf('app:v1', 2)],
    pods: updatedPods('a', 'b', 'c'),
    does: [`renumber ${v2.metadata.name}`],
  },
  {
    is: 'releases a Pod that its selector does not match any more',
    pods: [...updatedPods('a', 'b', 'c'), pod('d', { labels: { app: 'other' } })],
    does: ['release d'],
  },
  {
    is: 'does not count terminating Pods',
    pods: [...updatedPods('a', 'b'), { ...pod('c'), status: { phase: 'Failed' } }],
    does: ['create an updated Pod'],
  },
  {
    is: 'deletes Pods that are not ready first',
    pods: [...updatedPods('a', 'b'), pod('c', { image: 'app:v2', isReady: false }), ...updatedPods('d')],
    does: ['delete c'],
  },
  {
    is: 'deletes the Pod with the lowest deletion cost',
    rolling: { maxUnavailable: 3 },
    pods: [
      ...updatedPods('a', 'b', 'c'),
      pod('d', { image: 'app:v2', annotations: { 'controller.kubernetes.io/pod-deletion-cost': '-1' } }),
    ],
    does: ['delete d'],
  },
  {
    is: 'deletes all excess Pods, even if none has been ready for minReadySeconds',
    spec: { minReadySeconds: 9999 },
    pods: updatedPods('a', 'b', 'c', 'd', 'e'),
    does: ['delete a', 'delete b'],
  },
  {
    is: 'deletes two ready Pods of five',
    pods: updatedPods('a', 'b', 'c', 'd', 'e'),
    rolling: { maxUnavailable: '20%' },
    does: ['delete a', 'delete b'],
  },
  {
    is: 'deletes the Pod in podsToDelete and no other',
    spec: { scaleStrategy: { podsToDelete: ['c'] } },
    pods: updatedPods('a', 'b', 'c', 'd', 'e'),
    does: ['delete c'],
  },
  {
    is: 'replaces a Pod with the specified-delete label',
    rolling: { maxUnavailable: 1 },
    pods: [...updatedPods('a', 'b'), pod('c', { image: 'app:v2', isSpecified: true })],
    does: ['delete c'],
  },
  {
    is: 'creates the replacement of a specified Pod first where no Pod may be unavailable',
    rolling: { maxUnavailable: 0, maxSurge: 1 },
    pods: [...updatedPods('a', 'b'), pod('c', { image: 'app:v2', isSpecified: true })],
    does: ['create an updated Pod'],
  },
  {
    is: 'keeps a specified Pod that serves, though it is not Normal yet, while another Pod is missing',
    rolling: { maxUnavailable: 1 },
    pods: [
      pod('a', { image: 'app:v2' }),
      pod('b', { image: 'app:v2', isReady: false }),
      pod('c', { image: 'app:v2', isSpecified: true, state: 'PreparingNormal' }),
    ],
    does: ['c is Normal'],
  },
  {
    is: 'deletes only the unavailable one of two specified Pods where no other Pod may become unavailable',
    rolling: { maxUnavailable: 1 },
    pods: [
      pod('a', { image: 'app:v2' }),
      pod('b', { image: 'app:v2', isSpecified: true }),
      pod('c', { image: 'app:v2', isSpecified: true, isReady: false }),
    ],
    does: ['delete c'],
  },
  {
    is: 'deletes the hooked one of two specified Pods first, where one Pod must stay',
    spec: { replicas: 1, lifecycle: { inPlaceUpdate: hook } },
    rolling: { maxUnavailable: 0, maxSurge: 1 },
    pods: [
      pod('a', { image: 'app:v2', isSpecified: true }),
      pod('b', { image: 'app:v2', isSpecified: true, state: 'Updated' }),
    ],
    does: ['delete b'],
  },
  {
    is: 'records an event when maxUnavailable limits the scale-out',
    spec: { scaleStrategy: { maxUnavailable: 1 } },
    pods: [],
    does: ['event ScaleUpLimited', 'create an updated Pod'],
  },
  {
    is: 'deletes a specified Pod whose hook is released, where no Pod can be created before',
    spec: { scaleStrategy: { maxUnavailable: 1 }, lifecycle: { preDelete: hook } },
    pods: [pod('a', { image: 'app:v2' }), pod('b', { image: 'app:v2', state: 'PreparingDelete', isSpecified: true })],
    does: ['event ScaleUpLimited', 'delete b'],
  },
  {
    is: 'deletes no other Pod while none can be created',
    spec: { scaleStrategy: { maxUnavailable: 1 } },
    pods: [pod('a', { image: 'app:v2', isReady: false }), pod('b', { image: 'app:v2', isSpecified: true })],
    does: ['event ScaleUpLimited'],
  },
  {
    is: 'moves a Pod with a hook to PreparingDelete',
    spec: { lifecycle: { preDelete: hook }, replicas: 2 },
    pods: [...updatedPods('a', 'b'), pod('c', { image: 'app:v2', isReady: false, ...holding })],
    does: ['c is PreparingDelete'],
  },
  {
    is: 'waits for the hook',
    spec: { lifecycle: { preDelete: hook }, replicas: 2 },
    pods: [...updatedPods('a', 'b'), pod('c', { image: 'app:v2', state: 'PreparingDelete', ...holding })],
    does: [],
  },
  {
    is: 'deletes the Pod once the hook is released',
    spec: { lifecycle: { preDelete: hook }, replicas: 2 },
    pods: [...updatedPods('a', 'b'), pod('c', { image: 'app:v2', state: 'PreparingDelete' })],
    does: ['delete c'],
  },
  {
    is: 'cancels the deletion of a Pod that is needed again',
    spec: { lifecycle: { preDelete: hook } },
    pods: [...updatedPods('a', 'b'), pod('c', { image: 'app:v2', state: 'PreparingDelete', ...holding })],
    does: ['c is PreparingNormal'],
  },
  {
    is: 'does not cancel a specified deletion',
    spec: { lifecycle: { preDelete: hook } },
    pods: [
      ...updatedPods('a', 'b'),
      pod('c', { image: 'app:v2', state: 'PreparingDelete', isSpecified: true, ...holding }),
    ],
    does: [],
  },

  {
    is: 'updates as many Pods as may be unavailable',
    rolling: { maxUnavailable: 1 },
    pods: outdatedPods('a', 'b', 'c'),
    does: ['mark a'],
  },
  {
    is: 'updates in place where possible',
    rolling: { ...inPlace, maxUnavailable: 1 },
    pods: outdatedPods('a', 'b', 'c'),
    does: ['a conditions', 'update a'],
  },
  {
    is: 'applies the grace period before an update',
    rolling: { ...inPlace, inPlaceUpdateStrategy: { gracePeriodSeconds: 9 } },
    pods: outdatedPods('a', 'b', 'c'),
    does: ['a conditions', 'grace a'],
  },
  {
    is: 'keeps Pods at the old revision up to the partition',
    rolling: { ...inPlace, partition: 2, maxUnavailable: 3 },
    pods: outdatedPods('a', 'b', 'c'),
    does: ['a conditions', 'update a'],
  },
  {
    is: 'updates the Pod that is not ready first',
    rolling: { ...inPlace, maxUnavailable: 1 },
    pods: [...outdatedPods('a', 'b'), pod('c', { isReady: false })],
    does: ['c conditions', 'update c'],
  },
  {
    is: 'updates no Pod while an updated Pod is unavailable',
    rolling: { ...inPlace, maxUnavailable: 1 },
    pods: [...outdatedPods('a', 'b'), pod('c', { image: 'app:v2', isReady: false })],
    does: [],
  },
  {
    is: 'creates a surge Pod before it updates an old one',
    rolling: { maxSurge: 1, maxUnavailable: 0 },
    pods: outdatedPods('a', 'b', 'c'),
    does: ['create an updated Pod'],
  },
  {
    is: 'updates no Pods while paused',
    rolling: { ...inPlace, paused: true },
    pods: outdatedPods('a', 'b', 'c'),
    does: [],
  },
  {
    is: 'updates no Pods with OnDelete',
    spec: { updateStrategy: { type: 'OnDelete' } },
    pods: outdatedPods('a', 'b', 'c'),
    does: [],
  },
  {
    is: 'creates updated Pods for deleted ones with OnDelete',
    spec: { updateStrategy: { type: 'OnDelete' } },
    pods: outdatedPods('a'),
    does: ['create an updated Pod', 'create an updated Pod'],
  },
  {
    is: 'cannot update Pods in place from a revision that is gone',
    rolling: { ...inPlace, maxUnavailable: 1 },
    revisions: [v2],
    pods: outdatedPods('a', 'b', 'c'),
    does: ['mark a'],
  },
  {
    is: 'rolls Pods back when the partition grows',
    rolling: { ...inPlace, partition: 3, maxUnavailable: 1 },
    pods: [...updatedPods('a', 'b'), ...outdatedPods('c')],
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
    is: 'keeps waiting for the same Pod',
    rolling: inPlace,
    spec: { lifecycle: { inPlaceUpdate: hook } },
    pods: [pod('a', holding), pod('b', holding), pod('c', { state: 'PreparingUpdate', ...holding })],
    does: [],
  },
  {
    is: 'updates the Pod once the hook is released',
    rolling: inPlace,
    spec: { lifecycle: { inPlaceUpdate: hook } },
    pods: [pod('a', holding), pod('b', holding), pod('c', { state: 'PreparingUpdate' })],
    does: ['c conditions', 'update c'],
  },
  {
    is: 'updates a drained Pod, even if its surge Pod is gone',
    rolling: { ...inPlace, maxUnavailable: 0, maxSurge: 1 },
    spec: { lifecycle: { inPlaceUpdate: hook } },
    gates: { PreparingUpdateAsUpdate: true },
    pods: [...updatedPods('a', 'b'), pod('c', { state: 'PreparingUpdate' })],
    does: ['c conditions', 'update c'],
  },
  {
    is: 'runs the hook again for a newer template',
    rolling: { ...inPlace, maxUnavailable: 1 },
    spec: { lifecycle: { inPlaceUpdate: hook } },
    pods: [pod('a', holding), pod('b', holding), pod('c', { state: 'Updated', isReady: false })],
    does: ['c is PreparingUpdate'],
  },
  {
    is: 'returns a Pod to Normal whose update is not needed any more',
    rolling: inPlace,
    spec: { lifecycle: { inPlaceUpdate: hook } },
    status: allNew,
    pods: [...updatedPods('a', 'b'), pod('c', { image: 'app:v2', state: 'PreparingUpdate', ...holding })],
    does: ['c is Normal'],
  },
  {
    is: 'returns a Pod to Normal that a raised partition keeps',
    rolling: { ...inPlace, partition: 3 },
    spec: { lifecycle: { inPlaceUpdate: hook } },
    pods: [pod('a', holding), pod('b', holding), pod('c', { state: 'PreparingUpdate', ...holding })],
    does: ['c is Normal'],
  },
  {
    is: 'waits until an updated Pod has its hook again',
    rolling: inPlace,
    spec: { lifecycle: { inPlaceUpdate: hook } },
    status: allNew,
    pods: [...updatedPods('a', 'b'), pod('c', { image: 'app:v2', state: 'Updating' })],
    does: ['c is Updated'],
  },
  {
    is: 'returns an updated Pod to Normal',
    rolling: inPlace,
    status: allNew,
    pods: [...updatedPods('a', 'b'), pod('c', { image: 'app:v2', state: 'Updating' })],
    does: ['c is Normal'],
  },
  {
    is: 'returns a scheduled Pod to Normal',
    status: allNew,
    pods: [...updatedPods('a', 'b'), pod('c', { image: 'app:v2', state: 'PreparingNormal' })],
    does: ['c is Normal'],
  },
  {
    is: 'waits for the Pod to be scheduled',
    status: allNew,
    pods: [...updatedPods('a', 'b'), pod('c', { image: 'app:v2', state: 'PreparingNormal', node: '' })],
    does: [],
  },
  {
    is: 'sets readiness and Normal of a new Pod in one write',
    status: allNew,
    pods: [
      ...updatedPods('a', 'b'),
      pod('c', { image: 'app:v2', state: 'PreparingNormal', pendingGates: [inPlaceUpdateReadyCondition] }),
    ],
    does: ['c is Normal'],
  },
  {
    is: 'leaves a new Pod with both readiness gates to the new-pods controller',
    status: allNew,
    pods: [
      ...updatedPods('a', 'b'),
      pod('c', {
        image: 'app:v2',
        state: 'PreparingNormal',
        pendingGates: [inPlaceUpdateReadyCondition, kruisePodReadyCondition],
      }),
    ],
    does: [],
  },
  {
    is: 'sets readiness of a new Pod that a hook keeps from Normal',
    spec: { lifecycle: { preNormal: hook } },
    status: allNew,
    pods: [
      ...updatedPods('a', 'b'),
      pod('c', { image: 'app:v2', state: 'PreparingNormal', pendingGates: [inPlaceUpdateReadyCondition] }),
    ],
    does: ['c conditions'],
  },
  {
    is: 'waits for the preNormal hook of a new Pod',
    spec: { lifecycle: { preNormal: hook } },
    status: allNew,
    pods: [...updatedPods('a', 'b'), pod('c', { image: 'app:v2', state: 'PreparingNormal' })],
    does: [],
  },
  {
    is: 'adds the hash label to Pods of older releases',
    status: allNew,
    pods: [
      ...updatedPods('a', 'b'),
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

test('InPlaceOnly reports why an update is blocked', () => {
  const { did, reported } = decideOn({
    rolling: { podUpdatePolicy: 'InPlaceOnly', maxUnavailable: 1 },
    revisions: [v2],
    pods: outdatedPods('a', 'b', 'c'),
  });
  assert.deepEqual(did, []);
  const [condition] = reported?.conditions ?? [];
  assert.deepEqual(
    [condition?.type, condition?.message],
    ['FailedUpdate', 'find Pod a update strategy is InPlaceOnly but can not update in-place'],
  );
});

test('Pods that cannot be created do not block updates of other Pods', () => {
  const { fallbackActions = [] } = decideOn({
    rolling: { ...inPlace, maxUnavailable: 1 },
    spec: { replicas: 4 },
    pods: [pod('a', { isReady: false }), ...outdatedPods('b', 'c')],
  });
  assert.deepEqual(flattenSteps(fallbackActions).map(formatAction), []);
  const more = decideOn({
    rolling: { ...inPlace, maxUnavailable: 2 },
    spec: { replicas: 4 },
    pods: [pod('a', { isReady: false }), ...outdatedPods('b', 'c')],
  });
  assert.deepEqual(flattenSteps(more.fallbackActions ?? []).map(formatAction), ['a conditions', 'update a']);
});

test('a failure sets the condition of its operation', () => {
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

test('orphaned PVCs are reused for new Pods with enablePVCReuse', () => {
  const world = { pods: updatedPods('a', 'b'), claims: [claim('b'), claim('c')] };
  const reusing = decideOn({ ...world, spec: { volumeClaimTemplates, scaleStrategy: { enablePVCReuse: true } } });
  assert.deepEqual(made(reusing.actions), ['Pod web-c']);
});

test('orphaned PVCs are deleted without enablePVCReuse, and new PVCs are created', () => {
  const { actions, did } = decideOn({
    pods: updatedPods('a', 'b'),
    claims: [claim('b'), claim('c')],
    spec: { volumeClaimTemplates },
  });
  assert.deepEqual(did, ['delete data-web-c', 'create a PersistentVolumeClaim', 'create an updated Pod']);
  const [claimed, pods] = made(actions).map((each) => each.split('-').at(-1));
  assert.equal(claimed, pods);
});

test('the PVCs of a terminating Pod are handed over to the Pod', () => {
  const leaving = { ...pod('c'), status: { phase: 'Failed' as const } };
  const { did } = decideOn({
    pods: [...updatedPods('a', 'b'), leaving],
    claims: [claim('c')],
    spec: { volumeClaimTemplates },
  });
  assert.deepEqual(did.slice(0, 1), ['release data-web-c']);
});

test('PVCs are deleted with their Pods', () => {
  const { did } = decideOn({
    spec: { replicas: 1, volumeClaimTemplates },
    rolling: { maxUnavailable: 1 },
    pods: updatedPods('a', 'b'),
    claims: ['a', 'b'].map(claim),
  });
  assert.deepEqual(did, ['delete a', 'delete data-web-a']);
});

test('old Pods get the first IDs in alphabetical order', () => {
  const { actions } = decideOn({
    spec: { volumeClaimTemplates, scaleStrategy: { enablePVCReuse: true } },
    rolling: { partition: 1 },
    claims: ['id1', 'id3', 'id4'].map(claim),
    pods: [],
  });
  const pods = actions.flatMap((action) =>
    action.type === 'create' && action.object.kind === 'Pod'
      ? [`${action.object.metadata.name} ${formatAction(action)}`]
      : [],
  );
  assert.deepEqual(pods, [
    'web-id1 create an old Pod',
    'web-id3 create an updated Pod',
    'web-id4 create an updated Pod',
  ]);
});

test('names of deleted Pods are removed from podsToDelete when nothing else is left to do', () => {
  const spec = { scaleStrategy: { podsToDelete: ['gone', 'a'] } };
  const first = decideOn({ spec, rolling: { maxUnavailable: 1 }, pods: updatedPods('a', 'b', 'c') });
  assert.deepEqual(first.did, ['delete a']);
  const settled = decideOn({
    spec: { scaleStrategy: { podsToDelete: ['gone'] } },
    pods: updatedPods('a', 'b', 'c'),
    status: allNew,
  });
  const again = decideOn({
    spec: { scaleStrategy: { podsToDelete: ['gone'] } },
    pods: updatedPods('a', 'b', 'c'),
    status: settled.reported,
  });
  assert.deepEqual(again.did, ['change web']);
});

test('old revisions beyond the limit are pruned, revisions in use stay', () => {
  const history = ['app:v0', 'app:v1', 'app:x', 'app:y'].map((image, index) => revisionOf(image, index + 1));
  const { did } = decideOn({
    spec: { revisionHistoryLimit: 1 },
    revisions: [...history, revisionOf('app:v2', 9)],
    pods: [...outdatedPods('a'), ...updatedPods('b', 'c')],
    status: { ...allNew },
    rolling: { partition: 1 },
  });
  assert.deepEqual(did, [`delete ${history[0]?.metadata.name}`, `delete ${history[2]?.metadata.name}`]);
});

/** Decides about a terminating CloneSet. */
function decideTerminating(pods: readonly Pod[]) {
  const cloneSet = { ...cloneSetOf({ replicas: 3 }), status };
  const observed = {
    cloneSet: { ...cloneSet, metadata: { ...cloneSet.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
    pods,
    claims: [],
    revisions,
    findRevision: () => undefined,
    nodeLabels: () => undefined,
    imagePullJobs: [],
    findBudget: () => undefined,
  };
  return decide(observed, managerSettings(), now);
}

test('a terminating CloneSet neither creates nor deletes Pods', () => {
  assert.deepEqual(decideTerminating(updatedPods('a')).actions, []);
});

test('a CloneSet with thousands of Pods has a minimum interval between reconciles, also while terminating', () => {
  const thousands = updatedPods(...Array.from({ length: 2000 }, (_, index) => `web-${index}`));
  assert.equal(decideOn({ pods: thousands, spec: { replicas: 2000 } }).minIntervalMs, 100);
  assert.equal(decideTerminating(thousands).minIntervalMs, 100);
});

const budgetWith = (unavailableAllowed: number): PodUnavailableBudget => ({
  apiVersion: 'policy.kruise.io/v1beta1',
  kind: 'PodUnavailableBudget',
  metadata: { name: 'pub', namespace: 'default', uid: 'pub' },
  spec: {},
  status: { unavailableAllowed, currentAvailable: 3, desiredAvailable: 2, totalReplicas: 3 },
});
const budgeted = ['a', 'b', 'c'].map((name) => pod(name, { annotations: { 'pub.kruise.io/related-pub': 'pub' } }));

test('a budget is charged before a Pod is updated, and limits the updates', () => {
  const rolling = { ...inPlace, maxUnavailable: 3 };
  const { did, requeueAfterSeconds } = decideOn({ rolling, pods: budgeted, budget: budgetWith(2) });
  assert.deepEqual(did, ['write pub', 'a conditions', 'update a', 'b conditions', 'update b']);
  assert.equal(requeueAfterSeconds, 1);
});

test('an exhausted budget blocks updates', () => {
  const { did, requeueAfterSeconds } = decideOn({ rolling: inPlace, pods: budgeted, budget: budgetWith(0) });
  assert.deepEqual([did, requeueAfterSeconds], [[], 1]);
});

test('budgets are ignored without the feature gate', () => {
  const gates = { PodUnavailableBudgetUpdateGate: false };
  const { did } = decideOn({
    rolling: { ...inPlace, maxUnavailable: 1 },
    pods: budgeted,
    budget: budgetWith(0),
    gates,
  });
  assert.deepEqual(did, ['a conditions', 'update a']);
});

const requeueCases: readonly { readonly readyForSeconds: readonly number[]; readonly seconds: number | undefined }[] = [
  { readyForSeconds: [9, 4, 60], seconds: 1.001 },
  { readyForSeconds: [10], seconds: 0.001 },
  { readyForSeconds: [11, 60], seconds: undefined },
  { readyForSeconds: [], seconds: undefined },
];
for (const { readyForSeconds, seconds } of requeueCases) {
  test(`with minReadySeconds 10 and Pods ready for ${readyForSeconds.join(', ') || 'none'}, the CloneSet is requeued after ${seconds} s`, () => {
    const pods = readyForSeconds.map((ready, index) => pod(`p${index}`, { image: 'app:v2', readyForSeconds: ready }));
    const { requeueAfterSeconds } = decideOn({ spec: { replicas: pods.length, minReadySeconds: 10 }, pods });
    assert.equal(requeueAfterSeconds, seconds);
  });
}

test('the status of a new spec is written once before Pods change', () => {
  const scaledDown = { generation: 2, spec: { replicas: 2 }, pods: updatedPods('a', 'b', 'c') };
  const before = decideOn({ ...scaledDown, status: { ...status, observedGeneration: 1 } });
  assert.deepEqual(before.did, ['write web', 'delete a']);
  const [statusWrite] = before.actions;
  assert.deepEqual(statusWrite?.type === 'update' && [statusWrite.subresource, statusWrite.object], [
    'status',
    { ...before.cloneSet, status: before.reported },
  ]);
  const after = decideOn({ ...scaledDown, status: before.reported });
  assert.deepEqual(after.did, ['delete a']);
});

test('a CloneSet without a status writes no status before Pods change', () => {
  assert.deepEqual(decideOn({ generation: 1, spec: { replicas: 1 } }).did, ['create an updated Pod']);
});

test('a new spec that changes no Pods is reported at the end of the reconcile', () => {
  const pods = updatedPods('a', 'b', 'c');
  const { did, reported } = decideOn({ generation: 2, pods, status: { ...status, observedGeneration: 1 } });
  assert.deepEqual(did, []);
  assert.equal(reported?.observedGeneration, 2);
});
