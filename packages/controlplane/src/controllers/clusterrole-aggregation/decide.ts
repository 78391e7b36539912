import type { ClusterRole } from '@kruise/api/rbac/clusterrole';
import { aggregatedRules } from '@kruise/apiserver/authorization/aggregation';
import { apply } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { isSame } from '@kruise/machinery/json-value';

export type Observed = { readonly role: ClusterRole; readonly roles: readonly ClusterRole[] };

/** A role that is made of others has their rules. */
export function decide({ role, roles }: Observed): Decision<undefined> {
  const rules = aggregatedRules(role, roles);
  if (!rules || isSame(rules, role.rules ?? [])) return { actions: [] };
  const { apiVersion, kind, metadata } = role;
  // To apply no rules is to give up those applied before.
  const own = rules.length === 0 ? {} : { rules };
  const aggregated = { apiVersion, kind, metadata: { name: metadata.name ?? '' }, ...own };
  return { actions: [apply(aggregated)] };
}
