import type { User } from '../user.ts';

/** User of a token, and the requested audiences that the token is valid for. */
export type Authenticated = { readonly user: User; readonly audiences?: readonly string[] };

/**
 * Authenticator for one type of token: returns undefined if the token has another type, and an InvalidToken error if it
 * is invalid.
 * A token must be valid for one of the requested `audiences`.
 */
export interface TokenAuthenticator {
  authenticate(
    token: string,
    audiences: readonly string[],
  ): Authenticated | undefined | Promise<Authenticated | undefined>;
}

/** Error: a token is invalid or expired. */
export class InvalidToken extends Error {
  override readonly name = 'InvalidToken';
}

/** Union of token authenticators, called in order. Errors are only returned if no authenticator accepts the token. */
export function tokenAuthenticators(all: readonly TokenAuthenticator[]): TokenAuthenticator {
  return {
    async authenticate(token, audiences) {
      const faults: string[] = [];
      for (const each of all) {
        try {
          const found = await each.authenticate(token, audiences);
          if (found) return found;
        } catch (error) {
          if (!(error instanceof InvalidToken)) throw error;
          faults.push(error.message);
        }
      }
      if (faults.length > 0) throw new InvalidToken(faults.join(', '));
      return undefined;
    },
  };
}
