import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodUnavailableBudget, PodUnavailableBudgetSpec } from '@kruise/api/kruise/podunavailablebudget';
import type { LabelSelector } from '@kruise/api/meta/label-selector';
import { looselyOverlap } from './overlap.ts';
import { validateBudget } from './validate.ts';

const selector = { matchLabels: { app: 'web' } };
const targetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };

const budgetOf = (
  spec: PodUnavailableBudgetSpec,
  { name = 'pub', annotations = {} as { readonly [key: string]: string } } = {},
): PodUnavailableBudget => ({
  apiVersion: 'policy.kruise.io/v1beta1',
  kind: 'PodUnavailableBudget',
  metadata: { name, namespace: 'default', annotations },
  spec,
});
const faultsOf = (
  budget: PodUnavailableBudget,
  old?: PodUnavailableBudget,
  others: readonly PodUnavailableBudget[] = [],
) => [...validateBudget(budget, old, others)].map(({ field, message }) => `${field}: ${message}`);

const cases: readonly (readonly [is: string, spec: PodUnavailableBudgetSpec, faults: readonly RegExp[]])[] = [
  ['names a workload', { targetRef, maxUnavailable: 1 }, []],
  ['names labels', { selector, minAvailable: '20%' }, []],
  [
    'names nothing',
    { maxUnavailable: 1 },
    [/^spec.selector, targetRef: Required value: no selector or targetRef defined in PodUnavailableBudget$/],
  ],
  [
    'names both',
    { selector, targetRef, maxUnavailable: 1 },
    [/^spec.selector, targetRef: Required value: selector and targetRef are mutually exclusive$/],
  ],
  [
    'names no name',
    { targetRef: { ...targetRef, name: '' }, maxUnavailable: 1 },
    [/^spec.targetRef: Invalid value: .*empty targetRef is not valid for PodUnavailableBudget$/],
  ],
  [
    'names a version that is none',
    { targetRef: { ...targetRef, apiVersion: 'a/b/c' }, maxUnavailable: 1 },
    [/^spec.targetRef: Invalid value: .*unexpected GroupVersion string: a\/b\/c$/],
  ],
  [
    'chooses everything',
    { selector: {}, maxUnavailable: 1 },
    [/^spec.selector: Invalid value: .*empty selector is not valid for PodUnavailableBudget\.$/],
  ],
  [
    'has a selector that is none',
    { selector: { matchExpressions: [{ key: 'a', operator: 'In', values: [] }] }, maxUnavailable: 1 },
    [/^spec.selector.matchExpressions\[0\].values: Required value/, /^spec.selector: Invalid value: v1.LabelSelector/],
  ],
  [
    'has no limit',
    { selector },
    [/^spec.maxUnavailable, minAvailable: Required value: no maxUnavailable or minAvailable defined/],
  ],
  [
    'has two limits',
    { selector, maxUnavailable: 1, minAvailable: 1 },
    [/^spec.maxUnavailable, minAvailable: Required value: .* mutually exclusive$/],
  ],
  [
    'has a limit below zero',
    { selector, maxUnavailable: -1 },
    [/^spec.maxUnavailable: Invalid value: -1: must be greater than or equal to 0$/],
  ],
  [
    'has a limit that is no share',
    { selector, minAvailable: 'some' },
    [/^spec.minAvailable: Invalid value: .*a valid percent string must be a numeric string followed by an ending '%'/],
  ],
  [
    'has a limit above all',
    { selector, minAvailable: '101%' },
    [/^spec.minAvailable: Invalid value: .*must not be greater than 100%$/],
  ],
  [
    'protects from an unknown operation',
    { selector, maxUnavailable: 1, protectOperations: ['DELETE', 'BOGUS' as 'EVICT'] },
    [
      /^spec.protectOperations\[1\]: Unsupported value: "BOGUS": supported values: "DELETE", "UPDATE", "EVICT", "RESIZE"$/,
    ],
  ],
  [
    'ignores everything',
    { selector, maxUnavailable: 1, ignoredPodSelector: {} },
    [/^spec.ignoredPodSelector: Invalid value: .*empty ignoredPodSelector is not valid/],
  ],
];
for (const [is, spec, faults] of cases) {
  test(`a budget that ${is} has ${faults.length} errors`, () => {
    const found = faultsOf(budgetOf(spec));
    assert.equal(found.length, faults.length, found.join('\n'));
    for (const [index, fault] of faults.entries()) assert.match(found[index]!, fault);
  });
}

