import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type { DaemonSet, RollingUpdateDaemonSet } from '@kruise/api/kruise/daemonset';
import {
  inPlaceUpdateReadyCondition,
  inPlaceUpdateStateAnnotation,
  lifecycleStateLabel,
} from '@kruise/api/kruise/well-known';
import { type Action, flattenSteps } from '@kruise/client/actions';
import { podTemplateData } from '@kruise/machinery/controller-revision';
import { targetNodeOf } from '@kruise/machinery/daemon-pods';
import { controllerReference } from '@kruise/machinery/owner-references';
import { isPodReady } from '@kruise/machinery/pods';
import { formatTime, instantOf } from '@kruise/values/time';
import fc from 'fast-check';
import { allFeatureGates, type FeatureGates, featureGates } from '../configuration/feature-gates.ts';
import { managerSettings } from '../configuration/settings.ts';
import { carryOut, type Objects, objectsOf, put, run } from '../testing/world.ts';
import { decide } from './decide.ts';
import { burstOf, progressiveLimit } from './numbers.ts';

const now = instantOf(2026, 1, 1, 12);

const templateOf = (image: string): DaemonSet['spec']['template'] => ({
  metadata: { labels: { app: 'agent' } },
  spec: { containers: [{ name: 'main', image }] },
});

type Spec = Partial<DaemonSet['spec']>;

const rolling = (rollingUpdate: RollingUpdateDaemonSet): Spec => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate },
});

function setOf(spec: Spec = {}, desired = 5): DaemonSet {
  return {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'DaemonSet',
    metadata: { name: 'agent', namespace: 'default', uid: 'set-uid', generation: 2 },
    spec: {
      selector: { matchLabels: { app: 'agent' } },
      template: templateOf('new'),
      ...rolling({ maxUnavailable: 2, maxSurge: 0 }),
      ...spec,
    },
    status: {
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      desiredNumberScheduled: desired,
      numberReady: 0,
      updatedNumberScheduled: 0,
    },
  };
}

const revisionOf = (image: string, revision: number): ControllerRevision => ({
  apiVersion: 'apps/v1',
  kind: 'ControllerRevision',
  metadata: {
    name: `agent-${image}`,
    namespace: 'default',
    uid: image,
    labels: { app: 'agent', 'controller-revision-hash': image },
    ownerReferences: [controllerReference(setOf())],
  },
  data: podTemplateData(templateOf(image)),
  revision,
});
const history = [revisionOf('old', 1), revisionOf('new', 2)];

type Traits = {
  readonly image?: string;
  readonly isReady?: boolean;
  readonly readyForSeconds?: number;
  readonly phase?: NonNullable<Pod['status']>['phase'];
  readonly state?: string;
  readonly isGated?: boolean;
  /** Set during an in-place update, which the kubelet may not have observed. */
  readonly isChanging?: boolean;
  readonly isLeaving?: boolean;
  readonly labels?: { readonly [key: string]: string };
};

/** Builds the Pod of a node; the name of an updated Pod has an apostrophe. */
function podOf(node: string, traits: Traits = {}): Pod {
  const { image = 'old', isReady = true, phase = 'Running', readyForSeconds = 60 } = traits;
  const name = image === 'new' ? `${node}'` : node;
  const lastTransitionTime = formatTime(now - readyForSeconds * 1000);
  const gate = { type: inPlaceUpdateReadyCondition, status: traits.isChanging ? 'False' : 'True' } as const;
  const change = {
    revision: image,
    updateTimestamp: formatTime(now),
    lastContainerStatuses: { main: { imageID: 'old' } },
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      labels: {
        app: 'agent',
        'controller-revision-hash': image,
        ...(traits.state ? { [lifecycleStateLabel]: traits.state } : {}),
        ...traits.labels,
      },
      ...(traits.isChanging ? { annotations: { [inPlaceUpdateStateAnnotation]: JSON.stringify(change) } } : {}),
      ...(traits.isLeaving ? { deletionTimestamp: formatTime(now) } : {}),
      ownerReferences: [controllerReference(setOf())],
    },
    spec: {
      containers: [{ name: 'main', image }],
      nodeName: node,
      ...(traits.isGated ? { readinessGates: [{ conditionType: inPlaceUpdateReadyCondition }] } : {}),
    },
    status: {
      phase,
      conditions: [
        ...(traits.isGated ? [{ ...gate, lastTransitionTime }] : []),
        { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime },
      ],
    },
  };
}

