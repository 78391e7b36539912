import type { AggregationRule } from '@kruise/api/rbac/clusterrole';
import type { PolicyRule } from '@kruise/api/rbac/rule';
import type { RoleRef, Subject } from '@kruise/api/rbac/subject';
import { isSame } from '@kruise/machinery/json-value';
import { uncovered } from '../../authorization/rule.ts';
import type { KubeObject } from '../../object.ts';
import { autoUpdate } from './policy.ts';

/** Result of reconciling an existing role or binding. */
export type Reconciled =
  | { readonly type: 'keep' }
  | { readonly type: 'update'; readonly object: KubeObject }
  /** The roleRef of a binding is immutable, so a binding to another role is deleted and recreated. */
  | { readonly type: 'replace' };

type Role = KubeObject & {
  readonly rules?: readonly PolicyRule[] | null;
  readonly aggregationRule?: AggregationRule | null;
};
type Binding = KubeObject & { readonly subjects?: readonly Subject[] | null; readonly roleRef: RoleRef };

/**
 * Adds missing rules and subjects to a default role or binding. Additional entries belong to the administrator and are
 * kept.
 */
export function reconcile(existing: KubeObject, expected: KubeObject): Reconciled {
  if (existing.metadata.annotations?.[autoUpdate] === 'false') return { type: 'keep' };
  const isBinding = 'roleRef' in expected;
  if (isBinding && !isSame(existing.roleRef, expected.roleRef)) return { type: 'replace' };
  const completed = isBinding
    ? withSubjects(existing as Binding, expected as Binding)
    : withRules(existing as Role, expected as Role);
  const object = withLabels(completed, expected);
  return object === existing ? { type: 'keep' } : { type: 'update', object };
}

function withRules(existing: Role, expected: Role): Role {
  let role = existing;
  const wanted = expected.aggregationRule?.clusterRoleSelectors ?? [];
  if (wanted.length > 0) {
    const selectors = existing.aggregationRule?.clusterRoleSelectors ?? [];
    const missing = wanted.filter((selector) => !selectors.some((each) => isSame(each, selector)));
    if (missing.length > 0) role = { ...role, aggregationRule: { clusterRoleSelectors: [...selectors, ...missing] } };
    // The rules of an aggregated role come from other roles.
    return role;
  }
  const missing = uncovered(expected.rules ?? [], existing.rules ?? []);
  return missing.length === 0 ? role : { ...role, rules: [...(existing.rules ?? []), ...missing] };
}

function withSubjects(existing: Binding, expected: Binding): Binding {
  const subjects = existing.subjects ?? [];
  const missing = (expected.subjects ?? []).filter((subject) => !subjects.some((each) => isSame(each, subject)));
  return missing.length === 0 ? existing : { ...existing, subjects: [...subjects, ...missing] };
}

function withLabels(existing: KubeObject, { metadata }: KubeObject): KubeObject {
  const { labels, annotations } = existing.metadata;
  const isComplete =
    Object.keys(metadata.labels ?? {}).every((key) => labels?.[key] !== undefined) &&
    Object.keys(metadata.annotations ?? {}).every((key) => annotations?.[key] !== undefined);
  if (isComplete) return existing;
  return {
    ...existing,
    metadata: {
      ...existing.metadata,
      labels: { ...metadata.labels, ...labels },
      annotations: { ...metadata.annotations, ...annotations },
    },
  };
}
