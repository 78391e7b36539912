import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@kruise/api/core/node';
import type { PodSpec } from '@kruise/api/core/pod-spec';
import { nodeOf } from './fixtures.ts';
import { nodeFilterFor } from './node-fit.ts';

const container = { name: 'main', image: 'app:v1' };
const asking = (requests: { [name: string]: string }): Partial<PodSpec> => ({
  containers: [{ ...container, resources: { requests } }],
});
const tainted = (effect: 'NoSchedule' | 'NoExecute' | 'PreferNoSchedule') =>
  nodeOf('a', { taints: [{ key: 'special', effect }] });

const cases: readonly [is: string, spec: Partial<PodSpec>, node: Node, fits: boolean][] = [
  ['any node', {}, nodeOf('a'), true],
  ['the node in nodeName', { nodeName: 'a' }, nodeOf('a'), true],
  ['no node other than nodeName', { nodeName: 'b' }, nodeOf('a'), false],
  ['a node with matching labels', { nodeSelector: { name: 'a' } }, nodeOf('a'), true],
  ['no node with other labels', { nodeSelector: { name: 'b' } }, nodeOf('a'), false],
  ['no tainted node', {}, tainted('NoSchedule'), false],
  ['no node with a NoExecute taint', {}, tainted('NoExecute'), false],
  ['a node with a PreferNoSchedule taint', {}, tainted('PreferNoSchedule'), true],
  [
    'a tainted node it tolerates',
    { tolerations: [{ key: 'special', operator: 'Exists' }] },
    tainted('NoSchedule'),
    true,
  ],
  ['no cordoned node', {}, nodeOf('a', { unschedulable: true }), false],
  [
    'a cordoned node it tolerates',
    { tolerations: [{ operator: 'Exists' }] },
    nodeOf('a', { unschedulable: true }),
    true,
  ],
  ['a node with exactly enough resources', asking({ cpu: '4' }), nodeOf('a'), true],
  ['no node with fewer resources than requested', asking({ cpu: '4001m' }), nodeOf('a'), false],
  ['no node without a requested resource', asking({ 'example.com/gpu': '1' }), nodeOf('a'), false],
  ['a node without a resource that is not requested', asking({ 'example.com/gpu': '0' }), nodeOf('a'), true],
  ['no node that accepts no Pods', {}, nodeOf('a', {}, { pods: '0' }), false],
];
for (const [is, spec, node, fits] of cases) {
  test(`a Pod fits ${is}`, () => assert.equal(nodeFilterFor({ containers: [container], ...spec })(node), fits));
}

test('a node without a status fits no Pod', () => {
  const { status: _, ...node } = nodeOf('a');
  assert.equal(nodeFilterFor({ containers: [container] })(node), false);
});