test('the older replicas annotation must be a number, and equal the field', () => {
  const annotated = (text: string, more: PodUnavailableBudgetSpec = {}) =>
    faultsOf(
      budgetOf(
        { selector, maxUnavailable: 1, ...more },
        { annotations: { 'pub.kruise.io/protect-total-replicas': text } },
      ),
    );
  const path = 'metadata.annotations[pub.kruise.io/protect-total-replicas]';
  assert.deepEqual(annotated('%%'), [`${path}: Invalid value: "%%": must be a valid int32`]);
  assert.deepEqual(annotated('5', { protectTotalReplicas: 6 }), [
    `${path}: Invalid value: "5": must match spec.protectTotalReplicas when both are set`,
  ]);
  assert.deepEqual(annotated('5', { protectTotalReplicas: 5 }), []);
  assert.deepEqual(annotated('5'), []);
});

test('the selector of a budget is immutable, its limit is not', () => {
  const old = budgetOf({ selector, maxUnavailable: 1 });
  assert.deepEqual(faultsOf(budgetOf({ selector, minAvailable: 2 }), old), []);
  const changed = budgetOf({ selector: { matchLabels: { app: 'other' } }, maxUnavailable: 1 });
  assert.deepEqual(faultsOf(changed, old), [
    'spec.selector, targetRef: Required value: selector and targetRef cannot be modified',
  ]);
});

test('two budgets cannot target the same workload, in any version', () => {
  const other = budgetOf(
    { targetRef: { ...targetRef, apiVersion: 'apps/v1beta1' }, maxUnavailable: 1 },
    { name: 'other' },
  );
  const [fault = ''] = faultsOf(budgetOf({ targetRef, maxUnavailable: 1 }), undefined, [other]);
  assert.match(
    fault,
    /^spec.targetReference: Invalid value: .*pub.spec.targetReference is in conflict with other PodUnavailableBudget other$/,
  );
  const elsewhere = budgetOf({ targetRef: { ...targetRef, name: 'x' }, maxUnavailable: 1 }, { name: 'other' });
  assert.deepEqual(faultsOf(budgetOf({ targetRef, maxUnavailable: 1 }), undefined, [elsewhere]), []);
});

test('two budgets cannot select the same labels; a budget does not conflict with itself', () => {
  const budget = budgetOf({ selector, maxUnavailable: 1 });
  const other = budgetOf({ selector, maxUnavailable: 1 }, { name: 'other' });
  assert.match(
    faultsOf(budget, undefined, [budget, other])[0] ?? '',
    /^spec.selector: .*pub.spec.selector is in conflict with other PodUnavailableBudget other$/,
  );
  const ofWorkload = budgetOf({ targetRef, maxUnavailable: 1 }, { name: 'other' });
  assert.deepEqual(faultsOf(budget, undefined, [budget, ofWorkload]), []);
});

const on = (operator: string, ...values: string[]): LabelSelector => ({
  matchExpressions: [{ key: 'app', operator, ...(values.length > 0 ? { values } : {}) }],
});
const pairs: readonly (readonly [LabelSelector, LabelSelector, boolean])[] = [
  [on('In', 'a', 'b'), on('In', 'b', 'c'), true],
  [on('In', 'a'), on('In', 'b'), false],
  [on('In', 'a'), { matchLabels: { app: 'a' } }, true],
  [on('In', 'a'), on('Exists'), true],
  [on('In', 'a', 'b'), on('NotIn', 'a'), true],
  [on('In', 'a'), on('NotIn', 'a', 'b'), false],
  [on('In', 'a'), on('DoesNotExist'), false],
  [on('Exists'), on('Exists'), true],
  [on('Exists'), on('NotIn', 'a'), true],
  [on('Exists'), on('DoesNotExist'), false],
  [on('NotIn', 'a'), on('NotIn', 'b'), true],
  [on('NotIn', 'a'), on('DoesNotExist'), true],
  [on('DoesNotExist'), on('DoesNotExist'), true],
  [on('In', 'a'), { matchLabels: { app: 'a', tier: 'x' } }, false],
  [{ matchLabels: { app: 'a' }, ...on('In', 'b') }, { matchLabels: { app: 'a' } }, true],
];
for (const [a, b, is] of pairs) {
  test(`${JSON.stringify(a)} and ${JSON.stringify(b)} ${is ? 'overlap' : 'do not overlap'}`, () => {
    assert.deepEqual([looselyOverlap(a, b), looselyOverlap(b, a)], [is, is]);
  });
}
