import * as s from '@kruise/schema';
import { labelSelector } from '../meta/label-selector.ts';

export const rule = s.object('io.k8s.api.admissionregistration.v1.Rule', 'Resources, by group, version and name.', {
  apiGroups: s.optional(1, s.atomicList(s.string()), 'API groups; * for all. * must stand alone.'),
  apiVersions: s.optional(2, s.atomicList(s.string()), 'Versions; * for all. * must stand alone.'),
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
  'What is done to which resources.',
  {
    operations: s.optional(
      1,
      s.atomicList(s.oneOf('v1.OperationType', ['*', 'CREATE', 'UPDATE', 'DELETE', 'CONNECT'])),
      'CREATE, UPDATE, DELETE, CONNECT or * for all. * must stand alone.',
    ),
    rule: s.inline(2, rule),
  },
);
export type RuleWithOperations = s.TypeOf<typeof ruleWithOperations>;

export const matchCondition = s.object(
  'io.k8s.api.admissionregistration.v1.MatchCondition',
  'A further condition for a webhook or policy to be asked, in CEL.',
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
  'What is done to which resources, perhaps of certain names.',
  {
    resourceNames: s.optional(1, s.atomicList(s.string()), 'Only objects of these names. Unset: all.'),
    ruleWithOperations: s.inline(2, ruleWithOperations),
  },
  { mapType: 'atomic' },
);
export type NamedRuleWithOperations = s.TypeOf<typeof namedRuleWithOperations>;

export const matchResources = s.object(
  'io.k8s.api.admissionregistration.v1.MatchResources',
  'What a policy is about; all conditions must hold.',
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
      'What is done to which resources: a match of any rule.',
    ),
    excludeResourceRules: s.optional(
      4,
      s.atomicList(namedRuleWithOperations),
      'What is left out, though a rule matches.',
    ),
    matchPolicy: s.pointer(
      7,
      s.oneOf('v1.MatchPolicyType', ['Exact', 'Equivalent']),
      'Exact goes by the version of the request; Equivalent (the default) also by other versions of the same object, converted.',
    ),
  },
  { mapType: 'atomic' },
);
export type MatchResources = s.TypeOf<typeof matchResources>;
