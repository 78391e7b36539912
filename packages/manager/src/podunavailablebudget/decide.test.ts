import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type {
  PodUnavailableBudget,
  PodUnavailableBudgetSpec,
  PodUnavailableBudgetStatus,
} from '@kruise/api/kruise/podunavailablebudget';
import { formatTime, instantOf } from '@kruise/values/time';
import fc from 'fast-check';
import { featureGates } from '../configuration/feature-gates.ts';
import { decide, type Observed } from './decide.ts';
import { checkBudget } from './pod-unavailable-budget.ts';

const now = instantOf(2026, 1, 1);
const gates = featureGates();
const ago = (seconds: number) => formatTime(now - seconds * 1000);

type Traits = { readonly isReady?: boolean; readonly annotations?: { readonly [key: string]: string } };

const podOf = (
  name: string,
  { isReady = true, annotations = { 'pub.kruise.io/related-pub': 'pub' } }: Traits = {},
): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', annotations, resourceVersion: '7' },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
});
const pods = (count: number, traits?: Traits) =>
  Array.from({ length: count }, (_, index) => podOf(`p${index}`, traits));

const budgetOf = (spec: PodUnavailableBudgetSpec, status?: PodUnavailableBudgetStatus): PodUnavailableBudget => ({
  apiVersion: 'policy.kruise.io/v1beta1',
  kind: 'PodUnavailableBudget',
  metadata: { name: 'pub', namespace: 'default', generation: 3 },
  spec,
  ...(status ? { status } : {}),
});
const zero = { unavailableAllowed: 0, currentAvailable: 0, desiredAvailable: 0, totalReplicas: 0 };

const look = (observed: Partial<Observed> & Pick<Observed, 'budget'>) =>
  decide({ pods: [], replicas: 0, hasUncachedWorkloads: false, ...observed }, gates, now);
const statusOf = (observed: Partial<Observed> & Pick<Observed, 'budget'>): PodUnavailableBudgetStatus => {
  const { status } = look(observed);
  assert.ok(status && typeof status !== 'function');
  return status;
};

const figures: {
  of: string;
  spec: PodUnavailableBudgetSpec;
  replicas: number;
  pods: readonly Pod[];
  /** Allowed, current, desired, total. */
  are: readonly [number, number, number, number];
}[] = [
  { of: '10% of 15', spec: { maxUnavailable: '10%' }, replicas: 15, pods: pods(15), are: [2, 15, 13, 15] },
  { of: '30% of 1 with 10 Pods', spec: { maxUnavailable: '30%' }, replicas: 1, pods: pods(10), are: [10, 10, 0, 1] },
  {
    of: '30% of 15 with protectTotalReplicas',
    spec: { maxUnavailable: '30%', protectTotalReplicas: 15 },
    replicas: 1,
    pods: pods(10),
    are: [0, 10, 10, 15],
  },
  { of: '25% of 10', spec: { maxUnavailable: '25%' }, replicas: 10, pods: pods(10), are: [3, 10, 7, 10] },
  { of: '25% of 5', spec: { maxUnavailable: '25%' }, replicas: 5, pods: pods(5), are: [2, 5, 3, 5] },
  { of: 'more than all', spec: { minAvailable: 100 }, replicas: 10, pods: pods(10), are: [0, 10, 100, 10] },
  { of: 'at least 25%', spec: { minAvailable: '25%' }, replicas: 5, pods: pods(5), are: [3, 5, 2, 5] },
  { of: '10 Pods with 0 replicas', spec: { maxUnavailable: '30%' }, replicas: 0, pods: pods(10), are: [10, 10, 0, 0] },
  {
    of: 'a Deployment with surge Pods',
    spec: { maxUnavailable: '30%' },
    replicas: 10,
    pods: [...pods(12), podOf('late', { isReady: false })],
    are: [5, 12, 7, 10],
  },
  { of: 'no Pods', spec: { maxUnavailable: 1 }, replicas: 0, pods: [], are: [0, 0, 0, 0] },
  {
    of: 'an unknown number of replicas',
    spec: { maxUnavailable: '10%' },
    replicas: -1,
    pods: pods(3),
    are: [3, 3, 0, -1],
  },
  { of: 'an empty spec', spec: {}, replicas: 3, pods: pods(3), are: [3, 3, 0, 3] },
];
for (const { of, spec, replicas, pods: found, are } of figures) {
  test(`the budget of ${of} is ${are.join('/')}`, () => {
    const status = statusOf({ budget: budgetOf(spec), replicas, pods: found });
    const { unavailableAllowed, currentAvailable, desiredAvailable, totalReplicas } = status;
    assert.deepEqual([unavailableAllowed, currentAvailable, desiredAvailable, totalReplicas], are);
    assert.equal(status.observedGeneration, 3);
  });
}