const podsOn = (nodes: string, traits: Traits = {}) =>
  nodes
    .split(' ')
    .filter((name) => name !== '')
    .map((name) => podOf(name, traits));
const nodeOf = (name: string, labels = {}, effect?: 'NoSchedule' | 'NoExecute'): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels },
  ...(effect ? { spec: { taints: [{ key: 'x', effect }] } } : {}),
});
const nodesOf = (names: string) => names.split(' ').map((name) => nodeOf(name));

type World = {
  readonly spec?: Spec;
  readonly desired?: number;
  readonly nodes?: readonly Node[];
  readonly pods?: readonly Pod[];
  readonly revisions?: readonly ControllerRevision[];
  readonly gates?: Partial<FeatureGates>;
  readonly backOffMs?: number;
  readonly daemonSetsUseScheduler?: boolean;
};

function decideOn({ spec, desired, nodes = nodesOf('a b c d e'), pods = [], gates, ...world }: World) {
  const { revisions = history, backOffMs = 0, daemonSetsUseScheduler = true } = world;
  const settings = managerSettings({
    daemonSetsUseScheduler,
    gates: featureGates({ ...allFeatureGates, PreDownloadImageForDaemonSetUpdate: false, ...gates }),
  });
  const observed = {
    set: setOf(spec, desired),
    nodes,
    candidates: pods,
    revisions,
    findRevision: (name: string) => revisions.find(({ metadata }) => metadata.name === name),
    remainingBackOffMs: () => backOffMs,
    imagePullJobs: [],
  };
  const decision = decide(observed, settings, now);
  const outcome = { failures: [], isStale: false, written: new Map() };
  const reported = typeof decision.status === 'function' ? decision.status(outcome) : decision.status;
  const actions = flattenSteps(decision.actions);
  return { ...decision, actions, did: actions.map(formatAction).join(' '), reported };
}

/**
 * Formats an action: `+a` creates a Pod for a node, `−a` deletes, `~a` updates in place, `a PreparingDelete` waits for
 * a hook.
 */
function formatAction(action: Action): string {
  if (action.type === 'record') return `event ${action.event.reason}`;
  if (action.type === 'effect') return action.name;
  const { kind, metadata } = action.object;
  if (kind === 'ControllerRevision') return `${action.type} revision`;
  // Objects other than revisions are Pods here.
  if (action.type === 'create') return `+${targetNodeOf(action.object as unknown as Pod)}`;
  if (action.type === 'remove') return `−${metadata.name}`;
  if (action.type !== 'patch') return action.type;
  const { spec, metadata: changed } = action.patch as Partial<Pod>;
  if (spec?.containers) return `~${metadata.name}`;
  return `${metadata.name} ${changed?.labels?.[lifecycleStateLabel] ?? 'conditions'}`;
}

const all = 'a b c d e';
const updated = (nodes: string, traits: Traits = {}) => podsOn(nodes, { image: 'new', ...traits });
const surge = (maxSurge: number | string) => rolling({ maxUnavailable: 0, maxSurge });
const held = { hold: 'yes' };
const hook = { preDelete: { labelsHandler: held } };

