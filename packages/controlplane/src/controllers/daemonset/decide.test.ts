import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { DaemonSet, DaemonSetStatus } from '@kruise/api/apps/daemonset';
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import { type Action, flattenSteps, type Step } from '@kruise/client/actions';
import { podTemplateData } from '@kruise/machinery/controller-revision';
import { pinToNode } from '@kruise/machinery/daemon-pods';
import { controllerReference } from '@kruise/machinery/owner-references';
import { formatTime, parseTime } from '@kruise/values/time';
import fc from 'fast-check';
import { decide, type Observed } from './decide.ts';

const now = parseTime('2026-01-01T00:00:00Z');
const seconds = (count: number) => formatTime(now + count * 1000);

type Spec = NonNullable<DaemonSet['spec']>;

const templateOf = (image: string) => ({
  metadata: { labels: { app: 'agent' } },
  spec: { containers: [{ name: 'main', image }] },
});
const rolling = (maxUnavailable: number | string, maxSurge: number | string = 0): Partial<Spec> => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable, maxSurge } },
});

function setOf(spec: Partial<Spec> = {}, more: Partial<DaemonSet['metadata']> = {}): DaemonSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: {
      name: 'agent',
      namespace: 'default',
      uid: 'agent-uid',
      generation: 2,
      annotations: { 'deprecated.daemonset.template.generation': '7' },
      ...more,
    },
    spec: {
      selector: { matchLabels: { app: 'agent' } },
      template: templateOf('new'),
      revisionHistoryLimit: 10,
      ...rolling(1),
      ...spec,
    },
  };
}

function revisionOf(
  image: string,
  revision: number,
  more: Partial<ControllerRevision['metadata']> = {},
): ControllerRevision {
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `agent-${image}`,
      namespace: 'default',
      uid: image,
      labels: { app: 'agent', 'controller-revision-hash': image },
      ownerReferences: [controllerReference(setOf())],
      ...more,
    },
    data: podTemplateData(templateOf(image)),
    revision,
  };
}
const present = revisionOf('new', 2);
const history = [revisionOf('old', 1), present];

type Shape = {
  readonly node?: string;
  readonly image?: string;
  readonly phase?: string;
  /** Seconds since the Pod is ready; not ready if omitted. */
  readonly ready?: number;
  readonly isBound?: boolean;
  readonly age?: number;
  readonly metadata?: Pod['metadata'];
};

function podOf(
  name: string,
  { node = name, image = 'new', phase = 'Running', ready, isBound = true, age = 100, metadata }: Shape = {},
): Pod {
  const status = ready === undefined ? 'False' : 'True';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: name,
      creationTimestamp: seconds(-age),
      labels: { app: 'agent', 'controller-revision-hash': image },
      ownerReferences: [controllerReference(setOf())],
      ...metadata,
    },
    spec: { containers: [], ...(isBound ? { nodeName: node } : { affinity: pinToNode(node) }) },
    status: { phase, conditions: [{ type: 'Ready', status, lastTransitionTime: seconds(-(ready ?? 0)) }] },
  } as Pod;
}
const podsOn = (nodes: string, shape: Shape = {}) => nodes.split(' ').map((name) => podOf(name, shape));

type Taints = NonNullable<Node['spec']>['taints'];
const nodeOf = (name: string, taints: Taints = [], labels = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels },
  ...(taints.length > 0 ? { spec: { taints } } : {}),
});
const nodesOf = (names: string) => names.split(' ').map((name) => nodeOf(name));
const noSchedule: Taints = [{ key: 'x', effect: 'NoSchedule' }];
const noExecute: Taints = [{ key: 'x', effect: 'NoExecute' }];
const leaving = {
  name: 'leaving',
  uid: 'leaving',
  deletionTimestamp: seconds(0),
  labels: { app: 'agent', 'controller-revision-hash': 'new' },
  ownerReferences: [controllerReference(setOf())],
};

function observed(parts: Partial<Observed> = {}): Observed {
  const { revisions = history } = parts;
  return {
    set: setOf(),
    nodes: nodesOf('a b c'),
    candidates: [],
    revisions,
    findRevision: (name) => revisions.find(({ metadata }) => metadata.name === name),
    remainingBackOffMs: () => 0,
    ...parts,
  };
}

