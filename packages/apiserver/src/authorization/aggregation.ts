import type { ClusterRole } from '@kruise/api/rbac/clusterrole';
import type { PolicyRule } from '@kruise/api/rbac/rule';
import { isSame } from '@kruise/machinery/json-value';
import { selectorOf } from '@kruise/machinery/label-selector';
import { compareStrings } from '@kruise/values/go-syntax';

/**
 * Returns the rules of an aggregated ClusterRole: the rules of every role that its selectors match, sorted by role
 * name, without duplicates. Undefined if the role is not aggregated. The server does not aggregate roles; a controller
 * calls this function and updates them.
 */
export function aggregatedRules(role: ClusterRole, roles: Iterable<ClusterRole>): readonly PolicyRule[] | undefined {
  if (!role.aggregationRule) return undefined;
  const nameOf = ({ metadata }: ClusterRole) => metadata?.name ?? '';
  const others = [...roles]
    .filter((other) => nameOf(other) !== nameOf(role))
    .sort((a, b) => compareStrings(nameOf(a), nameOf(b)));
  const rules: PolicyRule[] = [];
  for (const labelSelector of role.aggregationRule.clusterRoleSelectors ?? []) {
    const selector = selectorOf(labelSelector);
    for (const { metadata, rules: more } of others) {
      if (!selector.matches(metadata?.labels)) continue;
      for (const rule of more ?? []) if (!rules.some((known) => isSame(known, rule))) rules.push(rule);
    }
  }
  return rules;
}
