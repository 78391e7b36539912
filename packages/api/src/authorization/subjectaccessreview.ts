import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { subjectAccessReviewSpec, subjectAccessReviewStatus } from './attributes.ts';

export const subjectAccessReview = kind(
  'io.k8s.api.authorization.v1.SubjectAccessReview',
  'Asks whether somebody may do something.',
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    kind: 'SubjectAccessReview',
    plural: 'subjectaccessreviews',
    scope: 'Cluster',
    verbs: ['create'],
    fields: {
      spec: s.required(2, subjectAccessReviewSpec, 'Who wants to do what.'),
      status: s.optional(3, subjectAccessReviewStatus, 'The answer.'),
    },
  },
);
export type SubjectAccessReview = s.TypeOf<typeof subjectAccessReview>;