/** Summarizes actions: `+a` for a Pod created for a node, `−p` for a deleted Pod. */
function summary(steps: readonly Step[]): string {
  return flattenSteps(steps)
    .map((action) => {
      if (action.type === 'record') return `record ${action.event.reason}`;
      if (action.type === 'effect') return action.name;
      const { kind, metadata } = action.object;
      const name = kind === 'ControllerRevision' ? `revision ${metadata.name?.replace('agent-', '')}` : metadata.name;
      if (action.type === 'remove') return `−${name}`;
      if (action.type !== 'create') return `${action.type} ${name}`;
      return kind === 'Pod' ? `+${nodeOfPod(action.object as Pod)}` : '+revision';
    })
    .join(' ');
}

function nodeOfPod({ spec }: Pod): string | undefined {
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required?.nodeSelectorTerms?.[0]?.matchFields?.[0]?.values?.[0];
}

type Row = { readonly name: string; readonly parts: Partial<Observed>; readonly does: string };
const old: Shape = { image: 'old', ready: 60 };
const ready: Shape = { ready: 60 };
const surging = setOf(rolling(0, 1));

const rows: readonly Row[] = [
  // Placement
  { name: 'has a Pod on every node', parts: {}, does: '+a +b +c' },
  { name: 'creates missing Pods', parts: { candidates: podsOn('b', ready) }, does: '+a +c' },
  {
    name: 'counts Pods that are not bound to their node yet',
    parts: { candidates: podsOn('a b c', { isBound: false }) },
    does: '',
  },
  {
    name: 'skips unschedulable nodes',
    parts: { nodes: [nodeOf('a'), nodeOf('b', noSchedule), nodeOf('c', noExecute)] },
    does: '+a',
  },
  {
    name: 'keeps its Pod on an unschedulable node',
    parts: { nodes: [nodeOf('a', noSchedule)], candidates: podsOn('a', ready) },
    does: '',
  },
  {
    name: 'deletes its Pod on a node with a NoExecute taint',
    parts: { nodes: [nodeOf('a', noExecute)], candidates: podsOn('a', ready) },
    does: '−a',
  },
  {
    name: 'deletes its Pod on a node that it does not select any more',
    parts: {
      set: setOf({
        template: { ...templateOf('new'), spec: { ...templateOf('new').spec, nodeSelector: { disk: 'ssd' } } },
      }),
      revisions: [],
      nodes: [nodeOf('a'), nodeOf('b', [], { disk: 'ssd' })],
      candidates: podsOn('a b', ready),
    },
    does: '+revision −a',
  },
  {
    name: 'waits for a terminating Pod',
    parts: { nodes: nodesOf('a'), candidates: [podOf('p', { node: 'a', metadata: leaving })] },
    does: '',
  },
  {
    name: 'does not wait for a finished terminating Pod',
    parts: { nodes: nodesOf('a'), candidates: [podOf('p', { node: 'a', phase: 'Failed', metadata: leaving })] },
    does: '+a',
  },
  {
    name: 'keeps the oldest of several Pods, preferring bound ones',
    parts: {
      nodes: nodesOf('a'),
      candidates: [
        podOf('pending', { node: 'a', isBound: false, age: 300 }),
        podOf('young', { node: 'a', age: 10 }),
        podOf('old', { node: 'a', age: 200 }),
      ],
    },
    does: '−young −pending',
  },
  {
    name: 'deletes Pods assigned to a deleted node',
    parts: { nodes: [], candidates: [podOf('p', { node: 'gone', isBound: false }), podOf('q', { node: 'gone' })] },
    does: '−p',
  },
  {
    name: 'adopts an orphaned Pod',
    parts: {
      nodes: nodesOf('a'),
      candidates: podsOn('a', { metadata: { ownerReferences: [] } }),
    },
    does: 'patch a',
  },
  {
    name: 'creates at most 250 Pods per reconcile',
    parts: { nodes: nodesOf(Array.from({ length: 300 }, (_, index) => `n${index}`).join(' ')) },
    does: Array.from({ length: 250 }, (_, index) => `+n${index}`).join(' '),
  },
  { name: 'does nothing while terminating', parts: { set: setOf({}, { deletionTimestamp: seconds(0) }) }, does: '' },
  { name: 'refuses to select everything', parts: { set: setOf({ selector: {} }) }, does: 'record SelectingAll' },
  // Finished Pods
  {
    name: 'replaces a failed Pod',
    parts: { nodes: nodesOf('a'), candidates: podsOn('a', { phase: 'Failed' }) },
    does: 'noteFailure record FailedDaemonPod −a',
  },
  {
    name: 'keeps a failed Pod during the backoff',
    parts: { nodes: nodesOf('a'), candidates: podsOn('a', { phase: 'Failed' }), remainingBackOffMs: () => 3000 },
    does: '',
  },
  {
    name: 'replaces a succeeded Pod',
    parts: { nodes: nodesOf('a'), candidates: podsOn('a', { phase: 'Succeeded' }) },
    does: 'record SucceededDaemonPod −a',
  },
  // Rolling update without surge
  { name: 'replaces one old Pod at a time', parts: { candidates: podsOn('a b c', old) }, does: '−a' },
  {
    name: 'replaces as many as maxUnavailable allows',
    parts: { set: setOf(rolling(2)), candidates: podsOn('a b c', old) },
    does: '−a −b',
  },
  {
    name: 'rounds a percentage up',
    parts: { set: setOf(rolling('34%')), candidates: podsOn('a b c', old) },
    does: '−a −b',
  },
  {
    name: 'replaces one Pod if the budget is zero',
    parts: { set: setOf(rolling('0%')), candidates: podsOn('a b c', old) },
    does: '−a',
  },
  {
    name: 'waits for updated Pods to be available',
    parts: { candidates: [...podsOn('a'), ...podsOn('b c', old)] },
    does: '',
  },
  {
    name: 'waits for minReadySeconds of updated Pods',
    parts: { set: setOf({ minReadySeconds: 10 }), candidates: [...podsOn('a', { ready: 9 }), ...podsOn('b c', old)] },
    does: '',
  },
  {
    name: 'continues when updated Pods are available',
    parts: { set: setOf({ minReadySeconds: 10 }), candidates: [...podsOn('a', { ready: 10 }), ...podsOn('b c', old)] },
    does: '−b',
  },
  {
    name: 'replaces all unavailable old Pods',
    parts: { candidates: podsOn('a b c', { image: 'old' }) },
    does: '−a −b −c',
  },
  {
    name: 'replaces no other Pod while one is unavailable',
    parts: { candidates: [...podsOn('a', { image: 'old' }), ...podsOn('b c', old)] },
    does: '−a',
  },
  {
    name: 'counts a node with a terminating Pod as unavailable',
    parts: { candidates: [podOf('x', { node: 'a', metadata: leaving }), ...podsOn('b c', old)] },
    does: '',
  },
  {
    name: 'creates missing Pods before it updates',
    parts: { set: setOf(rolling(3)), candidates: podsOn('b c', old) },
    does: '+a',
  },
  {
    name: 'replaces nothing with OnDelete',
    parts: { set: setOf({ updateStrategy: { type: 'OnDelete' } }), candidates: podsOn('a b c', old) },
    does: '',
  },
  {
    name: 'counts a Pod with the current template generation as updated',
    parts: {
      nodes: nodesOf('a'),
      candidates: [
        podOf('a', {
          ready: 60,
          metadata: {
            name: 'a',
            uid: 'a',
            labels: { app: 'agent', 'pod-template-generation': '7' },
            ownerReferences: [controllerReference(setOf())],
          },
        }),
      ],
    },
    does: '',
  },
  // Rolling update with surge
  {
    name: 'creates a new Pod beside an old one',
    parts: { set: surging, candidates: podsOn('a b c', old) },
    does: '+a',
  },
  {
    name: 'rounds a surge up',
    parts: { set: setOf(rolling(0, '34%')), candidates: podsOn('a b c', old) },
    does: '+a +b',
  },
  {
    name: 'waits for the new Pod beside the old one',
    parts: { set: surging, candidates: [podOf('new-a', { node: 'a' }), ...podsOn('a b c', old)] },
    does: '',
  },
  {
    name: 'deletes the old Pod when the new one is available',
    parts: { set: surging, candidates: [podOf('new-a', { node: 'a', ready: 1 }), ...podsOn('a b c', old)] },
    does: '−a',
  },
  {
    name: 'deletes an old Pod that is not ready any more',
    parts: {
      set: surging,
      candidates: [podOf('new-a', { node: 'a' }), podOf('a', { image: 'old' }), ...podsOn('b c', old)],
    },
    does: '−a',
  },
  {
    name: 'keeps at most one Pod per revision',
    parts: {
      set: surging,
      nodes: nodesOf('a'),
      candidates: [
        podOf('n1', { node: 'a' }),
        podOf('n2', { node: 'a' }),
        podOf('o1', { ...old, node: 'a' }),
        podOf('o2', { ...old, node: 'a' }),
      ],
    },
    does: '−n2 −o2',
  },
  {
    name: 'creates new Pods beside all unavailable old ones',
    parts: { set: surging, candidates: [...podsOn('a b', { image: 'old' }), ...podsOn('c', old)] },
    does: '+a +b +c',
  },
  {
    name: 'creates a Pod where the only one failed',
    parts: { set: surging, nodes: nodesOf('a'), candidates: podsOn('a', { phase: 'Failed' }) },
    does: 'noteFailure record FailedDaemonPod −a +a',
  },
  {
    name: 'deletes its Pod on a node that does not match any more when others are available',
    parts: {
      set: surging,
      nodes: [nodeOf('a', noSchedule), nodeOf('b')],
      candidates: [...podsOn('a', old), ...podsOn('b', ready)],
    },
    does: '−a',
  },
  {
    name: 'keeps its Pod on a node that does not match any more until others are available',
    parts: {
      set: surging,
      nodes: [nodeOf('a', noSchedule), nodeOf('b')],
      candidates: [...podsOn('a', old), ...podsOn('b')],
    },
    does: '',
  },
  {
    name: 'deletes an unavailable Pod on a node that does not match any more',
    parts: { set: surging, nodes: [nodeOf('a', noSchedule)], candidates: podsOn('a', { image: 'old' }) },
    does: '−a',
  },
  // Revision history
  { name: 'records its template', parts: { revisions: [], nodes: [] }, does: '+revision' },
  {
    name: 'renumbers the revision of a restored template',
    parts: { revisions: [revisionOf('new', 1), revisionOf('old', 2)], nodes: [] },
    does: 'update revision new',
  },
  {
    name: 'adopts an orphaned revision',
    parts: { revisions: [{ ...present, metadata: { ...present.metadata, ownerReferences: [] } }], nodes: [] },
    does: 'patch revision new',
  },
  {
    name: 'labels a revision without a hash with its name',
    parts: { revisions: [revisionOf('old', 1, { labels: { app: 'agent' } }), present], nodes: [] },
    does: 'update revision old',
  },
  {
    name: 'merges two revisions of the same template',
    parts: {
      revisions: [
        present,
        {
          ...revisionOf('new', 1, {
            name: 'agent-twin',
            uid: 'twin',
            labels: { app: 'agent', 'controller-revision-hash': 'twin' },
          }),
        },
      ],
      candidates: [podOf('a', { ...ready, image: 'twin' }), ...podsOn('b', old), ...podsOn('c', ready)],
    },
    does: 'patch a −revision twin −a',
  },
  {
    name: 'deletes the oldest revisions above the limit, except those in use',
    parts: {
      set: setOf({ revisionHistoryLimit: 1, updateStrategy: { type: 'OnDelete' } }),
      nodes: nodesOf('a'),
      candidates: podsOn('a', { ...ready, image: 'r1' }),
      revisions: [revisionOf('r1', 1), revisionOf('r2', 2), revisionOf('r3', 3), revisionOf('new', 4)],
    },
    does: '−revision r2 −revision r3',
  },
];
for (const { name, parts, does } of rows) {
  test(`a DaemonSet ${name}`, () => assert.equal(summary(decide(observed(parts), now).actions), does));
}

