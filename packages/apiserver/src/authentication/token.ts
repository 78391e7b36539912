import type { User } from '../user.ts';

/** Whom a token is of, and which of the audiences asked for it is meant for. */
export type Authenticated = { readonly user: User; readonly audiences?: readonly string[] };

/**
 * Knows one kind of token: nothing if the token is not of that kind, and an InvalidToken if it is but is not good.
 * `audiences` are those who want to know; a token must be meant for one of them.
 */
export interface TokenAuthenticator {
  authenticate(
    token: string,
    audiences: readonly string[],
  ): Authenticated | undefined | Promise<Authenticated | undefined>;
}

/** A token that is not, or no longer, good. */
export class InvalidToken extends Error {
  override readonly name = 'InvalidToken';
}

/** Asks each in turn. What is wrong with a token matters only if nobody takes it. */
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
