import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReplicaSet, ReplicaSetStatus } from '@kruise/api/apps/replicaset';
import type { Pod } from '@kruise/api/core/pod';
import { type Action, flattenSteps } from '@kruise/client/actions';
import type { Outcome } from '@kruise/client/execute';
import { controllerReference } from '@kruise/machinery/owner-references';
import { failure, forbidden, StatusError } from '@kruise/machinery/status';
import { formatTime, parseTime } from '@kruise/values/time';
import { countActions } from '@kruise/workload-kit/testing/summarize-actions';
import fc from 'fast-check';
import { decide, type Observed } from './decide.ts';

const now = parseTime('2026-01-01T00:00:00Z');
const deletionTimestamp = formatTime(now);
const template = { metadata: { labels: { app: 'web', tier: 'front' } }, spec: { containers: [{ name: 'main' }] } };

function setOf(spec: Partial<NonNullable<ReplicaSet['spec']>> = {}, more: Partial<ReplicaSet> = {}): ReplicaSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'web', namespace: 'default', uid: 'web-uid', generation: 3 },
    spec: { replicas: 3, selector: { matchLabels: { app: 'web' } }, template, ...spec },
    ...more,
  };
}
const set = setOf();
const terminating = setOf({}, { metadata: { ...set.metadata, deletionTimestamp } });

type Shape = {
  readonly phase?: NonNullable<Pod['status']>['phase'] & string;
  readonly readySeconds?: number;
  readonly labels?: { readonly [key: string]: string };
  readonly owner?: 'nobody' | 'another';
  readonly metadata?: Pod['metadata'];
};

function podOf(name: string, { phase = 'Running', readySeconds, labels, owner, metadata }: Shape = {}): Pod {
  const controller = { ...set, metadata: { ...set.metadata, uid: owner === 'another' ? 'another-uid' : 'web-uid' } };
  const since = formatTime(now - (readySeconds ?? 0) * 1000);
  const ready = { type: 'Ready', status: readySeconds === undefined ? 'False' : 'True', lastTransitionTime: since };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: name,
      labels: labels ?? { app: 'web', tier: 'front' },
      ownerReferences: owner === 'nobody' ? [] : [controllerReference(controller)],
      ...metadata,
    },
    spec: { containers: [{ name: 'main' }], nodeName: 'node' },
    status: { phase, conditions: [ready] },
  };
}
const pods = (names: string, shape: Shape = {}) => names.split(' ').map((name) => podOf(name, shape));
const ready: Shape = { readySeconds: 60 };

