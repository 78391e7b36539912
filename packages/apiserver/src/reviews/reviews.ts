import type { Authentication } from '../authentication/authentication.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { Rbac } from '../authorization/rbac.ts';
import type { VirtualResource } from '../virtual-resource.ts';
import { accessReviews } from './access-reviews.ts';
import { rulesReview } from './rules-review.ts';
import { selfSubjectReviews, tokenReviews } from './user-reviews.ts';

export type ReviewParts = {
  readonly authorizer: Authorizer;
  readonly rbac: Rbac;
  readonly authentication: Authentication;
};

/** Creates the review resources, by `group/version/plural`. */
export function reviews({ authorizer, rbac, authentication }: ReviewParts): ReadonlyMap<string, VirtualResource> {
  const all = [
    selfSubjectReviews,
    tokenReviews(authentication.tokens, authentication.audiences),
    ...accessReviews(authorizer),
    rulesReview(rbac),
  ];
  return new Map(
    all.map((each) => {
      const { group, version, plural } = each.kind;
      return [`${group}/${version}/${plural}`, each];
    }),
  );
}
