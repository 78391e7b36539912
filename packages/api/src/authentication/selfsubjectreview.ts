import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { userInfo } from './user-info.ts';

export const selfSubjectReviewStatus = s.object(
  'io.k8s.api.authentication.v1.SelfSubjectReviewStatus',
  'Your user information.',
  {
    userInfo: s.optional(1, userInfo, 'You, as the server knows you.'),
  },
);
export type SelfSubjectReviewStatus = s.TypeOf<typeof selfSubjectReviewStatus>;

export const selfSubjectReview = kind(
  'io.k8s.api.authentication.v1.SelfSubjectReview',
  'Returns the user information of the caller.',
  {
    group: 'authentication.k8s.io',
    version: 'v1',
    kind: 'SelfSubjectReview',
    plural: 'selfsubjectreviews',
    scope: 'Cluster',
    verbs: ['create'],
    fields: {
      status: s.optional(2, selfSubjectReviewStatus, 'The answer.'),
    },
  },
);
export type SelfSubjectReview = s.TypeOf<typeof selfSubjectReview>;
