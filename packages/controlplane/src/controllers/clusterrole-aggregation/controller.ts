import { clusterRole } from '@kruise/api/rbac/clusterrole';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import { keyOf } from '@kruise/client/object-key';
import { decide } from './decide.ts';

const madeOfOthers = ({ aggregationRule }: { readonly aggregationRule?: unknown }) => (aggregationRule ? ['yes'] : []);

/** Fills in the rules of roles that are made of other roles. */
export const clusterRoleAggregationController: Controller = defineController({
  name: 'clusterrole-aggregation',
  fieldManager: 'clusterrole-aggregation-controller',
  for: clusterRole,
  predicate: ({ object }) => madeOfOthers(object).length > 0,
  // Which roles select one that is gone, or was labelled otherwise, is not worth finding out: there are few.
  watches: [watch(clusterRole, (_, caches) => caches.of(clusterRole).byIndex(madeOfOthers, 'yes').map(keyOf))],
  observe(caches, key) {
    const role = caches.of(clusterRole).get(key);
    return role?.aggregationRule ? { role, roles: caches.of(clusterRole).list() } : undefined;
  },
  decide,
});
