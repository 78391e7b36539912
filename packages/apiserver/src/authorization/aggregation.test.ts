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

test('a role is made of those its selectors find, in the order of names, each rule once', () => {
  const roles = [role('b', { part: 'x' }, 'pods', 'nodes'), role('a', { part: 'x' }, 'pods'), role('c', {}, 'secrets')];
  assert.deepEqual(aggregatedRules(whole, [...roles, whole]), [rule('pods'), rule('nodes')]);
});

test('a role that is not made of others has nothing to be made of', () => {
  assert.equal(aggregatedRules(role('a', {}), []), undefined);
});

test('admin comes to have what edit and view have', () => {
  const roles = defaultPolicy().filter(({ kind }) => kind === 'ClusterRole') as unknown as ClusterRole[];
  const settled = new Map(roles.map((each) => [each.metadata.name ?? '', each]));
  // Each round carries the rules one role further up.
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
