import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { nonResourceAttributes, resourceAttributes, subjectAccessReviewStatus } from './attributes.ts';

export const selfSubjectAccessReviewSpec = s.object(
  'io.k8s.api.authorization.v1.SelfSubjectAccessReviewSpec',
  'Requested action; exactly one of resourceAttributes and nonResourceAttributes.',
  {
    resourceAttributes: s.pointer(1, resourceAttributes, 'A request for a resource.'),
    nonResourceAttributes: s.pointer(2, nonResourceAttributes, 'Attributes of a non-resource request.'),
  },
);
export type SelfSubjectAccessReviewSpec = s.TypeOf<typeof selfSubjectAccessReviewSpec>;

export const selfSubjectAccessReview = kind(
  'io.k8s.api.authorization.v1.SelfSubjectAccessReview',
  'Checks whether the caller may perform an action.',
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    kind: 'SelfSubjectAccessReview',
    plural: 'selfsubjectaccessreviews',
    scope: 'Cluster',
    verbs: ['create'],
    fields: {
      spec: s.required(2, selfSubjectAccessReviewSpec, 'Requested action.'),
      status: s.optional(3, subjectAccessReviewStatus, 'The answer.'),
    },
  },
);
export type SelfSubjectAccessReview = s.TypeOf<typeof selfSubjectAccessReview>;
