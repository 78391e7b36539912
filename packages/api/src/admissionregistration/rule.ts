import * as s from '@kruise/schema';
import { labelSelector } from '../meta/label-selector.ts';

export const rule = s.object('io.k8s.api.admissionregistration.v1.Rule', '', {
  apiGroups: s.optional(1, s.atomicList(s.string()), ''),
  apiVersions: s.optional(2, s.atomicList(s.string()), ''),
  resources: s.optional(3, s.atomicList(s.string()), ''),
  scope: s.pointer(4, s.oneOf('v1.ScopeType', ['Cluster', 'Namespaced', '*']), ''),
});
export type Rule = s.TypeOf<typeof rule>;

export const ruleWithOperations = s.object('io.k8s.api.admissionregistration.v1.RuleWithOperations', '', {
  operations: s.optional(1, s.atomicList(s.oneOf('v1.OperationType', ['*', 'CREATE', 'UPDATE', 'DELETE', 'CONNECT'])), ''),
  rule: s.inline(2, rule),
});
export type RuleWithOperations = s.TypeOf<typeof ruleWithOperations>;

export const matchCondition = s.object('io.k8s.api.admissionregistration.v1.MatchCondition', '', {
  name: s.required(1, s.string(), ''),
  expression: s.required(2, s.string(), ''),
});
export type MatchCondition = s.TypeOf<typeof matchCondition>;

export const namedRuleWithOperations = s.object('io.k8s.api.admissionregistration.v1.NamedRuleWithOperations', '', {
  resourceNames: s.optional(1, s.atomicList(s.string()), ''),
  ruleWithOperations: s.inline(2, ruleWithOperations),
}, { mapType: 'atomic' });
export type NamedRuleWithOperations = s.TypeOf<typeof namedRuleWithOperations>;

export const matchResources = s.object('io.k8s.api.admissionregistration.v1.MatchResources', '', {
  namespaceSelector: s.pointer(1, labelSelector, ''),
  objectSelector: s.pointer(2, labelSelector, ''),
  resourceRules: s.optional(3, s.atomicList(namedRuleWithOperations), ''),
  excludeResourceRules: s.optional(4, s.atomicList(namedRuleWithOperations), ''),
  matchPolicy: s.pointer(7, s.oneOf('v1.MatchPolicyType', ['Exact', 'Equivalent']), ''),
}, { mapType: 'atomic' });
export type MatchResources = s.TypeOf<typeof matchResources>;
