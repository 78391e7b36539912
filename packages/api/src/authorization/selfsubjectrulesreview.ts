import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const selfSubjectRulesReviewSpec = s.object('io.k8s.api.authorization.v1.SelfSubjectRulesReviewSpec', '', {
  namespace: s.optional(1, s.string(), ''),
});
export type SelfSubjectRulesReviewSpec = s.TypeOf<typeof selfSubjectRulesReviewSpec>;

export const resourceRule = s.object('io.k8s.api.authorization.v1.ResourceRule', '', {
  verbs: s.required(1, s.atomicList(s.string()), ''),
  apiGroups: s.optional(2, s.atomicList(s.string()), ''),
  resources: s.optional(3, s.atomicList(s.string()), ''),
  resourceNames: s.optional(4, s.atomicList(s.string()), ''),
});
export type ResourceRule = s.TypeOf<typeof resourceRule>;

export const nonResourceRule = s.object('io.k8s.api.authorization.v1.NonResourceRule', '', {
  verbs: s.required(1, s.atomicList(s.string()), ''),
  nonResourceURLs: s.optional(2, s.atomicList(s.string()), ''),
});
export type NonResourceRule = s.TypeOf<typeof nonResourceRule>;

export const subjectRulesReviewStatus = s.object('io.k8s.api.authorization.v1.SubjectRulesReviewStatus', '', {
  resourceRules: s.required(1, s.atomicList(resourceRule), ''),
  nonResourceRules: s.required(2, s.atomicList(nonResourceRule), ''),
  incomplete: s.required(3, s.boolean(), ''),
  evaluationError: s.optional(4, s.string(), ''),
});
export type SubjectRulesReviewStatus = s.TypeOf<typeof subjectRulesReviewStatus>;

export const selfSubjectRulesReview = kind('io.k8s.api.authorization.v1.SelfSubjectRulesReview', '', {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectRulesReview',
  plural: 'selfsubjectrulesreviews',
  scope: 'Cluster',
  verbs: ['create'],
  fields: {
    spec: s.required(2, selfSubjectRulesReviewSpec, ''),
    status: s.optional(3, subjectRulesReviewStatus, ''),
  },
});
export type SelfSubjectRulesReview = s.TypeOf<typeof selfSubjectRulesReview>;