type Row = World & { readonly name: string; readonly did: string };
const rows: Row[] = [
  { name: 'every node gets a Pod', did: '+a +b +c +d +e' },
  { name: 'a cordoned node gets a Pod', nodes: [nodeOf('a')], did: '+a' },
  { name: 'a tainted node gets no Pod', nodes: [nodeOf('a', {}, 'NoSchedule')], did: '' },
  {
    name: 'a node that is tainted later keeps its Pod',
    nodes: [nodeOf('a', {}, 'NoSchedule')],
    pods: updated('a'),
    did: '',
  },
  {
    name: 'a node that is not eligible any more loses its Pod',
    nodes: [nodeOf('a', {}, 'NoExecute')],
    pods: updated('a'),
    did: "−a'",
  },
  {
    name: 'a failed Pod is deleted, with an event',
    nodes: nodesOf('a'),
    pods: updated('a', { phase: 'Failed', isReady: false }),
    did: "noteFailure event FailedDaemonPod −a'",
  },
  {
    name: 'a Pod that failed again stays during the backoff',
    nodes: nodesOf('a'),
    pods: updated('a', { phase: 'Failed', isReady: false }),
    backOffMs: 3000,
    did: '',
  },
  { name: 'burstReplicas limits the Pods created in a reconcile', spec: { burstReplicas: 2 }, did: '+a +b' },
  { name: 'burstReplicas may be a percentage', spec: { burstReplicas: '40%' }, did: '+a +b' },
  { name: 'old Pods are deleted within maxUnavailable', pods: podsOn(all), did: '−e −d' },
  {
    name: 'the update waits for recreated Pods',
    pods: [...podsOn('a b c'), ...updated('d e', { isReady: false })],
    did: '',
  },
  { name: 'the update continues with the next Pods', pods: [...podsOn('a b c'), ...updated('d e')], did: '−c −b' },
  { name: 'the last old Pod is deleted', pods: [...podsOn('a'), ...updated('b c d e')], did: '−a' },
  {
    name: 'old Pods that are not ready are deleted at once',
    pods: podsOn(all, { isReady: false }),
    did: '−e −d −c −b −a',
  },
  {
    name: 'old Pods that are not ready count as unavailable',
    pods: [...podsOn('a b c d'), ...podsOn('e', { isReady: false })],
    did: '−e −d',
  },
  {
    name: 'a terminating Pod is not deleted again',
    nodes: nodesOf('a'),
    pods: podsOn('a', { isLeaving: true }),
    did: '',
  },
  {
    name: 'a paused DaemonSet updates nothing',
    spec: rolling({ maxUnavailable: 1, paused: true }),
    pods: podsOn(all),
    did: '',
  },
  {
    name: 'an OnDelete DaemonSet updates nothing',
    spec: { updateStrategy: { type: 'OnDelete' } },
    pods: podsOn(all),
    did: '',
  },
  {
    name: 'half of three nodes is two',
    spec: rolling({ maxUnavailable: '50%' }),
    nodes: nodesOf('a b c'),
    pods: podsOn('a b c'),
    did: '−c −b',
  },
  {
    name: 'a maxUnavailable of 0 means one',
    spec: rolling({ maxUnavailable: 0, maxSurge: 0 }),
    pods: podsOn(all),
    did: '−e',
  },
  {
    name: 'a partition keeps the first nodes by name',
    spec: rolling({ maxUnavailable: 9, partition: 3 }),
    pods: podsOn(all),
    did: '−e −d',
  },
  {
    name: 'Pods below the partition that are not ready count as unavailable',
    spec: rolling({ maxUnavailable: 2, partition: 3 }),
    pods: [...podsOn('a', { isReady: false }), ...podsOn('b c d e')],
    did: '−e',
  },
  {
    name: 'Pods on nodes that the selector does not match count as well',
    spec: rolling({ maxUnavailable: 1, selector: { matchLabels: { canary: 'yes' } } }),
    nodes: [nodeOf('a'), nodeOf('b', { canary: 'yes' })],
    pods: [...podsOn('a', { isReady: false }), ...podsOn('b')],
    did: '',
  },
  {
    name: 'a percentage partition is rounded down',
    spec: rolling({ maxUnavailable: 9, partition: '50%' }),
    pods: podsOn(all),
    did: '−e −d −c',
  },
  {
    name: 'a partition above the number of nodes keeps all',
    spec: rolling({ maxUnavailable: 9, partition: 9 }),
    pods: podsOn(all),
    did: '',
  },
  {
    name: 'updated nodes count towards the partition',
    spec: rolling({ maxUnavailable: 9, partition: 3 }),
    pods: [...updated('a b'), ...podsOn('c d e')],
    did: '',
  },
  {
    name: 'only Pods on nodes that the selector matches are updated',
    spec: rolling({ maxUnavailable: 9, selector: { matchLabels: { canary: 'yes' } } }),
    nodes: [nodeOf('a', { canary: 'yes' }), nodeOf('b'), nodeOf('c', { canary: 'yes' })],
    pods: podsOn('a b c'),
    did: '−c −a',
  },
  {
    name: 'selector and partition apply together',
    spec: rolling({ maxUnavailable: 9, partition: 2, selector: { matchLabels: { canary: 'yes' } } }),
    nodes: [nodeOf('a'), ...['b', 'c', 'd'].map((name) => nodeOf(name, { canary: 'yes' }))],
    pods: [...updated('a'), ...podsOn('b c d')],
    did: '−d',
  },
  { name: 'a surge Pod is created before the old Pod is deleted', spec: surge(2), pods: podsOn(all), did: '+e +d' },
  {
    name: 'the old Pod stays until the surge Pod is ready',
    spec: surge(2),
    pods: [...podsOn(all), ...updated('d e', { isReady: false })],
    did: '',
  },
  {
    name: 'the old Pod is then deleted before another update starts',
    spec: surge(2),
    pods: [...podsOn(all), ...updated('d e')],
    did: '−d −e',
  },
  {
    name: 'old Pods that are not ready all get a surge Pod',
    spec: surge(2),
    pods: podsOn(all, { isReady: false }),
    did: '+e +d +c +b +a',
  },
  {
    name: 'an old Pod stays until the surge Pod is available',
    spec: { ...surge(2), minReadySeconds: 100 },
    nodes: nodesOf('a'),
    pods: [...podsOn('a', { readyForSeconds: 200 }), ...updated('a')],
    did: '',
  },
  {
    name: 'a Pod is updated in place',
    spec: rolling({ rollingUpdateType: 'InPlaceIfPossible', maxUnavailable: 1 }),
    nodes: nodesOf('a'),
    pods: podsOn('a', { isGated: true }),
    did: 'a conditions ~a',
  },
  {
    name: 'a Pod in an in-place update is unavailable, even if its kubelet reports it as ready',
    spec: rolling({ rollingUpdateType: 'InPlaceIfPossible', maxUnavailable: 1 }),
    nodes: nodesOf('a b'),
    pods: [...podsOn('a', { isGated: true }), ...podsOn('b', { image: 'new', isGated: true, isChanging: true })],
    did: '',
  },
  {
    name: 'a Pod without the readiness gate is recreated',
    spec: rolling({ rollingUpdateType: 'InPlaceIfPossible', maxUnavailable: 1 }),
    nodes: nodesOf('a'),
    pods: podsOn('a'),
    did: '−a',
  },
  {
    name: 'a Pod of a revision that is gone is recreated',
    spec: rolling({ rollingUpdateType: 'InPlaceIfPossible', maxUnavailable: 1 }),
    nodes: nodesOf('a'),
    pods: podsOn('a', { isGated: true }),
    revisions: [revisionOf('new', 2)],
    did: '−a',
  },
  {
    name: 'a Pod with a preDelete hook moves to PreparingDelete, and counts as unavailable',
    spec: { ...rolling({ maxUnavailable: 1 }), lifecycle: hook },
    pods: podsOn(all, { labels: held }),
    did: 'e PreparingDelete',
  },
  {
    name: 'no other update starts while a hook blocks the Pod',
    spec: { ...rolling({ maxUnavailable: 1 }), lifecycle: hook },
    pods: [...podsOn('a b c d', { labels: held }), ...podsOn('e', { labels: held, state: 'PreparingDelete' })],
    did: '',
  },
  {
    name: 'a Pod is deleted once its hook is released',
    spec: { ...rolling({ maxUnavailable: 1 }), lifecycle: hook },
    pods: [...podsOn('a b c d', { labels: held }), ...podsOn('e', { state: 'PreparingDelete' })],
    did: '−e',
  },
  {
    name: 'Pods on ineligible nodes do not count towards the partition',
    spec: rolling({ maxUnavailable: 1 }),
    nodes: [...nodesOf('a b'), nodeOf('c', {}, 'NoSchedule'), nodeOf('d', {}, 'NoSchedule')],
    pods: [...podsOn('a b'), ...updated('c d', { isReady: false })],
    did: '−b',
  },
  {
    name: 'Pods on ineligible nodes count without the feature gate',
    gates: { DaemonSetPruneIneligibleNodes: false },
    spec: rolling({ maxUnavailable: 1 }),
    nodes: [...nodesOf('a b'), nodeOf('c', {}, 'NoSchedule'), nodeOf('d', {}, 'NoSchedule')],
    pods: [...podsOn('a b'), ...updated('c d', { isReady: false })],
    did: '',
  },
];
for (const { name, did, ...world } of rows) test(name, () => assert.equal(decideOn(world).did, did));