test('a Pod is created for its node from the template', () => {
  const set = setOf({ template: { ...templateOf('new'), spec: { ...templateOf('new').spec, hostNetwork: true } } });
  const { actions } = decide(observed({ set, revisions: [], nodes: nodesOf('a') }), now);
  const [revision, creation] = actions as [Action & { object: ControllerRevision }, Action & { object: Pod }];
  const hash = revision.object.metadata.labels?.['controller-revision-hash'];
  assert.equal(revision.object.metadata.name, `agent-${hash}`);
  assert.deepEqual(revision.object.data, podTemplateData(set.spec!.template));
  const { metadata, spec } = creation.object;
  assert.equal(metadata.generateName, 'agent-');
  assert.deepEqual(metadata.labels, { app: 'agent', 'pod-template-generation': '7', 'controller-revision-hash': hash });
  assert.deepEqual(metadata.ownerReferences, [controllerReference(set)]);
  assert.equal(spec?.nodeName, undefined);
  assert.deepEqual(spec?.affinity, pinToNode('a'));
  assert.deepEqual(
    spec?.tolerations?.map(({ key, effect }) => `${key?.replace('node.kubernetes.io/', '')} ${effect}`),
    [
      'not-ready NoExecute',
      'unreachable NoExecute',
      'disk-pressure NoSchedule',
      'memory-pressure NoSchedule',
      'pid-pressure NoSchedule',
      'unschedulable NoSchedule',
      'network-unavailable NoSchedule',
    ],
  );
});

