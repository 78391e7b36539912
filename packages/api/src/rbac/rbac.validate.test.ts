import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Draft } from '@kruise/schema/draft';
import type { ClusterRole } from './clusterrole.ts';
import type { ClusterRoleBinding } from './clusterrolebinding.ts';
import { defaultBinding } from './rbac.default.ts';
import {
  validateClusterRole,
  validateClusterRoleBinding,
  validateRole,
  validateRoleBinding,
  validateRoleBindingUpdate,
} from './rbac.validate.ts';
import type { Role } from './role.ts';
import type { RoleBinding } from './rolebinding.ts';
import type { PolicyRule } from './rule.ts';
import type { RoleRef, Subject } from './subject.ts';

const apiGroup = 'rbac.authorization.k8s.io';
const metadata = { name: 'a:b', namespace: 'default' };
const ofCluster = { name: 'a:b' };
const formatErrors = (causes: Iterable<{ readonly field: string; readonly message: string }>) =>
  Array.from(causes, ({ field, message }) => `${field}: ${message}`);

const role = (rule: PolicyRule) => formatErrors(validateRole({ metadata, rules: [rule] } as unknown as Role));
const clusterRole = (rule: PolicyRule) =>
  formatErrors(validateClusterRole({ metadata: ofCluster, rules: [rule] } as unknown as ClusterRole));
const roleRef = { apiGroup, kind: 'Role', name: 'r' };
const user: Subject = { kind: 'User', apiGroup, name: 'ann' };
const bindingOf = (ref: RoleRef, ...subjects: readonly Subject[]) =>
  ({ metadata, roleRef: ref, subjects }) as unknown as RoleBinding;
const binding = (ref: RoleRef, ...subjects: readonly Subject[]) =>
  formatErrors(validateRoleBinding(bindingOf(ref, ...subjects)));
const clusterBinding = (ref: RoleRef, ...subjects: readonly Subject[]) =>
  formatErrors(
    validateClusterRoleBinding({ metadata: ofCluster, roleRef: ref, subjects } as unknown as ClusterRoleBinding),
  );

const cases: readonly [name: string, faults: readonly string[], expected: readonly string[]][] = [
  ['a role may have a colon in its name', role({ verbs: ['get'], apiGroups: [''], resources: ['pods'] }), []],
  [
    'a rule needs verbs, API groups and resources',
    role({ verbs: [] }),
    [
      'rules[0].verbs: Required value: verbs must contain at least one value',
      'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
      'rules[0].resources: Required value: resource rules must supply at least one resource',
    ],
  ],
  [
    'a rule of a namespace has no paths',
    role({ verbs: ['get'], nonResourceURLs: ['/x'] }),
    ['rules[0].nonResourceURLs: Invalid value: []string{"/x"}: namespaced rules cannot apply to non-resource URLs'],
  ],
  ['a rule of the cluster may have paths', clusterRole({ verbs: ['get'], nonResourceURLs: ['/x'] }), []],
  [
    'a rule is of paths or of resources',
    clusterRole({ verbs: ['get'], nonResourceURLs: ['/x'], resources: ['pods'], apiGroups: [''] }),
    [
      'rules[0].nonResourceURLs: Invalid value: []string{"/x"}: rules cannot apply to both regular resources and non-resource URLs',
    ],
  ],
  ['a binding gives a role of its namespace', binding(roleRef, user), []],
  [
    'a binding of the cluster gives no role of a namespace',
    clusterBinding(roleRef, user),
    ['roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"'],
  ],
  ['a binding names its role', binding({ ...roleRef, name: '' }), ['roleRef.name: Required value']],
  [
    'a role has a name that fits into a path',
    binding({ ...roleRef, name: 'a/b' }),
    ['roleRef.name: Invalid value: "a/b": may not contain \'/\''],
  ],
  [
    'a subject is a user, a group or an account',
    binding(roleRef, { kind: 'Robot', name: 'x' }),
    ['subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"'],
  ],
  ['an account may be of the namespace of the binding', binding(roleRef, { kind: 'ServiceAccount', name: 'x' }), []],
  [
    'an account of a binding of the cluster has a namespace',
    clusterBinding({ ...roleRef, kind: 'ClusterRole' }, { kind: 'ServiceAccount', name: 'x' }),
    ['subjects[0].namespace: Required value'],
  ],
];

for (const [name, faults, expected] of cases) test(name, () => assert.deepEqual(faults, expected));

test('the role of a binding is immutable', () => {
  const old = { ...bindingOf(roleRef, user), metadata: { ...metadata, resourceVersion: '1' } } as RoleBinding;
  const other = { ...old, roleRef: { ...roleRef, name: 'other' } } as RoleBinding;
  assert.deepEqual(formatErrors(validateRoleBindingUpdate(old, old)), []);
  assert.match(formatErrors(validateRoleBindingUpdate(other, old))[0]!, /^roleRef: .*cannot change roleRef$/);
});

test('an aggregated role needs selectors', () => {
  const made = { metadata: ofCluster, aggregationRule: {} } as unknown as ClusterRole;
  assert.deepEqual(formatErrors(validateClusterRole(made)), [
    'aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil',
  ]);
});

test('roles, users and groups get the RBAC API group, accounts none', () => {
  const draft = {
    metadata,
    roleRef: { apiGroup: '', kind: 'Role', name: 'r' },
    subjects: [
      { kind: 'User', name: 'a' },
      { kind: 'ServiceAccount', name: 'b' },
    ],
  } as unknown as Draft<RoleBinding>;
  defaultBinding(draft);
  assert.equal(draft.roleRef.apiGroup, apiGroup);
  assert.deepEqual(
    draft.subjects?.map((subject) => subject.apiGroup),
    [apiGroup, undefined],
  );
});
