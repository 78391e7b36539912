import { selfSubjectReview } from '@kruise/api/authentication/selfsubjectreview';
import { type TokenReviewSpec, type TokenReviewStatus, tokenReview } from '@kruise/api/authentication/tokenreview';
import type { UserInfo } from '@kruise/api/authentication/user-info';
import { badRequest } from '@kruise/machinery/status';
import { withGroup } from '../authentication/authenticator.ts';
import { InvalidToken, type TokenAuthenticator } from '../authentication/token.ts';
import { timestamp } from '../context.ts';
import type { User } from '../user.ts';
import type { VirtualResource } from '../virtual-resource.ts';
import { reviewOf } from './review.ts';

/** SelfSubjectReview: returns the user of the request. */
export const selfSubjectReviews: VirtualResource = reviewOf(selfSubjectReview, (context, { apiVersion, kind }) => ({
  apiVersion,
  kind,
  metadata: { creationTimestamp: timestamp(context) },
  status: { userInfo: infoOf(context.user) },
}));

/** TokenReview: returns the user of a token. */
export function tokenReviews(tokens: TokenAuthenticator, audiences: readonly string[]): VirtualResource {
  return reviewOf(tokenReview, async (_context, review) => {
    const { token = '', audiences: asked } = (review.spec ?? {}) as TokenReviewSpec;
    if (token === '') throw badRequest('token is required for TokenReview in authentication');
    return { ...review, status: await statusOf(tokens, token, asked?.length ? asked : audiences) };
  });
}

const unknown = 'invalid bearer token';

async function statusOf(
  tokens: TokenAuthenticator,
  token: string,
  audiences: readonly string[],
): Promise<TokenReviewStatus> {
  try {
    const found = await tokens.authenticate(token, audiences);
    if (!found) return { user: {}, error: unknown };
    return { authenticated: true, user: infoOf(withGroup(found.user)), audiences: found.audiences ?? audiences };
  } catch (error) {
    if (!(error instanceof InvalidToken)) throw error;
    return { user: {}, error: `[${unknown}, ${error.message}]` };
  }
}

function infoOf({ username, uid, groups, extra }: User): UserInfo {
  return { username, ...(uid === undefined ? {} : { uid }), groups, ...(extra ? { extra } : {}) };
}
