import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { userInfo } from './user-info.ts';

export const tokenReviewSpec = s.object('io.k8s.api.authentication.v1.TokenReviewSpec', 'A token to check.', {
  token: s.optional(1, s.string(), 'The bearer token.'),
  audiences: s.optional(2, s.atomicList(s.string()), 'Audiences, of which one must match. Unset: the API server.'),
});
export type TokenReviewSpec = s.TypeOf<typeof tokenReviewSpec>;

export const tokenReviewStatus = s.object(
  'io.k8s.api.authentication.v1.TokenReviewStatus',
  'Result of the check of a token.',
  {
    authenticated: s.optional(1, s.boolean(), 'Result: true if the token is valid.'),
    user: s.optional(2, userInfo, 'The user of the token.'),
    audiences: s.optional(
      4,
      s.atomicList(s.string()),
      'Requested audiences for which the token is valid. Unset: the API server.',
    ),
    error: s.optional(3, s.string(), 'Error that prevented the check.'),
  },
);
export type TokenReviewStatus = s.TypeOf<typeof tokenReviewStatus>;

export const tokenReview = kind(
  'io.k8s.api.authentication.v1.TokenReview',
  'Checks whether a token is valid, and returns its user.',
  {
    group: 'authentication.k8s.io',
    version: 'v1',
    kind: 'TokenReview',
    plural: 'tokenreviews',
    scope: 'Cluster',
    verbs: ['create'],
    fields: {
      spec: s.required(2, tokenReviewSpec, 'The token.'),
      status: s.optional(3, tokenReviewStatus, 'The answer.'),
    },
  },
);
export type TokenReview = s.TypeOf<typeof tokenReview>;