const named = (from: number, to: number, time: string) =>
  Object.fromEntries(Array.from({ length: to - from }, (_, index) => [`p${from + index}`, time]));

test('Pods with an allowed deletion or update do not count until it is observed', () => {
  const status = { ...zero, unavailablePods: named(0, 10, ago(5)), disruptedPods: named(10, 20, ago(15)) };
  const budget = budgetOf({ maxUnavailable: '30%' }, status);
  const { unavailableAllowed, currentAvailable, desiredAvailable } = statusOf({
    budget,
    replicas: 100,
    pods: pods(100),
  });
  assert.deepEqual([unavailableAllowed, currentAvailable, desiredAvailable], [10, 80, 70]);
  const down = [...pods(95), ...pods(100, { isReady: false }).slice(95)];
  const less = statusOf({ budget, replicas: 100, pods: down });
  assert.deepEqual([less.unavailableAllowed, less.currentAvailable], [5, 75]);
});

const versionIn = (patch: unknown) => (patch as Pod).metadata.resourceVersion;

const records: {
  is: string;
  records: Partial<PodUnavailableBudgetStatus>;
  pods?: readonly Pod[];
  kept: Partial<PodUnavailableBudgetStatus>;
  events?: readonly string[];
  /** Pods that are confirmed before the status is written. */
  confirmed?: readonly string[];
  again?: number;
}[] = [
  {
    is: 'of a deletion 19 seconds ago is kept',
    records: { disruptedPods: { p0: ago(19) } },
    kept: { disruptedPods: { p0: ago(19) } },
    again: 1.001,
  },
  {
    is: 'of a deletion 21 seconds ago expires, with an event',
    records: { disruptedPods: { p0: ago(21) } },
    kept: {},
    events: ["Warning NotDeleted Pod was expected by PUB default/pub to be deleted but it wasn't"],
    confirmed: ['p0 at 7'],
  },
  {
    is: 'of an update 9 seconds ago is kept',
    records: { unavailablePods: { p0: ago(9) } },
    kept: { unavailablePods: { p0: ago(9) } },
    again: 1.001,
  },
  {
    is: 'of an update 11 seconds ago expires',
    records: { unavailablePods: { p0: ago(11) } },
    kept: {},
    confirmed: ['p0 at 7'],
  },
  {
    is: 'of an update 11 seconds ago expires without confirmation if the Pod is not available',
    records: { unavailablePods: { p0: ago(11) } },
    pods: pods(2, { isReady: false }),
    kept: {},
  },
  { is: 'of a deleted Pod is dropped', records: { disruptedPods: { gone: ago(1) } }, kept: {} },
  {
    is: 'that expires first determines the requeue',
    records: { disruptedPods: { p0: ago(5) }, unavailablePods: { p1: ago(3) } },
    kept: { disruptedPods: { p0: ago(5) }, unavailablePods: { p1: ago(3) } },
    again: 7.001,
  },
];
for (const { is, records: given, pods: found = pods(2), kept, events = [], confirmed = [], again } of records) {
  test(`a record ${is}`, () => {
    const budget = budgetOf({ maxUnavailable: 1 }, { ...zero, ...given });
    const { status, actions, events: recorded = [], requeueAfterSeconds } = look({ budget, replicas: 2, pods: found });
    assert.ok(status && typeof status !== 'function');
    assert.deepEqual([status.disruptedPods, status.unavailablePods], [kept.disruptedPods, kept.unavailablePods]);
    assert.deepEqual(
      recorded.map(({ type, reason, message }) => `${type} ${reason} ${message}`),
      events,
    );
    assert.deepEqual(
      actions.map(
        (action) => action.type === 'patch' && `${action.object.metadata.name} at ${versionIn(action.patch)}`,
      ),
      confirmed,
    );
    assert.equal(requeueAfterSeconds, again);
  });
}

