import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type { PodDisruptionBudget } from '@kruise/api/policy/poddisruptionbudget';
import fc from 'fast-check';
import { decide } from './decide.ts';
import { decideStale } from './stale-target.ts';
import type { Workloads } from './workloads.ts';

const now = Date.UTC(2026, 0, 1, 0, 10);
const ago = (seconds: number) => new Date(now - seconds * 1000).toISOString().replace('.000', '');

const budget = (spec: PodDisruptionBudget['spec'], status?: PodDisruptionBudget['status']): PodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'budget', namespace: 'default', generation: 3 },
  spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
  ...(status ? { status } : {}),
});

const pod = (name: string, { ready = true, leaving = false, owner = 'set' } = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'default',
    ...(leaving ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    ownerReferences: owner
      ? [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: owner, controller: true }]
      : [],
  },
  status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
});
const pods = (count: number, notReady = 0) =>
  Array.from({ length: count }, (_, index) => pod(`p${index}`, { ready: index >= notReady }));
const workloads = (sizes: Record<string, number>): Workloads => ({
  found: new Map(Object.entries(sizes).map(([uid, replicas]) => [uid, { uid, replicas }])),
});

function counts(spec: PodDisruptionBudget['spec'], of: readonly Pod[], sizes: Record<string, number>) {
  const { status } = decide({ budget: budget(spec), pods: of, workloads: workloads(sizes) }, now);
  assert.ok(status && typeof status !== 'function');
  const { expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed, conditions } = status;
  assert.equal(conditions?.[0]?.reason, disruptionsAllowed > 0 ? 'SufficientPods' : 'InsufficientPods');
  return [expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed];
}

type Row = [
  name: string,
  spec: PodDisruptionBudget['spec'],
  pods: readonly Pod[],
  sizes: Record<string, number>,
  expected: readonly number[],
];
const cases: readonly Row[] = [
  ['one of three ready Pods may be disrupted', { maxUnavailable: 1 }, pods(3), { set: 3 }, [3, 2, 3, 1]],
  ['no Pod may be disrupted while one is missing', { maxUnavailable: 1 }, pods(2), { set: 3 }, [3, 2, 2, 0]],
  ['a maxUnavailable percentage is rounded up', { maxUnavailable: '30%' }, pods(5), { set: 5 }, [5, 3, 5, 2]],
  ['maxUnavailable may exceed the number of Pods', { maxUnavailable: 10 }, pods(3), { set: 3 }, [3, 0, 3, 3]],
  ['none may go', { maxUnavailable: 0 }, pods(3), { set: 3 }, [3, 3, 3, 0]],
  ['an absolute minAvailable counts existing Pods', { minAvailable: 2 }, pods(5), {}, [5, 2, 5, 3]],
  ['a minAvailable percentage is rounded up', { minAvailable: '50%' }, pods(5), { set: 5 }, [5, 3, 5, 2]],
  ['no Pod may be disrupted if there are none', { minAvailable: 0 }, [], {}, [0, 0, 0, 0]],
  ['unready Pods do not count', { minAvailable: 2 }, pods(5, 3), {}, [5, 2, 2, 0]],
  ['terminating Pods do not count', { minAvailable: 1 }, [pod('a'), pod('b', { leaving: true })], {}, [2, 1, 1, 0]],
  [
    'several workloads are added up',
    { maxUnavailable: 1 },
    [pod('a', { owner: 'x' }), pod('b', { owner: 'y' })],
    { x: 2, y: 3 },
    [5, 4, 2, 0],
  ],
  ['a budget without limits allows nothing', {}, pods(3), {}, [0, 0, 3, 0]],
];
for (const [name, spec, of, sizes, expected] of cases) {
  test(name, () => assert.deepEqual(counts(spec, of, sizes), expected));
}

test('two ReplicaSets of one Deployment are one workload', () => {
  const found = new Map([
    ['old', { uid: 'web', replicas: 4 }],
    ['new', { uid: 'web', replicas: 4 }],
  ]);
  const of = [pod('a', { owner: 'old' }), pod('b', { owner: 'new' })];
  const { status } = decide({ budget: budget({ maxUnavailable: 1 }), pods: of, workloads: { found } }, now);
  assert.equal(typeof status === 'object' && status.expectedPods, 4);
});

const eventsOf = (observed: Parameters<typeof decide>[0]) => decide(observed, now).events ?? [];

test('Pods without a controller get an event', () => {
  const [event] = eventsOf({
    budget: budget({ maxUnavailable: 1 }),
    pods: [pod('a', { owner: '' })],
    workloads: workloads({}),
  });
  assert.equal(event?.reason, 'UnmanagedPods');
  assert.match(
    event?.message ?? '',
    /\(selector: &LabelSelector\{MatchLabels:map\[string\]string\{app: web,\},MatchExpressions:\[\]LabelSelectorRequirement\{\},\}\)/,
  );
  assert.deepEqual(
    eventsOf({ budget: budget({ minAvailable: 1 }), pods: [pod('a', { owner: '' })], workloads: workloads({}) }),
    [],
  );
});