const tenNodes = nodesOf(Array.from({ length: 10 }, (_, index) => `node-${index}`).join(' '));
const progressive = (partition: number | string) => ({
  ...rolling({ maxUnavailable: 1, partition }),
  scaleStrategy: { partitionedScaling: true },
});
const steps = [
  { partition: 10, pods: '', did: '' },
  { partition: 9, pods: '', did: '+node-0' },
  { partition: 5, pods: 'node-0', did: '+node-1 +node-2 +node-3 +node-4' },
  { partition: 100, pods: '', did: '' },
  { partition: 0, pods: 'node-0 node-1 node-2 node-3 node-4 node-5 node-6', did: '+node-7 +node-8 +node-9' },
];
for (const { partition, pods, did } of steps) {
  test(`with a partition of ${partition} and Pods on ${pods || 'no node'}, new nodes get ${did || 'none'}`, () => {
    assert.equal(
      decideOn({ spec: progressive(partition), desired: 10, nodes: tenNodes, pods: updated(pods) }).did,
      did,
    );
  });
}

test('node names sort as strings: node-10 comes before node-5', () => {
  const nodes = nodesOf('node-5 node-10');
  assert.equal(decideOn({ spec: progressive(1), desired: 2, nodes }).did, '+node-10');
});

test('without partitionedScaling a partition does not limit Pods on new nodes', () => {
  assert.equal(
    progressiveLimit(setOf(rolling({ partition: 3 })), { desired: 5, updated: 0 }),
    Number.POSITIVE_INFINITY,
  );
});

