import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { subjectAccessReviewSpec, subjectAccessReviewStatus } from './attributes.ts';

export const localSubjectAccessReview = kind(
  'io.k8s.api.authorization.v1.LocalSubjectAccessReview',
  'Checks whether a user may perform an action in one namespace.',
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    kind: 'LocalSubjectAccessReview',
    plural: 'localsubjectaccessreviews',
    scope: 'Namespaced',
    verbs: ['create'],
    fields: {
      spec: s.required(
        2,
        subjectAccessReviewSpec,
        'User and requested action; the namespace must be that of this object.',
      ),
      status: s.optional(3, subjectAccessReviewStatus, 'The answer.'),
    },
  },
);
export type LocalSubjectAccessReview = s.TypeOf<typeof localSubjectAccessReview>;