test('a hash collision is skipped and counted', () => {
  const parts = observed({ revisions: [], nodes: [] });
  const [first] = decide(parts, now).actions as [Action & { object: ControllerRevision }];
  const stranger = { ...first.object, metadata: { ...first.object.metadata, ownerReferences: [] } };
  const { actions, status } = decide(
    { ...parts, findRevision: (name) => (name === first.object.metadata.name ? stranger : undefined) },
    now,
  );
  const [second] = actions as [Action & { object: ControllerRevision }];
  assert.notEqual(second.object.metadata.name, first.object.metadata.name);
  assert.equal(
    typeof status === 'function' && status({ failures: [], isStale: false, written: new Map() })?.collisionCount,
    1,
  );
});

test('finished Pods get events', () => {
  const parts = {
    nodes: nodesOf('a b'),
    candidates: [podOf('p', { node: 'a', phase: 'Failed' }), podOf('q', { node: 'b', phase: 'Succeeded' })],
  };
  const messages = decide(observed(parts), now).actions.flatMap((action) =>
    action.type === 'record' ? [action.event.message] : [],
  );
  assert.deepEqual(messages, [
    'Found failed daemon pod default/p on node a, will try to kill it',
    'Found succeeded daemon pod default/q on node b, will try to delete it',
  ]);
});