const actionCases: readonly {
  readonly name: string;
  readonly set?: ReplicaSet;
  readonly pods: readonly Pod[];
  readonly does: string;
}[] = [
  { name: 'creates missing Pods', pods: pods('a'), does: 'create web- ×2' },
  {
    name: 'creates one Pod by default',
    set: setOf({}, { spec: { selector: { matchLabels: { app: 'web' } }, template } }),
    pods: [],
    does: 'create web-',
  },
  { name: 'does nothing if there are enough Pods', pods: pods('a b c'), does: '' },
  { name: 'deletes surplus Pods', pods: [...pods('a b c', ready), podOf('d')], does: 'delete d' },
  {
    name: 'deletes the two Pending Pods when scaled from five to three',
    pods: [...pods('a b c', ready), ...pods('d e', { phase: 'Pending' })],
    does: 'delete d, delete e',
  },
  {
    name: 'deletes the Pods with the lowest deletion rank first',
    pods: [
      ...pods('a b c', ready),
      podOf('d', {
        ...ready,
        metadata: {
          name: 'd',
          uid: 'z',
          labels: { app: 'web' },
          ownerReferences: [controllerReference(set)],
          annotations: { 'controller.kubernetes.io/pod-deletion-cost': '-10' },
        },
      }),
    ],
    does: 'delete d',
  },
  {
    name: 'deletes all Pods with zero replicas',
    set: setOf({ replicas: 0 }),
    pods: pods('b a'),
    does: 'delete b, delete a',
  },
  {
    name: 'replaces failed and succeeded Pods',
    pods: [...pods('a b'), podOf('c', { phase: 'Failed' }), podOf('d', { phase: 'Succeeded' })],
    does: 'create web-',
  },
  {
    name: 'replaces terminating Pods',
    pods: [
      ...pods('a b'),
      podOf('c', { metadata: { name: 'c', deletionTimestamp, ownerReferences: [controllerReference(set)] } }),
    ],
    does: 'create web-',
  },
  {
    name: 'creates at most 500 Pods per reconcile',
    set: setOf({ replicas: 1200 }),
    pods: [],
    does: 'create web- ×500',
  },
  {
    name: 'deletes at most 500 Pods per reconcile',
    set: setOf({ replicas: 0 }),
    pods: Array.from({ length: 501 }, (_, index) => podOf(`p${index}`)),
    does: Array.from({ length: 500 }, (_, index) => `delete p${index}`).join(', '),
  },
  { name: 'counts an adopted orphan', pods: [...pods('a b'), podOf('c', { owner: 'nobody' })], does: 'patch c' },
  {
    name: 'adopts Pods that it then deletes',
    set: setOf({ replicas: 0 }),
    pods: pods('a', { owner: 'nobody' }),
    does: 'patch a, delete a',
  },
  {
    name: 'releases Pods that do not match any more, and replaces them',
    pods: [...pods('a b'), podOf('c', { labels: { app: 'db' } })],
    does: 'patch c, create web-',
  },
  {
    name: 'ignores failed orphans',
    pods: [...pods('a b c'), podOf('d', { owner: 'nobody', phase: 'Failed' })],
    does: '',
  },
  { name: 'ignores the Pods of other owners', pods: [...pods('a b c'), podOf('d', { owner: 'another' })], does: '' },
  { name: 'creates nothing while terminating', set: terminating, pods: [], does: '' },
  { name: 'deletes nothing while terminating', set: terminating, pods: pods('a b c d e'), does: '' },
];
for (const { name, set: given = set, pods: candidates, does } of actionCases) {
  test(`a ReplicaSet ${name}`, () => {
    assert.equal(countActions(decide({ set: given, candidates, siblings: [] }, now).actions), does);
  });
}

test('Pods of other ReplicaSets of the Deployment count for the node rank', () => {
  const onNode = (name: string, nodeName: string) => ({ ...podOf(name, ready), spec: { containers: [], nodeName } });
  const candidates = [onNode('a', 'x'), onNode('b', 'y')];
  const siblings = [...candidates, onNode('other-1', 'y'), onNode('other-2', 'x'), onNode('other-3', 'y')];
  assert.equal(countActions(decide({ set: setOf({ replicas: 1 }), candidates, siblings }, now).actions), 'delete b');
});

test('each created or deleted Pod emits an event', () => {
  const announcements = (replicas: number) =>
    decide({ set: setOf({ replicas }), candidates: pods('a'), siblings: [] }, now).actions.map((action) =>
      action.type === 'create' || action.type === 'remove' ? action.outcomeEvents : undefined,
    );
  const about = setOf({ replicas: 2 });
  assert.deepEqual(announcements(2), [
    {
      about,
      done: { reason: 'SuccessfulCreate', message: 'Created pod: {name}' },
      failed: { reason: 'FailedCreate', message: 'Error creating: {error}' },
    },
  ]);
  assert.deepEqual(announcements(0), [
    {
      about: setOf({ replicas: 0 }),
      done: { reason: 'SuccessfulDelete', message: 'Deleted pod: {name}' },
      failed: { reason: 'FailedDelete', message: 'Error deleting: {error}' },
    },
  ]);
});

const wentWell: Outcome = { failures: [], isStale: false, written: new Map() };

function statusAfter(observed: Observed, outcome: Partial<Outcome> = {}): ReplicaSetStatus | undefined {
  const { status } = decide(observed, now);
  return typeof status === 'function' ? status({ ...wentWell, ...outcome }) : status;
}

test('a ReplicaSet counts its Pods', () => {
  const candidates = [
    podOf('ready-long', { readySeconds: 10 }),
    podOf('ready', { readySeconds: 9 }),
    podOf('bare', { labels: { app: 'web' } }),
    podOf('over', { phase: 'Failed' }),
  ];
  const given = setOf({ minReadySeconds: 10 });
  assert.deepEqual(statusAfter({ set: given, candidates, siblings: [] }), {
    replicas: 3,
    fullyLabeledReplicas: 2,
    readyReplicas: 2,
    availableReplicas: 1,
    observedGeneration: 3,
  });
  assert.equal(decide({ set: given, candidates, siblings: [] }, now).requeueAfterSeconds, 1);
});

