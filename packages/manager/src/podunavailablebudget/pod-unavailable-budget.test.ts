import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type { PodUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { instantOf } from '@kruise/values/time';
import { featureGates } from '../configuration/feature-gates.ts';
import { budgetNameOf, checkBudget } from './pod-unavailable-budget.ts';

const now = instantOf(2026, 1, 1);
const gates = featureGates();
type Traits = {
  readonly labels?: { [key: string]: string };
  readonly annotations?: { [key: string]: string };
  readonly isReady?: boolean;
};
const podOf = ({ labels = {}, annotations = {}, isReady = true }: Traits = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', labels, annotations },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
});
const budgetOf = (
  status: Partial<NonNullable<PodUnavailableBudget['status']>> = {},
  spec: PodUnavailableBudget['spec'] = {},
): PodUnavailableBudget => ({
  apiVersion: 'policy.kruise.io/v1beta1',
  kind: 'PodUnavailableBudget',
  metadata: { name: 'pub' },
  spec,
  status: { unavailableAllowed: 1, currentAvailable: 3, desiredAvailable: 2, totalReplicas: 3, ...status },
});
const spent = budgetOf({ unavailableAllowed: 0 });

test('an allowed update uses one unit of the budget', () => {
  const answer = checkBudget(budgetOf(), podOf(), 'UPDATE', gates, now);
  assert.ok(answer.isAllowed);
  assert.equal(answer.left?.status?.unavailableAllowed, 0);
  assert.deepEqual(answer.left?.status?.unavailablePods, { a: '2026-01-01T00:00:00Z' });
});

test('a deletion is recorded separately', () => {
  const answer = checkBudget(budgetOf(), podOf(), 'DELETE', gates, now);
  assert.ok(answer.isAllowed);
  assert.deepEqual(answer.left?.status?.disruptedPods, { a: '2026-01-01T00:00:00Z' });
});

const free: {
  is: string;
  budget?: PodUnavailableBudget | undefined;
  pod?: Pod;
  operation?: 'RESIZE' | 'UPDATE' | 'EVICT';
  how?: object;
}[] = [
  { is: 'without a budget', budget: undefined },
  { is: 'of a Pod that is not ready', pod: podOf({ isReady: false }) },
  { is: 'of a Pod that counts as unavailable', pod: podOf({ labels: { 'unavailable-pod.kruise.io/x': '' } }) },
  { is: 'of a Pod that wants no protection', pod: podOf({ annotations: { 'pub.kruise.io/no-protect': 'True' } }) },
  {
    is: 'of a Pod the budget ignores',
    budget: budgetOf({ unavailableAllowed: 0 }, { ignoredPodSelector: { matchLabels: { x: 'y' } } }),
    pod: podOf({ labels: { x: 'y' } }),
  },
  { is: 'where none must be available', budget: budgetOf({ unavailableAllowed: 0, desiredAvailable: 0 }) },
  {
    is: 'of a Pod with a recorded deletion',
    budget: budgetOf({ unavailableAllowed: 0, disruptedPods: { a: '2026-01-01T00:00:00Z' } }),
    how: { isRecorded: true },
  },
  {
    is: 'that the budget is not about',
    budget: budgetOf({ unavailableAllowed: 0 }, { protectOperations: ['DELETE'] }),
  },
];
for (const { is, pod = podOf(), operation = 'UPDATE', how = {}, ...given } of free) {
  test(`an update ${is} uses no budget`, () => {
    const budget = 'budget' in given ? given.budget : spent;
    assert.deepEqual(checkBudget(budget, pod, operation, gates, now), { isAllowed: true, ...how });
  });
}

test('an old record is renewed, and uses no further budget', () => {
  const since = '2025-12-31T23:59:55Z';
  for (const list of ['disruptedPods', 'unavailablePods'] as const) {
    const answer = checkBudget(
      budgetOf({ unavailableAllowed: 0, [list]: { a: since } }),
      podOf(),
      'UPDATE',
      gates,
      now,
    );
    assert.ok(answer.isAllowed);
    assert.equal(answer.left?.status?.unavailableAllowed, 0);
    assert.deepEqual(answer.left.status[list], { a: '2026-01-01T00:00:00Z' });
  }
});

test('an exhausted budget refuses everything', () => {
  for (const operation of ['UPDATE', 'DELETE', 'EVICT', 'RESIZE'] as const) {
    const answer = checkBudget(spent, podOf(), operation, gates, now);
    assert.deepEqual(answer, {
      isAllowed: false,
      why: 'podunavailablebudget.policy.kruise.io "pub" is forbidden: pub unavailable allowed is negative',
    });
  }
});

test('a resize that is distinguished from updates is free unless it is protected', () => {
  const apart = featureGates({ InPlacePodVerticalScaling: true });
  assert.equal(checkBudget(spent, podOf(), 'RESIZE', apart, now).isAllowed, true);
  const protecting = budgetOf({ unavailableAllowed: 0 }, { protectOperations: ['RESIZE'] });
  assert.equal(checkBudget(protecting, podOf(), 'RESIZE', apart, now).isAllowed, false);
});

test('the older annotation applies if the field is not set', () => {
  const annotated = {
    ...spent,
    metadata: { name: 'pub', annotations: { 'kruise.io/pub-protect-operations': 'DELETE, EVICT' } },
  };
  assert.equal(checkBudget(annotated, podOf(), 'UPDATE', gates, now).isAllowed, true);
  assert.equal(checkBudget(annotated, podOf(), 'EVICT', gates, now).isAllowed, false);
});

test('a budget with too many recorded Pods refuses, and reports why', () => {
  const many = Object.fromEntries(Array.from({ length: 2001 }, (_, index) => [`p${index}`, '2026-01-01T00:00:00Z']));
  const answer = checkBudget(budgetOf({ unavailablePods: many }), podOf(), 'UPDATE', gates, now);
  assert.match(answer.isAllowed ? '' : answer.why, /map too big/);
});

test('a Pod has the annotation of its budget, and the older one', () => {
  assert.equal(budgetNameOf(podOf({ annotations: { 'kruise.io/related-pub': 'pub' } })), 'pub');
  const renewed = { 'pub.kruise.io/related-pub': '', 'kruise.io/related-pub': 'pub' };
  assert.equal(budgetNameOf(podOf({ annotations: renewed })), 'pub');
  assert.equal(budgetNameOf(podOf()), undefined);
});
