import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { nonResourceAttributes, resourceAttributes, subjectAccessReviewStatus } from './attributes.ts';

export const selfSubjectAccessReviewSpec = s.object('io.k8s.api.authorization.v1.SelfSubjectAccessReviewSpec', '', {
  resourceAttributes: s.pointer(1, resourceAttributes, ''),
  nonResourceAttributes: s.pointer(2, nonResourceAttributes, ''),
});
export type SelfSubjectAccessReviewSpec = s.TypeOf<typeof selfSubjectAccessReviewSpec>;

export const selfSubjectAccessReview = kind('io.k8s.api.authorization.v1.SelfSubjectAccessReview', '', {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  scope: 'Cluster',
  verbs: ['create'],
  fields: {
    spec: s.required(2, selfSubjectAccessReviewSpec, ''),
    status: s.optional(3, subjectAccessReviewStatus, ''),
  },
});
export type SelfSubjectAccessReview = s.TypeOf<typeof selfSubjectAccessReview>;