function statusOf(parts: Partial<Observed>): DaemonSetStatus | undefined {
  const { status } = decide(observed(parts), now);
  return typeof status === 'function' ? status({ failures: [], isStale: false, written: new Map() }) : status;
}

test('a DaemonSet counts nodes', () => {
  const nodes = [...nodesOf('a b c d e'), nodeOf('f', noSchedule), nodeOf('g', noSchedule)];
  const candidates = [
    ...podsOn('a', { ready: 60 }),
    ...podsOn('b', { ready: 5 }),
    ...podsOn('c', old),
    ...podsOn('d'),
    podOf('young', { node: 'd', ready: 60, age: 1 }),
    ...podsOn('f', ready),
  ];
  assert.deepEqual(statusOf({ set: setOf({ minReadySeconds: 10 }), nodes, candidates }), {
    desiredNumberScheduled: 5,
    currentNumberScheduled: 4,
    numberMisscheduled: 1,
    numberReady: 3,
    updatedNumberScheduled: 3,
    numberAvailable: 2,
    numberUnavailable: 3,
    observedGeneration: 2,
  });
});

test('a DaemonSet is requeued when a Pod becomes available, or after its backoff', () => {
  const again = (parts: Partial<Observed>) => decide(observed(parts), now).requeueAfterSeconds;
  const set = setOf({ minReadySeconds: 10 });
  assert.equal(again({ set, candidates: podsOn('a b c', { ready: 4 }) }), 6);
  assert.equal(
    again({ nodes: nodesOf('a'), candidates: podsOn('a', { phase: 'Failed' }), remainingBackOffMs: () => 3000 }),
    3,
  );
  assert.equal(again({ candidates: podsOn('a b c', ready) }), undefined);
});

