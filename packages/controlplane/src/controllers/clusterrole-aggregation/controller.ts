import { clusterRole } from '@kruise/api/rbac/clusterrole';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import { keyOf } from '@kruise/client/object-key';
import { decide } from './decide.ts';

const byAggregation = ({ aggregationRule }: { readonly aggregationRule?: unknown }) => (aggregationRule ? ['yes'] : []);

/** ClusterRole aggregation controller: fills in the rules of aggregated ClusterRoles. */
export const clusterRoleAggregationController: Controller = defineController({
  name: 'clusterrole-aggregation',
  fieldManager: 'clusterrole-aggregation-controller',
  for: clusterRole,
  predicate: ({ object }) => byAggregation(object).length > 0,
  // Finding which roles selected a deleted or relabelled role is not worth the effort: aggregated roles are few.
  watches: [watch(clusterRole, (_, caches) => caches.of(clusterRole).byIndex(byAggregation, 'yes').map(keyOf))],
  observe(caches, key) {
    const role = caches.of(clusterRole).get(key);
    return role?.aggregationRule ? { role, roles: caches.of(clusterRole).list() } : undefined;
  },
  decide,
});
