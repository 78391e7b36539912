import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { subjectAccessReviewSpec, subjectAccessReviewStatus } from './attributes.ts';

export const subjectAccessReview = kind(
  'io.k8s.api.authorization.v1.SubjectAccessReview',
  'Checks whether a user may perform an action.',
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    kind: 'SubjectAccessReview',
    plural: 'subjectaccessreviews',
    scope: 'Cluster',
    verbs: ['create'],
    fields: {
      spec: s.required(2, subjectAccessReviewSpec, 'The user and the action to check.'),
      status: s.optional(3, subjectAccessReviewStatus, 'The answer.'),
    },
  },
);
export type SubjectAccessReview = s.TypeOf<typeof subjectAccessReview>;
