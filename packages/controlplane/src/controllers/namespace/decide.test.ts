import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Namespace } from '@kruise/api/core/namespace';
import { instantOf } from '@kruise/values/time';
import fc from 'fast-check';
import { decide, podGraceSeconds, type Remainder } from './decide.ts';

const now = instantOf(2026, 1, 1);
const namespace: Namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
const pods = { group: '', version: 'v1', plural: 'pods' };
const deployments = { group: 'apps', version: 'v1', plural: 'deployments' };
const left = (resource: Remainder['resource'], count: number, more: Partial<Remainder> = {}): Remainder => ({
  resource,
  count,
  finalizers: new Map(),
  graceSeconds: 0,
  ...more,
});
const held = (...finalizers: [string, number][]) => ({ finalizers: new Map(finalizers) });

/** Returns the conditions that report problems, as text. */
function problems(state: ReturnType<typeof decide>): readonly string[] {
  return state.conditions
    .filter(({ status }) => status === 'True')
    .map(({ reason, message }) => `${reason}: ${message}`);
}

const cases: readonly {
  readonly name: string;
  readonly remainders?: readonly Remainder[];
  readonly failures?: readonly { readonly groupVersion: string; readonly message: string }[];
  readonly next: 'go' | 'retry' | number;
  readonly problems: readonly string[];
}[] = [
  { name: 'releases an empty namespace', next: 'go', problems: [] },
  {
    name: 'requeues after half the grace period of Pods, plus a second',
    remainders: [left(pods, 1, { graceSeconds: 30 })],
    next: 16,
    problems: ['SomeResourcesRemain: Some resources are remaining: pods. has 1 resource instances'],
  },
  {
    name: 'rounds half a grace period down',
    remainders: [left(pods, 2, { graceSeconds: 31 })],
    next: 16,
    problems: ['SomeResourcesRemain: Some resources are remaining: pods. has 2 resource instances'],
  },
  {
    name: 'estimates fifteen seconds for finalizers, and counts them over all resources',
    remainders: [left(deployments, 2, held(['b/x', 1], ['a/y', 2])), left(pods, 1, held(['b/x', 1]))],
    next: 8,
    problems: [
      'SomeResourcesRemain: Some resources are remaining: deployments.apps has 2 resource instances, pods. has 1 resource instances',
      'SomeFinalizersRemain: Some content in the namespace has finalizers remaining: a/y in 2 resource instances, b/x in 2 resource instances',
    ],
  },
  {
    name: 'reports an error for objects that remain without finalizers',
    remainders: [left(deployments, 1)],
    next: 'retry',
    problems: [
      'ContentDeletionFailed: Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: shop for gvr: apps/v1, Resource=deployments',
      'SomeResourcesRemain: Some resources are remaining: deployments.apps has 1 resource instances',
    ],
  },
  {
    name: 'retries failures even if something else is awaited',
    remainders: [left(pods, 0, { error: 'no' }), left(deployments, 1, held(['a', 1]))],
    next: 'retry',
    problems: [
      'ContentDeletionFailed: Failed to delete all resource types, 1 remaining: no',
      'SomeResourcesRemain: Some resources are remaining: deployments.apps has 1 resource instances',
      'SomeFinalizersRemain: Some content in the namespace has finalizers remaining: a in 1 resource instances',
    ],
  },
  {
    name: 'does not release a namespace while discovery fails',
    failures: [
      { groupVersion: 'metrics.k8s.io/v1beta1', message: 'stale GroupVersion discovery: metrics.k8s.io/v1beta1' },
    ],
    next: 'retry',
    problems: [
      'DiscoveryFailed: Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1: stale GroupVersion discovery: metrics.k8s.io/v1beta1',
    ],
  },
];
for (const { name, remainders = [], failures = [], next, problems: expected } of cases) {
  test(name, () => {
    const state = decide({ namespace, remainders, discoveryFailures: failures }, now);
    const actual = state.isEmpty ? 'go' : state.errors.length > 0 ? 'retry' : state.requeueAfterSeconds;
    assert.deepEqual([actual, problems(state)], [next, expected]);
  });
}

