import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicyRule } from '@kruise/api/rbac/rule';
import { defaultPolicy } from './policy.ts';

const policy = defaultPolicy();
const namesOf = (kind: string) =>
  policy.filter((each) => each.kind === kind).map(({ metadata }) => metadata.name ?? '');

test('the policy has the same number of roles and bindings as Kubernetes v1.33', () => {
  const counts = ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'].map((kind) => namesOf(kind).length);
  assert.deepEqual(counts, [66, 47, 7, 7]);
});

test('no two objects of the policy have the same name', () => {
  const keys = policy.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''} ${metadata.name}`);
  assert.equal(new Set(keys).size, keys.length);
});

test('every binding references a role of the policy', () => {
  const roles = new Set(policy.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`));
  for (const { kind, metadata, roleRef } of policy) {
    if (!kind.endsWith('Binding')) continue;
    const { kind: role, name } = roleRef as { readonly kind: string; readonly name: string };
    assert.ok(roles.has(`${role} ${role === 'Role' ? metadata.namespace : ''}/${name}`), `${kind} ${metadata.name}`);
  }
});

test('every controller has a ServiceAccount with a role of its name', () => {
  const controllers = namesOf('ClusterRole').filter((name) => name.startsWith('system:controller:'));
  const bindings = new Set(namesOf('ClusterRoleBinding'));
  assert.ok(controllers.length > 30);
  assert.deepEqual(
    controllers.filter((name) => !bindings.has(name)),
    [],
  );
});

test('only system:masters may do everything', () => {
  const isAll = ({ verbs, resources }: PolicyRule) => verbs.includes('*') && (resources ?? []).includes('*');
  const unrestricted = policy.filter(({ rules }) => ((rules ?? []) as readonly PolicyRule[]).some(isAll));
  assert.deepEqual(
    unrestricted.map(({ metadata }) => metadata.name),
    ['cluster-admin'],
  );
});