test('a percentage of no nodes is 0', () => {
  assert.equal(burstOf(setOf({ burstReplicas: '10%' }, 100)), 10);
  assert.equal(burstOf(setOf({ burstReplicas: '10%' }, 5)), 0);
});

test('a new Pod has an affinity for its node, and a readiness gate for in-place updates', () => {
  const { actions } = decideOn({
    spec: rolling({ rollingUpdateType: 'InPlaceIfPossible', maxUnavailable: 1 }),
    nodes: nodesOf('a'),
  });
  const { metadata, spec } = (actions[0] as { readonly object: Pod }).object;
  assert.deepEqual(metadata.labels, { app: 'agent', 'controller-revision-hash': 'new' });
  assert.deepEqual(
    [metadata.generateName, spec?.readinessGates],
    ['agent-', [{ conditionType: 'InPlaceUpdateReady' }]],
  );
});

test('a new Pod has a node name without the scheduler', () => {
  const { actions } = decideOn({ nodes: nodesOf('a'), daemonSetsUseScheduler: false });
  const { spec } = (actions[0] as { readonly object: Pod }).object;
  assert.deepEqual(
    [spec?.nodeName, spec?.schedulerName, spec?.affinity],
    ['a', 'kubernetes.io/daemonset-controller', undefined],
  );
});

