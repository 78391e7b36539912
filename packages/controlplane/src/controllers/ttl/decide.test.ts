import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { objectAfter } from '../../testing/execute-actions.ts';
import { decide, isAtBound, ttlAnnotation } from './decide.ts';

const cases: readonly [nodeCount: number, current: string | undefined, wanted: string | undefined][] = [
  [1, undefined, '0'],
  [100, '0', undefined],
  [101, '0', '15'],
  [95, '15', undefined],
  [89, '15', '0'],
  [500, '15', undefined],
  [501, '15', '30'],
  [449, '30', '15'],
  [1001, '30', '60'],
  [2001, '60', '300'],
  [1799, '300', '60'],
  [5000, undefined, '300'],
  [5, 'often', '0'],
];
for (const [nodeCount, current, wanted] of cases) {
  test(`with ${nodeCount} nodes, a TTL of ${current} ${wanted === undefined ? 'is kept' : `becomes ${wanted}`}`, () => {
    const annotations = current === undefined ? {} : { [ttlAnnotation]: current };
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a', annotations } };
    const changes = decide({ node, nodeCount }).actions.map((action) => action.type === 'patch' && action.patch);
    const expected = { metadata: { annotations: { [ttlAnnotation]: wanted } } };
    assert.deepEqual(changes, wanted === undefined ? [] : [expected]);
  });
}

test('every node is enqueued when the node count leaves a step', () => {
  const bounds = Array.from({ length: 2100 }, (_, count) => count).filter(isAtBound);
  assert.deepEqual(bounds, [89, 101, 449, 501, 899, 1001, 1799, 2001]);
});

test('a node has its TTL after one write, and one node more or less changes nothing within a step', () => {
  const current = fc.constantFrom(undefined, '0', '15', '30', '60', '300', 'often');
  fc.assert(
    fc.property(fc.nat(3000), current, (nodeCount, text) => {
      const annotations = text === undefined ? {} : { [ttlAnnotation]: text };
      const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a', annotations } };
      const after = objectAfter(node, decide({ node, nodeCount }))!;
      assert.deepEqual(decide({ node: after, nodeCount }).actions, []);
      if (!isAtBound(nodeCount + 1)) assert.deepEqual(decide({ node: after, nodeCount: nodeCount + 1 }).actions, []);
    }),
  );
});
