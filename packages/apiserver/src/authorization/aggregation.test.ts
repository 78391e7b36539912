import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterRole } from '@kruise/api/rbac/clusterrole';
import { defaultPolicy } from '../bootstrap/policy/policy.ts';
import { aggregatedRules } from './aggregation.ts';

const rule = (resource: string) => ({ verbs: ['get'], apiGroups: [''], resources: [resource] });
const role = (name: string, labels: object, ...resources: readonly string[]) =>
  ({ metadata: { name, labels }, rules: resources.map(rule) }) as unknown as ClusterRole;

const whole = {
  metadata: { name: 'whole', labels: { part: 'x' } },
  rules: [rule('stale')],
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: 'x' } }] },
} as unknown as ClusterRole;

test('an aggregated role has the rules of the selected roles, sorted by name, without duplicates', () => {
  const roles = [role('b', { part: 'x' }, 'pods', 'nodes'), role('a', { part: 'x' }, 'pods'), role('c', {}, 'secrets')];
  assert.deepEqual(aggregatedRules(whole, [...roles, whole]), [rule('pods'), rule('nodes')]);
});

test('a role without an aggregation rule has no aggregated rules', () => {
  assert.equal(aggregatedRules(role('a', {}), []), undefined);
});

test('admin gets the rules of edit and view', () => {
  const roles = defaultPolicy().filter(({ kind }) => kind === 'ClusterRole') as unknown as ClusterRole[];
  const settled = new Map(roles.map((each) => [each.metadata.name ?? '', each]));
  // Each iteration propagates the rules by one level.
  for (let round = 0; round < 3; round++) {
    for (const [name, each] of settled) {
      const rules = aggregatedRules(each, settled.values());
      if (rules) settled.set(name, { ...each, rules } as ClusterRole);
    }
  }
  const names = (name: string) => settled.get(name)!.rules!.flatMap(({ resources }) => resources ?? []);
  assert.ok(names('admin').includes('rolebindings'));
  assert.ok(names('admin').includes('pods/exec'));
  assert.ok(names('admin').includes('pods/log'));
  assert.ok(!names('view').includes('secrets'));
});