// Properties

const world = fc.record({
  nodes: fc.array(fc.constantFrom('fits', 'full', 'hostile'), { minLength: 1, maxLength: 8 }),
  pods: fc.array(
    fc.record({
      node: fc.nat(9),
      image: fc.constantFrom('old', 'new'),
      isReady: fc.boolean(),
      phase: fc.constantFrom('Running', 'Running', 'Pending', 'Failed', 'Succeeded'),
    }),
    { maxLength: 12 },
  ),
  budget: fc.constantFrom(rolling(1), rolling(3), rolling('40%'), rolling(0, 1), rolling(0, '50%')),
});

function carryOut(pods: readonly Pod[], actions: readonly Action[]): readonly Pod[] {
  const gone = new Set(actions.flatMap((action) => (action.type === 'remove' ? [action.object.metadata.uid] : [])));
  const made = actions.flatMap((action, index) => {
    if (action.type !== 'create') return [];
    const node = nodeOfPod(action.object as Pod) ?? '';
    return [podOf(`made-${index}-${pods.length}`, { node, phase: 'Pending' })];
  });
  return [...pods.filter(({ metadata }) => !gone.has(metadata.uid)), ...made];
}

/** Binds a new Pod to its node and makes it ready. */
function settle(pod: Pod): Pod {
  const { name = '', labels } = pod.metadata;
  const phase = pod.status?.phase;
  if (phase !== 'Pending' && (phase !== 'Running' || isReady(pod))) return pod;
  return podOf(name, { node: pod.spec?.nodeName ?? '', image: labels?.['controller-revision-hash'] ?? '', ready: 60 });
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.[0]?.status === 'True';
}

test('from any state, every eligible node gets one updated Pod, within the budget', () => {
  fc.assert(
    fc.property(world, ({ nodes: kinds, pods, budget }) => {
      const taints = { fits: [], full: noSchedule, hostile: noExecute };
      const nodes = kinds.map((kind, index) => nodeOf(`n${index}`, taints[kind]));
      const fitting = nodes.filter(({ spec }) => !spec?.taints?.length).map(({ metadata }) => metadata.name);
      const set = setOf(budget);
      let candidates: readonly Pod[] = pods.map(({ node, image, isReady, phase }, index) =>
        podOf(`p${index}`, {
          node: `n${node % kinds.length}`,
          image,
          phase,
          ...(isReady && phase === 'Running' ? { ready: 60 } : {}),
        }),
      );
      const { maxUnavailable, maxSurge } = set.spec!.updateStrategy!.rollingUpdate!;
      const allowed =
        typeof maxUnavailable === 'string'
          ? Math.ceil((Number.parseInt(maxUnavailable, 10) * fitting.length) / 100)
          : (maxUnavailable ?? 0);
      const served = (of: readonly Pod[]) =>
        fitting.filter((name) => of.some((pod) => pod.spec?.nodeName === name && isReady(pod))).length;
      for (let pass = 0; ; pass++) {
        assert.ok(pass < 60, 'the update terminates');
        const actions = flattenSteps(decide(observed({ set, nodes, candidates }), now).actions);
        const next = carryOut(candidates, actions);
        // Age decides which of several Pods of a node stays, not availability.
        const isSettled = fitting.every((name) => {
          const images = candidates.filter((pod) => pod.spec?.nodeName === name).map(({ metadata }) => metadata.labels);
          const distinct = new Set(images.map((labels) => labels?.['controller-revision-hash'])).size;
          return images.length <= (maxSurge === 0 ? 1 : distinct);
        });
        if (isSettled)
          assert.ok(served(next) >= Math.min(served(candidates), fitting.length - allowed), 'the budget holds');
        const settled = next.map(settle);
        if (actions.length === 0 && settled.every((pod, index) => pod === next[index])) break;
        candidates = settled;
      }
      const left = candidates.filter(({ spec }) => fitting.includes(spec?.nodeName));
      assert.deepEqual(left.map(({ spec }) => spec?.nodeName).sort(), fitting.toSorted());
      assert.ok(left.every(({ metadata }) => metadata.labels?.['controller-revision-hash'] === 'new'));
    }),
  );
});
