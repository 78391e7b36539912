import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@kruise/api/core/node';
import { decide, type Observed } from './controller.ts';

const now = Date.UTC(2026, 0, 1);
const shutdown = { key: 'node.cloudprovider.kubernetes.io/shutdown', effect: 'NoSchedule' as const };
const node = (ready: string, taints: NonNullable<Node['spec']>['taints'] = []): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'a' },
  spec: { taints },
  status: { conditions: [{ type: 'Ready', status: ready }] },
});

const cases: readonly [name: string, observed: Observed, does: readonly string[], again: number | undefined][] = [
  ['a node that is ready is left alone', { node: node('True'), machine: 'unasked' }, [], undefined],
  [
    'a node that is ready again is switched on',
    { node: node('True', [shutdown]), machine: 'unasked' },
    ['patch'],
    undefined,
  ],
  ['a node that is not ready and there is asked for again', { node: node('False'), machine: 'there' }, [], 5],
  ['a node that is switched off is marked', { node: node('Unknown'), machine: 'shut down' }, ['patch'], 5],
  ['it is marked once', { node: node('Unknown', [shutdown]), machine: 'shut down' }, [], 5],
  ['a node whose machine is gone goes', { node: node('Unknown'), machine: 'gone' }, ['record', 'remove'], undefined],
];
for (const [name, observed, does, again] of cases) {
  test(name, () => {
    const { actions, requeueAfterSeconds } = decide(observed, now);
    assert.deepEqual([actions.map(({ type }) => type), requeueAfterSeconds], [does, again]);
  });
}

test('it is told why a node goes', () => {
  const [action] = decide({ node: node('Unknown'), machine: 'gone' }, now).actions;
  assert.deepEqual(action?.type === 'record' && [action.event.reason, action.event.message], [
    'DeletingNode',
    'Deleting node a because it does not exist in the cloud provider',
  ]);
});
