import type { ClusterRole } from '@kruise/api/rbac/clusterrole';
import { aggregatedRules } from '@kruise/apiserver/authorization/aggregation';
import { apply } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { isSame } from '@kruise/machinery/json-value';

export type Observed = { readonly role: ClusterRole; readonly roles: readonly ClusterRole[] };

/** Sets the rules of an aggregated ClusterRole to the union of the rules of the selected roles. */
export function decide({ role, roles }: Observed): Decision<undefined> {
  const rules = aggregatedRules(role, roles);
  if (!rules || isSame(rules, role.rules ?? [])) return { actions: [] };
  const { apiVersion, kind, metadata } = role;
  // Applying no rules gives up ownership of the rules applied before.
  const own = rules.length === 0 ? {} : { rules };
  const aggregated = { apiVersion, kind, metadata: { name: metadata.name ?? '' }, ...own };
  return { actions: [apply(aggregated)] };
}
