import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '@kruise/client/metrics';
import type { ProtectionEvent } from '../webhooks/context.ts';
import { countProtections } from './protection-metrics.ts';

test('refused deletions are counted by resource, and passed on', () => {
  const registry = createMetrics();
  const reported: ProtectionEvent[] = [];
  const report = countProtections(registry, (event) => reported.push(event));
  const by = { namespace: 'default', name: 'web', username: 'ann' };
  const events: readonly ProtectionEvent[] = [
    { event: 'PodUnavailableBudget', kind: 'ReplicaSet', ...by },
    { event: 'PodUnavailableBudget', kind: 'ReplicaSet', ...by },
    { event: 'DeletionProtection', kind: 'CloneSet', ...by },
    { event: 'DeletionProtection', kind: 'Namespace', ...by, namespace: '' },
    { event: 'DeletionProtection', kind: 'CustomResourceDefinition', ...by, namespace: '' },
  ];
  for (const event of events) report(event);
  assert.deepEqual(reported, events);
  const lines = registry
    .text()
    .split('\n')
    .filter((line) => line.includes('ann'));
  assert.deepEqual(lines.sort(), [
    'crd_deletion_protection{name="web",username="ann"} 1',
    'namespace_deletion_protection{name="web",username="ann"} 1',
    'pod_unavailable_budget{kind_namespace_name="ReplicaSet_default_web",username="ann"} 2',
    'workload_deletion_protection{kind_namespace_name="CloneSet_default_web",username="ann"} 1',
  ]);
});
