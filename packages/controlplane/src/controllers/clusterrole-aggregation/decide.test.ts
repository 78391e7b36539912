import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterRole } from '@kruise/api/rbac/clusterrole';
import fc from 'fast-check';
import { decide } from './decide.ts';

const rule = (resource: string) => ({ apiGroups: ['example.com'], resources: [resource], verbs: ['get'] });
const role = (name: string, labels: Readonly<Record<string, string>>, resources: string): ClusterRole => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name, labels },
  rules: resources.split(' ').filter(Boolean).map(rule),
});
const whole = (resources: string, ...keys: readonly string[]): ClusterRole => ({
  ...role('whole', { a: 'yes' }, resources),
  aggregationRule: { clusterRoleSelectors: keys.map((key) => ({ matchLabels: { [key]: 'yes' } })) },
});
const [a, b, both] = [
  role('a', { a: 'yes' }, 'x y'),
  role('b', { b: 'yes' }, 'y z'),
  role('c', { a: 'yes', b: 'yes' }, 'w'),
];

const cases: readonly (readonly [name: string, role: ClusterRole, others: readonly ClusterRole[], rules: string])[] = [
  ['has the rules of the selected roles', whole('', 'a'), [a, b], 'x y'],
  [
    'has the rules of all its selectors in order, and of each by role name',
    whole('', 'b', 'a'),
    [both, b, a],
    'y z w x',
  ],
  ['has each rule once', whole('', 'a', 'b'), [a, b], 'x y z'],
  ['has no rules of its own', whole('own', 'a'), [a], 'x y'],
  ['is unchanged if its rules are up to date', whole('x y', 'a'), [a], 'as is'],
  ['is unchanged without an aggregation rule', role('whole', {}, 'own'), [a], 'as is'],
];
for (const [name, given, others, rules] of cases) {
  test(`a role ${name}`, () => {
    const [action] = decide({ role: given, roles: [given, ...others] }).actions;
    const applied = action?.type === 'apply' ? (action.object as ClusterRole) : undefined;
    const resourcesOfRules = applied?.rules?.map(({ resources }) => resources?.[0]).join(' ');
    assert.equal(applied ? resourcesOfRules : 'as is', rules);
  });
}

test('the decision is idempotent for any roles', () => {
  const others = fc.shuffledSubarray([a, b, both]);
  fc.assert(
    fc.property(others, fc.subarray(['a', 'b']), fc.constantFrom('', 'own', 'x y'), (some, keys, before) => {
      const given = whole(before, ...keys);
      const [action] = decide({ role: given, roles: [given, ...some] }).actions;
      // An apply without rules removes all rules.
      const { rules = [] } = action?.type === 'apply' ? (action.object as ClusterRole) : given;
      const after = { ...given, rules };
      assert.deepEqual(decide({ role: after, roles: [after, ...some] }).actions, []);
      assert.equal(new Set(rules.map(({ resources }) => resources?.[0])).size, rules.length);
    }),
  );
});
