import * as s from '@kruise/schema';
import { labelSelector } from '../meta/label-selector.ts';

export const rule = s.object('io.k8s.api.admissionregistration.v1.Rule', 'Resources, by group, version and name.', {
  apiGroups: s.optional(1, s.atomicList(s.string()), 'API groups; * for all, which must be the only entry.'),
  apiVersions: s.optional(2, s.atomicList(s.string()), 'Versions; * for all, which must be the only entry.'),
  resources: s.optional(
    3,
    s.atomicList(s.string()),
    'Resources such as pods or pods/log; pods/* with all subresources, */scale for one of all, * without and */* with them.',
  ),
  scope: s.pointer(
    4,
    s.oneOf('v1.ScopeType', ['Cluster', 'Namespaced', '*']),
    'Cluster, Namespaced or * (the default): which of them, by whether they have a namespace. A Namespace itself is Cluster.',
  ),
});
export type Rule = s.TypeOf<typeof rule>;

export const ruleWithOperations = s.object(
  'io.k8s.api.admissionregistration.v1.RuleWithOperations',
  'Operations and resources of a rule.',
  {
    operations: s.optional(
      1,
      s.atomicList(s.oneOf('v1.OperationType', ['*', 'CREATE', 'UPDATE', 'DELETE', 'CONNECT'])),
      'Operations: CREATE, UPDATE, DELETE, CONNECT, or * for all, which must be the only entry.',
    ),
    rule: s.inline(2, rule),
  },
);
export type RuleWithOperations = s.TypeOf<typeof ruleWithOperations>;

export const matchCondition = s.object(
  'io.k8s.api.admissionregistration.v1.MatchCondition',
  'Additional CEL condition of a webhook or policy.',
  {
    name: s.required(1, s.string(), 'Name of the condition, unique here; shown in errors.'),
    expression: s.required(
      2,
      s.string(),
      'A CEL expression that is true or false, with object, oldObject, request and authorizer.',
    ),
  },
);
export type MatchCondition = s.TypeOf<typeof matchCondition>;

export const namedRuleWithOperations = s.object(
  'io.k8s.api.admissionregistration.v1.NamedRuleWithOperations',
  'Operations and resources of a rule, optionally restricted to names.',
  {
    resourceNames: s.optional(1, s.atomicList(s.string()), 'Only objects of these names. Unset: all.'),
    ruleWithOperations: s.inline(2, ruleWithOperations),
  },
  { mapType: 'atomic' },
);
export type NamedRuleWithOperations = s.TypeOf<typeof namedRuleWithOperations>;

export const matchResources = s.object(
  'io.k8s.api.admissionregistration.v1.MatchResources',
  'Match constraints of a policy; a request must meet all of them.',
  {
    namespaceSelector: s.pointer(
      1,
      labelSelector,
      'Only objects in namespaces with these labels; a Namespace by its own. Unset: all.',
    ),
    objectSelector: s.pointer(
      2,
      labelSelector,
      'Only objects with these labels, before or after the change. Unset: all.',
    ),
    resourceRules: s.optional(
      3,
      s.atomicList(namedRuleWithOperations),
      'Operations and resources that match; a request must match at least one rule.',
    ),
    excludeResourceRules: s.optional(
      4,
      s.atomicList(namedRuleWithOperations),
      'Operations and resources that do not match although a resource rule matches.',
    ),
    matchPolicy: s.pointer(
      7,
      s.oneOf('v1.MatchPolicyType', ['Exact', 'Equivalent']),
      'Matching of versions: Exact only matches the version of the request; Equivalent (the default) also matches other versions of the object, which is converted.',
    ),
  },
  { mapType: 'atomic' },
);
export type MatchResources = s.TypeOf<typeof matchResources>;
