import * as s from '@kruise/schema';

export const policyRule = s.object(
  'io.k8s.api.rbac.v1.PolicyRule',
  'Permitted actions. Rules are additive; no rule denies.',
  {
    verbs: s.required(1, s.atomicList(s.string()), 'Permitted verbs, for example get and list; * for all.'),
    apiGroups: s.optional(2, s.atomicList(s.string()), 'API groups that match; "" for the core group, * for all.'),
    resources: s.optional(
      3,
      s.atomicList(s.string()),
      'Resources that match, for example pods or pods/log; * for all.',
    ),
    resourceNames: s.optional(
      4,
      s.atomicList(s.string()),
      'Names of objects that match. Empty: all. Has no effect on create and deletecollection.',
    ),
    nonResourceURLs: s.optional(
      5,
      s.atomicList(s.string()),
      'Paths that match; a path can end with *. Only in ClusterRoles, and not together with resources.',
    ),
  },
);
export type PolicyRule = s.TypeOf<typeof policyRule>;
