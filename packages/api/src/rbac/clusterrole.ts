import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { policyRule } from './rule.ts';

export const aggregationRule = s.object('io.k8s.api.rbac.v1.AggregationRule', '', {
  clusterRoleSelectors: s.optional(1, s.atomicList(labelSelector), ''),
});
export type AggregationRule = s.TypeOf<typeof aggregationRule>;

export const clusterRole = kind('io.k8s.api.rbac.v1.ClusterRole', '', {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  scope: 'Cluster',
  fields: {
    rules: s.optional(2, s.atomicList(policyRule), '', { omitEmpty: false }),
    aggregationRule: s.pointer(3, aggregationRule, ''),
  },
});
export type ClusterRole = s.TypeOf<typeof clusterRole>;
