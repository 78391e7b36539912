import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const selfSubjectRulesReviewSpec = s.object(
  'io.k8s.api.authorization.v1.SelfSubjectRulesReviewSpec',
  'Where you want to know your rights.',
  {
    namespace: s.optional(1, s.string(), 'The namespace.'),
  },
);
export type SelfSubjectRulesReviewSpec = s.TypeOf<typeof selfSubjectRulesReviewSpec>;

export const resourceRule = s.object(
  'io.k8s.api.authorization.v1.ResourceRule',
  'What you may do with resources. All lists are taken together.',
  {
    verbs: s.required(1, s.atomicList(s.string()), 'What may be done; * for all.'),
    apiGroups: s.optional(2, s.atomicList(s.string()), 'In which API groups; * for all.'),
    resources: s.optional(3, s.atomicList(s.string()), 'With which resources; * for all.'),
    resourceNames: s.optional(4, s.atomicList(s.string()), 'With objects of which names. Empty: all.'),
  },
);
export type ResourceRule = s.TypeOf<typeof resourceRule>;

export const nonResourceRule = s.object('io.k8s.api.authorization.v1.NonResourceRule', 'What you may do with paths.', {
  verbs: s.required(1, s.atomicList(s.string()), 'What may be done; * for all.'),
  nonResourceURLs: s.optional(
    2,
    s.atomicList(s.string()),
    'With which paths; * at the end of one for all that follows.',
  ),
});
export type NonResourceRule = s.TypeOf<typeof nonResourceRule>;

export const subjectRulesReviewStatus = s.object(
  'io.k8s.api.authorization.v1.SubjectRulesReviewStatus',
  'Your rights.',
  {
    resourceRules: s.required(1, s.atomicList(resourceRule), 'What you may do with resources, in no order.'),
    nonResourceRules: s.required(2, s.atomicList(nonResourceRule), 'What you may do with paths, in no order.'),
    incomplete: s.required(3, s.boolean(), 'Whether there may be more than could be listed.'),
    evaluationError: s.optional(4, s.string(), 'What went wrong in finding out; what is listed holds all the same.'),
  },
);
export type SubjectRulesReviewStatus = s.TypeOf<typeof subjectRulesReviewStatus>;

export const selfSubjectRulesReview = kind(
  'io.k8s.api.authorization.v1.SelfSubjectRulesReview',
  'Asks what you may do in a namespace. For showing, not for deciding.',
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