test('a budget without Pods gets an event', () => {
  const texts = eventsOf({ budget: budget({ minAvailable: 1 }), pods: [], workloads: workloads({}) });
  assert.deepEqual(
    texts.map(({ type, reason, message }) => [type, reason, message]),
    [['Normal', 'NoPods', 'No matching pods found']],
  );
});

test('no disruption is allowed if the expected number is unknown', () => {
  const before = {
    observedGeneration: 2,
    disruptionsAllowed: 1,
    currentHealthy: 3,
    desiredHealthy: 2,
    expectedPods: 3,
    conditions: [],
  };
  const failure = 'foos.example.com does not implement the scale subresource';
  const decision = decide(
    { budget: budget({ maxUnavailable: 1 }, before), pods: pods(3), workloads: { found: new Map(), failure } },
    now,
  );
  assert.deepEqual(decision.status, {
    ...before,
    disruptionsAllowed: 0,
    conditions: [
      {
        type: 'DisruptionAllowed',
        status: 'False',
        reason: 'SyncFailed',
        message: failure,
        observedGeneration: 2,
        lastTransitionTime: ago(0),
      },
    ],
  });
  assert.equal(decision.events?.[0]?.message, `Failed to calculate the number of expected pods: ${failure}`);
});

const disrupted = (times: Record<string, string>) =>
  budget(
    { minAvailable: 1 },
    { disruptedPods: times, disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
  );

test('a Pod with an allowed eviction counts as disrupted for two minutes', () => {
  const decision = decide(
    { budget: disrupted({ p0: ago(20), p1: ago(119) }), pods: pods(3), workloads: workloads({}) },
    now,
  );
  assert.ok(typeof decision.status === 'object');
  assert.deepEqual([decision.status.currentHealthy, decision.status.disruptedPods], [1, { p0: ago(20), p1: ago(119) }]);
  assert.equal(decision.requeueAfterSeconds, 2);
});

test('after two minutes the Pod counts again, with an event', () => {
  const observed = { budget: disrupted({ p0: ago(121) }), pods: pods(3), workloads: workloads({}) };
  const { status, requeueAfterSeconds } = decide(observed, now);
  assert.ok(typeof status === 'object');
  assert.deepEqual([status.currentHealthy, status.disruptedPods, requeueAfterSeconds], [3, undefined, undefined]);
  assert.deepEqual(
    eventsOf(observed).map(({ about, reason }) => [about.metadata.name, reason]),
    [['p0', 'NotDeleted']],
  );
});

test('a terminating or deleted Pod is no longer a disrupted Pod', () => {
  const observed = {
    budget: disrupted({ a: ago(20), gone: ago(20) }),
    pods: [pod('a', { leaving: true }), pod('b')],
    workloads: workloads({}),
  };
  const { status } = decide(observed, now);
  assert.deepEqual(typeof status === 'object' && [status.disruptedPods, status.currentHealthy], [undefined, 1]);
});

test('allowed disruptions never violate the minimum, and the decision is idempotent', () => {
  const value = fc.oneof(
    fc.nat(10),
    fc.nat(100).map((percent) => `${percent}%`),
  );
  fc.assert(
    fc.property(fc.boolean(), value, fc.nat(12), fc.nat(12), (isMinimum, amount, count, notReady) => {
      const of = budget(isMinimum ? { minAvailable: amount } : { maxUnavailable: amount });
      const observed = { budget: of, pods: pods(count, notReady), workloads: workloads({ set: count }) };
      const { status } = decide(observed, now);
      assert.ok(typeof status === 'object');
      const { disruptionsAllowed, currentHealthy, desiredHealthy } = status;
      assert.ok(disruptionsAllowed === 0 || currentHealthy - disruptionsAllowed >= desiredHealthy);
      const again = decide({ ...observed, budget: { ...of, status } }, now + 5000);
      assert.deepEqual([again.status, again.events], [status, []]);
    }),
  );
});

test('a disruption target that is not deleted within two minutes loses the condition', () => {
  const targeted = (since: string): Pod => ({
    ...pod('a'),
    status: {
      conditions: [
        { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', lastTransitionTime: since },
      ],
    },
  });
  assert.deepEqual(decideStale(targeted(ago(30)), now), { actions: [], requeueAfterSeconds: 90 });
  assert.deepEqual(decideStale(targeted(ago(120)), now).status, {
    conditions: [{ type: 'DisruptionTarget', status: 'False', lastTransitionTime: ago(0) }],
  });
});
