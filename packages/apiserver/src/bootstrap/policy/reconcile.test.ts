import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../object.ts';
import { autoUpdate, defaultPolicy } from './policy.ts';
import { reconcile } from './reconcile.ts';

const policy = defaultPolicy();
const found = (kind: string, name: string) => policy.find((each) => each.kind === kind && each.metadata.name === name)!;
const role = found('ClusterRole', 'system:kube-dns');
const binding = found('ClusterRoleBinding', 'system:basic-user');
const aggregated = found('ClusterRole', 'edit');

const extraRule = { verbs: ['get'], apiGroups: ['extra'], resources: ['things'] };
const with_ = (object: KubeObject, change: object): KubeObject => ({ ...object, ...change });
const updated = (existing: KubeObject, expected: KubeObject): KubeObject => {
  const result = reconcile(existing, expected);
  assert.equal(result.type, 'update');
  return (result as { readonly object: KubeObject }).object;
};

test('a current object is kept', () => {
  for (const object of policy) assert.deepEqual(reconcile(object, object), { type: 'keep' });
});

test('a role gets its missing rules back, and keeps additional ones', () => {
  const object = updated(with_(role, { rules: [extraRule] }), role);
  const [added, ...parts] = object.rules as { readonly resources: readonly string[] }[];
  assert.deepEqual(added, extraRule);
  assert.deepEqual([...new Set(parts.map(({ resources }) => resources[0]))], ['endpoints', 'services']);
});

test('a role with more permissions is not changed', () => {
  const all = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }];
  assert.deepEqual(reconcile(with_(role, { rules: all }), role), { type: 'keep' });
});

test('a binding gets its missing subjects back, and keeps additional ones', () => {
  const bob = { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'bob' };
  const object = updated(with_(binding, { subjects: [bob] }), binding);
  assert.deepEqual(
    (object.subjects as { readonly name: string }[]).map(({ name }) => name),
    ['bob', 'system:authenticated'],
  );
});

test('a binding to another role is recreated', () => {
  const other = with_(binding, { roleRef: { ...(binding.roleRef as object), name: 'cluster-admin' } });
  assert.deepEqual(reconcile(other, binding), { type: 'replace' });
});

test('an aggregated role gets its selectors back, and its rules are left to the controller', () => {
  const rules = [extraRule];
  assert.deepEqual(reconcile(with_(aggregated, { rules }), aggregated), { type: 'keep' });
  const object = updated(with_(aggregated, { rules, aggregationRule: undefined }), aggregated);
  assert.deepEqual(object.aggregationRule, aggregated.aggregationRule);
  assert.deepEqual(object.rules, rules);
});

test('an object with autoupdate disabled is not changed', () => {
  const metadata = { ...role.metadata, annotations: { [autoUpdate]: 'false' } };
  assert.deepEqual(reconcile(with_(role, { metadata, rules: [] }), role), { type: 'keep' });
});

test('missing labels and annotations are restored, and different ones are kept', () => {
  const metadata = { name: role.metadata.name!, labels: { 'kubernetes.io/bootstrapping': 'mine' } };
  const object = updated(with_(role, { metadata }), role);
  assert.deepEqual(object.metadata.labels, { 'kubernetes.io/bootstrapping': 'mine' });
  assert.deepEqual(object.metadata.annotations, { [autoUpdate]: 'true' });
});
