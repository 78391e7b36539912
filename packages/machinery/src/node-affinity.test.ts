import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Affinity, NodeSelectorRequirement, NodeSelectorTerm } from '@kruise/api/core/affinity';
import type { PodSpec } from '@kruise/api/core/pod-spec';
import { nodesOfSelector, preferenceForNodes, requiredNodes } from './node-affinity.ts';

const node = { metadata: { name: 'n1', labels: { zone: 'a', cores: '8', empty: '' } } };

const expressions: readonly [NodeSelectorRequirement, boolean][] = [
  [{ key: 'zone', operator: 'In', values: ['b', 'a'] }, true],
  [{ key: 'zone', operator: 'In', values: ['b'] }, false],
  [{ key: 'zone', operator: 'In', values: [] }, false],
  [{ key: 'zone', operator: 'NotIn', values: ['b'] }, true],
  [{ key: 'zone', operator: 'NotIn', values: ['a'] }, false],
  [{ key: 'absent', operator: 'NotIn', values: ['a'] }, true],
  [{ key: 'empty', operator: 'Exists' }, true],
  [{ key: 'absent', operator: 'Exists' }, false],
  [{ key: 'absent', operator: 'DoesNotExist' }, true],
  [{ key: 'zone', operator: 'DoesNotExist' }, false],
  [{ key: 'cores', operator: 'Gt', values: ['7'] }, true],
  [{ key: 'cores', operator: 'Gt', values: ['8'] }, false],
  [{ key: 'cores', operator: 'Lt', values: ['9'] }, true],
  [{ key: 'zone', operator: 'Gt', values: ['1'] }, false],
  [{ key: 'absent', operator: 'Lt', values: ['1'] }, false],
  [{ key: 'cores', operator: 'Gt', values: ['many'] }, false],
];
for (const [expression, expected] of expressions) {
  const { key, operator, values } = expression;
  test(`${key} ${operator} ${values?.join() ?? ''} ${expected ? 'matches' : 'does not match'} the node`, () => {
    assert.equal(nodesOfSelector({ nodeSelectorTerms: [{ matchExpressions: [expression] }] })(node), expected);
  });
}

const inZone = (zone: string): NodeSelectorTerm => ({
  matchExpressions: [{ key: 'zone', operator: 'In', values: [zone] }],
});
const named = (name: string, operator: 'In' | 'NotIn' = 'In'): NodeSelectorTerm => ({
  matchFields: [{ key: 'metadata.name', operator, values: [name] }],
});

const selectors: readonly [name: string, terms: NodeSelectorTerm[], expected: boolean][] = [
  ['one term of several is enough', [inZone('b'), inZone('a')], true],
  ['no term matches', [inZone('b'), inZone('c')], false],
  ['there are no terms', [], false],
  ['an empty term matches nothing', [{}], false],
  [
    'a term that makes no sense does not spoil another',
    [{ matchExpressions: [{ key: '/', operator: 'Exists' }] }, inZone('a')],
    true,
  ],
  ['the name is asked for', [named('n1')], true],
  ['another name is asked for', [named('n2')], false],
  ['any other name is asked for', [named('n2', 'NotIn')], true],
  ['labels and name must both match', [{ ...inZone('b'), ...named('n1') }], false],
  ['labels and name both match', [{ ...inZone('a'), ...named('n1') }], true],
  [
    'two names at once make no sense',
    [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1', 'n2'] }] }],
    false,
  ],
];
for (const [name, nodeSelectorTerms, expected] of selectors) {
  test(`a selector ${expected ? 'matches' : 'does not match'} where ${name}`, () => {
    assert.equal(nodesOfSelector({ nodeSelectorTerms })(node), expected);
  });
}

const requiring = (nodeSelectorTerms: NodeSelectorTerm[]): Affinity => ({
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
});
const spec = (fields: Partial<PodSpec>): PodSpec => ({ containers: [], ...fields });

test('a Pod without demands may be on any node', () => {
  assert.equal(requiredNodes(spec({})), undefined);
  assert.equal(requiredNodes(spec({ nodeSelector: {}, affinity: {} })), undefined);
});

test('nodeSelector and required affinity must both hold', () => {
  assert.equal(requiredNodes(spec({ nodeSelector: { zone: 'a' } }))?.(node), true);
  assert.equal(requiredNodes(spec({ nodeSelector: { zone: 'b' } }))?.(node), false);
  assert.equal(requiredNodes(spec({ nodeSelector: { zone: 'a' }, affinity: requiring([named('n2')]) }))?.(node), false);
  assert.equal(requiredNodes(spec({ nodeSelector: { zone: 'a' }, affinity: requiring([named('n1')]) }))?.(node), true);
});

test('the weights of the terms that match are added up', () => {
  const preference = preferenceForNodes([
    { weight: 2, preference: inZone('a') },
    { weight: 30, preference: inZone('b') },
    { weight: 5, preference: named('n1') },
    { weight: 70, preference: {} },
  ]);
  assert.equal(preference?.(node), 7);
});

test('a preference for nothing is none', () => {
  assert.equal(preferenceForNodes([{ weight: 9, preference: {} }]), undefined);
  assert.equal(preferenceForNodes(undefined), undefined);
});

test('a preference that makes no sense is refused', () => {
  const preference: NodeSelectorTerm = { matchExpressions: [{ key: 'cores', operator: 'Gt', values: ['many'] }] };
  assert.throws(() => preferenceForNodes([{ weight: 1, preference }]), /must be an integer/);
});