test('the status counts nodes, and has the hash of the current template', () => {
  const { reported } = decideOn({
    spec: { minReadySeconds: 100 },
    nodes: [...nodesOf('a b c'), nodeOf('d', {}, 'NoSchedule')],
    pods: [
      podOf('a', { image: 'new', readyForSeconds: 200 }),
      podOf('b', { image: 'new' }),
      podOf('c', { isReady: false }),
      podOf('d'),
    ],
  });
  assert.deepEqual(reported, {
    currentNumberScheduled: 3,
    numberMisscheduled: 1,
    desiredNumberScheduled: 3,
    numberReady: 2,
    updatedNumberScheduled: 2,
    numberAvailable: 1,
    numberUnavailable: 2,
    observedGeneration: 2,
    updateRevision: 'new',
  });
});

test('a set with an empty selector only records an event', () => {
  assert.equal(decideOn({ spec: { selector: {} } }).did, 'event SelectingAll');
});

const plan = fc.record({
  count: fc.integer({ min: 1, max: 6 }),
  partition: fc.nat(4),
  limit: fc.integer({ min: 1, max: 3 }),
  manner: fc.constantFrom('Standard' as const, 'InPlaceIfPossible' as const, 'surge' as const),
  luck: fc.infiniteStream(fc.nat()),
});

test('an update respects its limits at every step, and ends with one Pod on each node, updated up to the partition', () => {
  fc.assert(
    fc.property(plan, ({ count, partition, limit, manner, luck }) => {
      const nodes = nodesOf('a b c d e f'.split(' ').slice(0, count).join(' '));
      const isSurge = manner === 'surge';
      const spec = rolling({
        partition,
        ...(isSurge ? { maxSurge: limit, maxUnavailable: 0 } : { maxUnavailable: limit, rollingUpdateType: manner }),
      });
      const settings = managerSettings({
        gates: featureGates({ ...allFeatureGates, PreDownloadImageForDaemonSetUpdate: false }),
      });
      const objects: Objects = new Map();
      put(objects, history[0]!, ...nodes.map(({ metadata }) => podOf(metadata.name ?? '', { isGated: true })));
      let set = setOf(spec, count);
      let time = now;
      const chance = luck[Symbol.iterator]();
      const pods = () => objectsOf<Pod>(objects, 'Pod');
      let isAtRest = false;
      for (let turn = 0; turn < 200 && !isAtRest; turn++) {
        const revisions = objectsOf<ControllerRevision>(objects, 'ControllerRevision');
        const findRevision = (name: string) => revisions.find(({ metadata }) => metadata.name === name);
        const observed = {
          set,
          nodes,
          candidates: pods(),
          revisions,
          findRevision,
          remainingBackOffMs: () => 0,
          imagePullJobs: [],
        };
        const { actions, status } = decide(observed, settings, (time += 1000));
        carryOut(objects, actions, time);
        const reported =
          typeof status === 'function' ? status({ failures: [], isStale: false, written: new Map() }) : status;
        if (reported) set = { ...set, status: reported };
        const served = new Set(pods().filter(isPodReady).map(targetNodeOf)).size;
        assert.ok(served >= count - (isSurge ? 0 : limit), `${served} of ${count} nodes are available`);
        assert.ok(pods().length <= count + (isSurge ? limit : 0), `${pods().length} Pods on ${count} nodes`);
        let changed = 0;
        for (const pod of pods()) {
          const next = run({ ...pod, spec: { ...pod.spec!, nodeName: targetNodeOf(pod) ?? '' } }, time);
          if (JSON.stringify(next) === JSON.stringify(pod)) continue;
          changed++;
          if (chance.next().value % 3 !== 0) put(objects, next);
        }
        isAtRest = actions.length === 0 && changed === 0;
      }
      assert.ok(isAtRest, 'the rollout does not finish');
      assert.deepEqual(
        pods().map(targetNodeOf).sort(),
        nodes.map(({ metadata }) => metadata.name),
      );
      const isNew = ({ spec: made }: Pod) => made?.containers[0]?.image === 'new';
      assert.equal(pods().filter(isNew).length, Math.max(0, count - partition));
    }),
    { numRuns: 80 },
  );
});
