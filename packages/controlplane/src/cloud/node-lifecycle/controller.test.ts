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
  ['a ready node is unchanged', { node: node('True'), instance: 'unasked' }, [], undefined],
  [
    'a node that is ready again loses the shutdown taint',
    { node: node('True', [shutdown]), instance: 'unasked' },
    ['patch'],
    undefined,
  ],
  ['an unready node with an instance is requeued', { node: node('False'), instance: 'there' }, [], 5],
  ['a node whose instance is shut down is tainted', { node: node('Unknown'), instance: 'shut down' }, ['patch'], 5],
  ['a node is tainted once', { node: node('Unknown', [shutdown]), instance: 'shut down' }, [], 5],
  [
    'a node without an instance is deleted',
    { node: node('Unknown'), instance: 'gone' },
    ['record', 'remove'],
    undefined,
  ],
];
for (const [name, observed, does, again] of cases) {
  test(name, () => {
    const { actions, requeueAfterSeconds } = decide(observed, now);
    assert.deepEqual([actions.map(({ type }) => type), requeueAfterSeconds], [does, again]);
  });
}

test('the deletion of a node is recorded as an event', () => {
  const [action] = decide({ node: node('Unknown'), instance: 'gone' }, now).actions;
  assert.deepEqual(action?.type === 'record' && [action.event.reason, action.event.message], [
    'DeletingNode',
    'Deleting node a because it does not exist in the cloud provider',
  ]);
});
