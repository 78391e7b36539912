import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const selfSubjectRulesReviewSpec = s.object(
  'io.k8s.api.authorization.v1.SelfSubjectRulesReviewSpec',
  'Namespace for which rules are listed.',
  {
    namespace: s.optional(1, s.string(), 'The namespace.'),
  },
);
export type SelfSubjectRulesReviewSpec = s.TypeOf<typeof selfSubjectRulesReviewSpec>;

export const resourceRule = s.object(
  'io.k8s.api.authorization.v1.ResourceRule',
  'Actions on resources that the user may perform. The lists of all rules are additive.',
  {
    verbs: s.required(1, s.atomicList(s.string()), 'Allowed verbs; * for all.'),
    apiGroups: s.optional(2, s.atomicList(s.string()), 'API groups that match; * for all.'),
    resources: s.optional(3, s.atomicList(s.string()), 'Resources that match; * for all.'),
    resourceNames: s.optional(4, s.atomicList(s.string()), 'Names of objects that match. Empty: all.'),
  },
);
export type ResourceRule = s.TypeOf<typeof resourceRule>;

export const nonResourceRule = s.object(
  'io.k8s.api.authorization.v1.NonResourceRule',
  'Actions on non-resource paths that the user may perform.',
  {
    verbs: s.required(1, s.atomicList(s.string()), 'Allowed verbs; * for all.'),
    nonResourceURLs: s.optional(
      2,
      s.atomicList(s.string()),
      'Paths that match; * at the end of a path matches every suffix.',
    ),
  },
);
export type NonResourceRule = s.TypeOf<typeof nonResourceRule>;

export const subjectRulesReviewStatus = s.object(
  'io.k8s.api.authorization.v1.SubjectRulesReviewStatus',
  'Your rights.',
  {
    resourceRules: s.required(1, s.atomicList(resourceRule), 'Allowed actions on resources, in no particular order.'),
    nonResourceRules: s.required(
      2,
      s.atomicList(nonResourceRule),
      'Allowed actions on non-resource paths, in no particular order.',
    ),
    incomplete: s.required(3, s.boolean(), 'Incomplete list: the user may have further rights.'),
    evaluationError: s.optional(4, s.string(), 'Error during the evaluation; the listed rules are valid nevertheless.'),
  },
);
export type SubjectRulesReviewStatus = s.TypeOf<typeof subjectRulesReviewStatus>;

export const selfSubjectRulesReview = kind(
  'io.k8s.api.authorization.v1.SelfSubjectRulesReview',
  'Rules that apply to the current user in a namespace. For display only, not for authorization decisions.',
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    kind: 'SelfSubjectRulesReview',
    plural: 'selfsubjectrulesreviews',
    scope: 'Cluster',
    verbs: ['create'],
    fields: {
      spec: s.required(2, selfSubjectRulesReviewSpec, 'The namespace.'),
      status: s.optional(3, subjectRulesReviewStatus, 'The answer.'),
    },
  },
);
export type SelfSubjectRulesReview = s.TypeOf<typeof selfSubjectRulesReview>;
