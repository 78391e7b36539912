import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { policyRule } from './rule.ts';

export const aggregationRule = s.object('io.k8s.api.rbac.v1.AggregationRule', 'Makes a role of other roles.', {
  clusterRoleSelectors: s.optional(
    1,
    s.atomicList(labelSelector),
    'Label selectors of ClusterRoles; the rules of all that match any of them are combined.',
  ),
});
export type AggregationRule = s.TypeOf<typeof aggregationRule>;

export const clusterRole = kind(
  'io.k8s.api.rbac.v1.ClusterRole',
  'Rules for the whole cluster, or to be bound in namespaces.',
  {
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    kind: 'ClusterRole',
    plural: 'clusterroles',
    scope: 'Cluster',
    fields: {
      rules: s.optional(2, s.atomicList(policyRule), 'Rules: the permitted actions.', { omitEmpty: false }),
      aggregationRule: s.pointer(3, aggregationRule, 'Aggregation of the rules of other roles; rules is overwritten.'),
    },
  },
);
export type ClusterRole = s.TypeOf<typeof clusterRole>;