test('Pods without a budget are annotated, others are not changed', () => {
  const found = [
    podOf('a', { annotations: {} }),
    podOf('b'),
    podOf('c', { annotations: { 'kruise.io/related-pub': 'x' } }),
  ];
  const { actions } = look({ budget: budgetOf({ maxUnavailable: 1 }), replicas: 3, pods: found });
  const annotations = { 'pub.kruise.io/related-pub': 'pub', 'kruise.io/related-pub': 'pub' };
  assert.deepEqual(
    actions.map((action) => action.type === 'patch' && [action.object.metadata.name, action.patch]),
    [['a', { metadata: { annotations } }]],
  );
});

test('a budget without Pods records an event at every reconcile, but not at a poll that changes nothing', () => {
  const budget = budgetOf({ maxUnavailable: 1 });
  const reported = { ...budget, status: { ...zero, observedGeneration: 3 } };
  const eventOf = (about: PodUnavailableBudget) => [
    { about, type: 'Normal', reason: 'NoPods', message: 'No matching pods found' },
  ];
  assert.deepEqual(look({ budget }).events, eventOf(budget));
  assert.deepEqual(look({ budget: reported }).events, eventOf(reported));
  assert.deepEqual(look({ budget, hasUncachedWorkloads: true }).events, eventOf(budget));
  assert.deepEqual(look({ budget: reported, hasUncachedWorkloads: true }).events, []);
});

test('a budget without Pods and with an invalid percentage records both events', () => {
  const { events = [] } = look({ budget: budgetOf({ maxUnavailable: 'some' }) });
  assert.deepEqual(
    events.map(({ reason }) => reason),
    ['NoPods', 'CalculateExpectedPodCountFailed'],
  );
});

test('an invalid percentage records an event, and no status is written', () => {
  const { status, events } = look({ budget: budgetOf({ maxUnavailable: 'some' }), replicas: 3, pods: pods(3) });
  assert.equal(status, undefined);
  assert.equal(events?.[0]?.reason, 'CalculateExpectedPodCountFailed');
  assert.match(events[0].message, /^Failed to calculate the number of expected pods: .*not a percentage$/);
});

test('a workload of another kind is polled', () => {
  const { requeueAfterSeconds } = look({ budget: budgetOf({ maxUnavailable: 1 }), hasUncachedWorkloads: true });
  assert.equal(requeueAfterSeconds, 30);
});

test('a terminating budget is ignored', () => {
  const budget = budgetOf({ maxUnavailable: 1 });
  const deleted = { ...budget, metadata: { ...budget.metadata, deletionTimestamp: ago(0) } };
  assert.deepEqual(look({ budget: deleted, replicas: 3, pods: pods(3, { annotations: {} }) }), { actions: [] });
});

const anyShare = fc.oneof(
  fc.nat(12),
  fc.nat(100).map((share) => `${share}%`),
);

test('the Pods that must stay available do, with concurrent requests in any order', () => {
  fc.assert(
    fc.property(
      fc.record({ maxUnavailable: anyShare }),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }),
      fc.array(fc.tuple(fc.nat(11), fc.constantFrom('DELETE', 'UPDATE', 'EVICT'), fc.boolean()), { maxLength: 30 }),
      (spec, readiness, requests) => {
        let budget = budgetOf(spec);
        let world = readiness.map((isReady, index) => podOf(`p${index}`, { isReady }));
        const reconcile = () => {
          const status = statusOf({ budget, replicas: readiness.length, pods: world });
          budget = { ...budget, status };
        };
        reconcile();
        const available = () => world.filter(({ status }) => status?.conditions?.[0]?.status === 'True').length;
        const before = available();
        for (const [index, operation, isLookedAt] of requests) {
          const pod = world[index % world.length]!;
          const answer = checkBudget(budget, pod, operation as 'DELETE', gates, now);
          if (answer.isAllowed) {
            world = world.map((each) => (each === pod ? podOf(pod.metadata.name!, { isReady: false }) : each));
            if (answer.left) budget = answer.left;
          }
          if (isLookedAt) reconcile();
          assert.ok(available() >= Math.min(before, budget.status!.desiredAvailable));
        }
      },
    ),
  );
});

test('the status is idempotent', () => {
  fc.assert(
    fc.property(
      anyShare,
      fc.nat(12),
      fc.array(fc.boolean(), { maxLength: 12 }),
      (minAvailable, replicas, readiness) => {
        const found = readiness.map((isReady, index) => podOf(`p${index}`, { isReady }));
        const status = statusOf({ budget: budgetOf({ minAvailable }), replicas, pods: found });
        const again = statusOf({ budget: budgetOf({ minAvailable }, status), replicas, pods: found });
        assert.deepEqual(again, status);
      },
    ),
  );
});
