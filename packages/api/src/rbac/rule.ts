import * as s from '@kruise/schema';


export const policyRule = s.object('io.k8s.api.rbac.v1.PolicyRule', '', {
  verbs: s.required(1, s.atomicList(s.string()), ''),
  apiGroups: s.optional(2, s.atomicList(s.string()), ''),
  resources: s.optional(3, s.atomicList(s.string()), ''),
  resourceNames: s.optional(4, s.atomicList(s.string()), ''),
  nonResourceURLs: s.optional(5, s.atomicList(s.string()), ''),
});
export type PolicyRule = s.TypeOf<typeof policyRule>;