test('all conditions without problems are False', () => {
  const { conditions } = decide({ namespace, remainders: [], discoveryFailures: [] }, now);
  assert.deepEqual(
    conditions.map(({ type, status, reason, message }) => [type, status, reason, message].join(' | ')),
    [
      'NamespaceDeletionDiscoveryFailure | False | ResourcesDiscovered | All resources successfully discovered',
      'NamespaceDeletionGroupVersionParsingFailure | False | ParsedGroupVersions | All legacy kube types successfully parsed',
      'NamespaceDeletionContentFailure | False | ContentDeleted | All content successfully deleted, may be waiting on finalization',
      'NamespaceContentRemaining | False | ContentRemoved | All content successfully removed',
      'NamespaceFinalizersRemaining | False | ContentHasNoFinalizers | All content-preserving finalizers finished',
    ],
  );
});

test('a condition keeps its transition time while its status is the same', () => {
  const first = decide({ namespace, remainders: [left(pods, 2, { graceSeconds: 30 })], discoveryFailures: [] }, now);
  const later = decide(
    {
      namespace: { ...namespace, status: { conditions: first.conditions } },
      remainders: [left(pods, 1, { graceSeconds: 30 })],
      discoveryFailures: [],
    },
    now + 60_000,
  );
  const remaining = later.conditions.find(({ type }) => type === 'NamespaceContentRemaining');
  assert.deepEqual(
    [remaining?.message, remaining?.lastTransitionTime],
    ['Some resources are remaining: pods. has 1 resource instances', '2026-01-01T00:00:00Z'],
  );
});

const grace = (seconds: number, phase = 'Running') => ({
  spec: { terminationGracePeriodSeconds: seconds },
  status: { phase },
});
const graceCases = [
  { name: 'the longest grace period counts', pods: [grace(30), grace(60)], after: 0, expected: 60 },
  {
    name: 'finished Pods do not count',
    pods: [grace(30), grace(60, 'Failed'), grace(90, 'Succeeded')],
    after: 0,
    expected: 30,
  },
  { name: 'the grace period is not exceeded', pods: [grace(30)], after: 30, expected: 0 },
  { name: 'a Pod within its grace period counts', pods: [grace(30)], after: 29, expected: 30 },
  { name: 'no Pods need no time', pods: [], after: 0, expected: 0 },
];
for (const { name, pods: running, after, expected } of graceCases) {
  test(`grace period of Pods: ${name}`, () => {
    assert.equal(podGraceSeconds(running, now, now + after * 1000), expected);
  });
}

test('conditions are written once, and a namespace is released only when it is empty', () => {
  const remainder = fc
    .record({ count: fc.nat(3), finalizers: fc.nat(2), graceSeconds: fc.nat(60), fails: fc.boolean() })
    .map(({ count, finalizers, graceSeconds, fails }) =>
      left(pods, count, {
        ...(finalizers > 0 && count > 0 ? held(['example.com/a', finalizers]) : {}),
        graceSeconds,
        ...(fails ? { error: 'no' } : {}),
      }),
    );
  const failures = fc.array(fc.constant({ groupVersion: 'a/v1', message: 'gone' }), { maxLength: 1 });
  fc.assert(
    fc.property(fc.array(remainder, { maxLength: 3 }), failures, (remainders, discoveryFailures) => {
      const observed = { namespace, remainders, discoveryFailures };
      const { conditions, isEmpty, errors, requeueAfterSeconds } = decide(observed, now);
      const isLeft = remainders.some(({ count, error }) => count > 0 || error) || discoveryFailures.length > 0;
      assert.equal(isEmpty, !isLeft);
      if (!isEmpty) assert.ok(errors.length > 0 || requeueAfterSeconds !== undefined, 'the namespace is requeued');
      const reported = { ...namespace, status: { conditions: [...conditions] } };
      assert.deepEqual(decide({ ...observed, namespace: reported }, now + 60_000).conditions, conditions);
    }),
  );
});
