import { type Cause, invalid, notSupported, required } from '@kruise/schema/field-error';
import { validateDns1123Subdomain, validatePathSegment } from '@kruise/values/names';
import { invalidStructure } from '../meta/go-value.ts';
import { validateLabelSelector } from '../meta/label-selector.validate.ts';
import { pathSegmentName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { isSame } from '../meta/same.ts';
import { refusals } from '../meta/value.validate.ts';
import type { ClusterRole } from './clusterrole.ts';
import type { ClusterRoleBinding } from './clusterrolebinding.ts';
import type { Role } from './role.ts';
import type { RoleBinding } from './rolebinding.ts';
import type { PolicyRule } from './rule.ts';
import type { Subject } from './subject.ts';

const apiGroup = 'rbac.authorization.k8s.io';

export function* validateRole({ metadata, rules }: Role): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: true, name: pathSegmentName });
  for (const [index, rule] of (rules ?? []).entries()) yield* validateRule(rule, `rules[${index}]`, true);
}

export function* validateRoleUpdate(role: Role, old: Role): Generator<Cause> {
  yield* validateRole(role);
  yield* validateKindMetaUpdate(role.metadata, old.metadata);
}

export function* validateClusterRole({ metadata, rules, aggregationRule }: ClusterRole): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: false, name: pathSegmentName });
  for (const [index, rule] of (rules ?? []).entries()) yield* validateRule(rule, `rules[${index}]`, false);
  if (!aggregationRule) return;
  const selectors = aggregationRule.clusterRoleSelectors ?? [];
  const path = 'aggregationRule.clusterRoleSelectors';
  if (selectors.length === 0) {
    yield required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil');
  }
  for (const [index, selector] of selectors.entries()) {
    const faults = [...validateLabelSelector(selector, `${path}[${index}]`)];
    yield* faults;
    // A selector that cannot be converted is reported as an additional error.
    if (faults.length > 0) yield invalid(`${path}[${index}]`, 'null', 'invalid label selector.');
  }
}

export function* validateClusterRoleUpdate(role: ClusterRole, old: ClusterRole): Generator<Cause> {
  yield* validateClusterRole(role);
  yield* validateKindMetaUpdate(role.metadata, old.metadata);
}

function* validateRule(rule: PolicyRule, path: string, namespaced: boolean): Generator<Cause> {
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
  if (!verbs?.length) yield required(`${path}.verbs`, 'verbs must contain at least one value');
  if (nonResourceURLs?.length) {
    const field = `${path}.nonResourceURLs`;
    if (namespaced) yield invalid(field, nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs');
    if (apiGroups?.length || resources?.length || resourceNames?.length) {
      yield invalid(field, nonResourceURLs, 'rules cannot apply to both regular resources and non-resource URLs');
    }
    return;
  }
  if (!apiGroups?.length) yield required(`${path}.apiGroups`, 'resource rules must supply at least one api group');
  if (!resources?.length) yield required(`${path}.resources`, 'resource rules must supply at least one resource');
}

export function* validateRoleBinding(binding: RoleBinding): Generator<Cause> {
  yield* validateKindMeta(binding.metadata, { namespaced: true, name: pathSegmentName });
  yield* validateBinding(binding, ['Role', 'ClusterRole'], true);
}

export function* validateRoleBindingUpdate(binding: RoleBinding, old: RoleBinding): Generator<Cause> {
  yield* validateRoleBinding(binding);
  yield* validateBindingUpdate(binding, old);
}

export function* validateClusterRoleBinding(binding: ClusterRoleBinding): Generator<Cause> {
  yield* validateKindMeta(binding.metadata, { namespaced: false, name: pathSegmentName });
  yield* validateBinding(binding, ['ClusterRole'], false);
}

export function* validateClusterRoleBindingUpdate(
  binding: ClusterRoleBinding,
  old: ClusterRoleBinding,
): Generator<Cause> {
  yield* validateClusterRoleBinding(binding);
  yield* validateBindingUpdate(binding, old);
}

type Binding = RoleBinding | ClusterRoleBinding;

function* validateBinding(
  { roleRef, subjects }: Binding,
  kinds: readonly string[],
  namespaced: boolean,
): Generator<Cause> {
  if (roleRef.apiGroup !== apiGroup) yield notSupported('roleRef.apiGroup', roleRef.apiGroup, [apiGroup]);
  if (!kinds.includes(roleRef.kind)) yield notSupported('roleRef.kind', roleRef.kind, kinds);
  if (roleRef.name === '') yield required('roleRef.name');
  else yield* refusals('roleRef.name', roleRef.name, validatePathSegment(roleRef.name));
  for (const [index, subject] of (subjects ?? []).entries()) {
    yield* validateSubject(subject, `subjects[${index}]`, namespaced);
  }
}

function* validateBindingUpdate(binding: Binding, old: Binding): Generator<Cause> {
  yield* validateKindMetaUpdate(binding.metadata, old.metadata);
  if (!isSame(binding.roleRef, old.roleRef)) {
    yield invalidStructure('roleRef', 'rbac.RoleRef', binding.roleRef, 'cannot change roleRef');
  }
}

function* validateSubject(subject: Subject, path: string, namespaced: boolean): Generator<Cause> {
  const { kind, name, namespace } = subject;
  const group = subject.apiGroup ?? '';
  if (name === '') yield required(`${path}.name`);
  switch (kind) {
    case 'ServiceAccount':
      if (name !== '') yield* refusals(`${path}.name`, name, validateDns1123Subdomain(name));
      if (group !== '') yield notSupported(`${path}.apiGroup`, group, ['']);
      if (!namespaced && !namespace) yield required(`${path}.namespace`);
      return;
    case 'User':
    case 'Group':
      if (group !== apiGroup) yield notSupported(`${path}.apiGroup`, group, [apiGroup]);
      return;
    default:
      yield notSupported(`${path}.kind`, kind, ['ServiceAccount', 'User', 'Group']);
  }
}
