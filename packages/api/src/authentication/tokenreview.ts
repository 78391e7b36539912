import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { userInfo } from './user-info.ts';

export const tokenReviewSpec = s.object('io.k8s.api.authentication.v1.TokenReviewSpec', '', {
  token: s.optional(1, s.string(), ''),
  audiences: s.optional(2, s.atomicList(s.string()), ''),
});
export type TokenReviewSpec = s.TypeOf<typeof tokenReviewSpec>;

export const tokenReviewStatus = s.object('io.k8s.api.authentication.v1.TokenReviewStatus', '', {
  authenticated: s.optional(1, s.boolean(), ''),
  user: s.optional(2, userInfo, ''),
  audiences: s.optional(4, s.atomicList(s.string()), ''),
  error: s.optional(3, s.string(), ''),
});
export type TokenReviewStatus = s.TypeOf<typeof tokenReviewStatus>;

export const tokenReview = kind('io.k8s.api.authentication.v1.TokenReview', '', {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenReview',
  plural: 'tokenreviews',
  scope: 'Cluster',
  verbs: ['create'],
  fields: {
    spec: s.required(2, tokenReviewSpec, ''),
    status: s.optional(3, tokenReviewStatus, ''),
  },
});
export type TokenReview = s.TypeOf<typeof tokenReview>;