const [creation] = flattenSteps(decide({ set, candidates: [], siblings: [] }, now).actions) as readonly [Action];
const [deletion] = flattenSteps(
  decide({ set: setOf({ replicas: 0 }), candidates: pods('a'), siblings: [] }, now).actions,
) as readonly [Action];
const quota = forbidden({ group: '', plural: 'pods' }, '', 'exceeded quota');
const isTerminating = new StatusError(
  failure({
    code: 403,
    reason: 'Forbidden',
    message: 'no',
    details: { causes: [{ reason: 'NamespaceTerminating' }] },
  }),
);
const failed = (error: unknown, action = creation): Partial<Outcome> => ({ failures: [{ action, error }] });
const failureOf = (reason: string, message: string) => [
  { type: 'ReplicaFailure', status: 'True', reason, message, lastTransitionTime: deletionTimestamp },
];
const conditioned = setOf({}, { status: { replicas: 0, conditions: failureOf('FailedCreate', 'before') } });

const conditionCases = [
  {
    name: 'that Pods could not be created',
    set,
    outcome: failed(quota),
    conditions: failureOf('FailedCreate', quota.message),
  },
  {
    name: 'that Pods could not be deleted',
    set,
    outcome: failed(new Error('x'), deletion),
    conditions: failureOf('FailedDelete', 'x'),
  },
  {
    name: 'the first of several causes',
    set: conditioned,
    outcome: failed(quota),
    conditions: failureOf('FailedCreate', 'before'),
  },
  { name: 'nothing after it recovers', set: conditioned, outcome: {}, conditions: undefined },
  { name: 'nothing in a terminating namespace', set, outcome: failed(isTerminating), conditions: undefined },
];
for (const { name, set: given, outcome, conditions } of conditionCases) {
  test(`a ReplicaSet reports ${name}`, () => {
    assert.deepEqual(statusAfter({ set: given, candidates: [], siblings: [] }, outcome)?.conditions, conditions);
  });
}

test('a ReplicaSet whose adoption failed reports no status', () => {
  const observed = { set: conditioned, candidates: pods('a', { owner: 'nobody' }), siblings: [] };
  const [adoption] = flattenSteps(decide(observed, now).actions) as readonly [Action];
  assert.equal(statusAfter(observed, failed(new Error('x'), adoption)), conditioned.status);
});

test('from any state, the decision is idempotent after its execution', () => {
  const shape = fc.record({
    phase: fc.constantFrom('Pending', 'Running', 'Failed'),
    owner: fc.constantFrom('nobody', 'another', undefined),
    labels: fc.constantFrom({ app: 'web' }, { app: 'db' }),
  });
  fc.assert(
    fc.property(fc.array(shape, { maxLength: 12 }), fc.nat(12), (shapes, replicas) => {
      const given = setOf({ replicas });
      let candidates = shapes.map(({ owner, ...rest }, index) =>
        podOf(`${index}`, { ...rest, ...(owner ? { owner } : {}) }),
      );
      for (const action of flattenSteps(decide({ set: given, candidates, siblings: [] }, now).actions)) {
        candidates = carryOut(candidates, action);
      }
      assert.deepEqual(decide({ set: given, candidates, siblings: [] }, now).actions, []);
      const active = candidates.filter(
        ({ metadata, status }) => metadata.ownerReferences?.[0]?.uid === 'web-uid' && status?.phase !== 'Failed',
      );
      assert.equal(active.length, replicas);
    }),
  );
});

function carryOut(candidates: readonly Pod[], action: Action): Pod[] {
  switch (action.type) {
    case 'create':
      return [...candidates, podOf(`new-${candidates.length}`, { phase: 'Pending' })];
    case 'remove':
      return candidates.filter(({ metadata }) => metadata.name !== action.object.metadata.name);
    case 'patch': {
      const { ownerReferences } = (action.patch as { metadata: Pod['metadata'] }).metadata;
      return candidates.map((pod) =>
        pod.metadata.name === action.object.metadata.name
          ? { ...pod, metadata: { ...pod.metadata, ...(ownerReferences ? { ownerReferences } : {}) } }
          : pod,
      );
    }
    default:
      throw new TypeError(action.type);
  }
}
