import type { IncomingHttpHeaders } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { User } from '../user.ts';

/** What a request shows of who sent it. */
export type Credentials = { readonly headers: IncomingHttpHeaders; readonly socket: TLSSocket };

/**
 * Finds out who is asking: a user, nothing if the request shows no credentials of this kind, or an error if it shows
 * wrong ones.
 */
export interface Authenticator {
  authenticate(credentials: Credentials): User | undefined | Promise<User | undefined>;
}

/** Whoever shows nothing. */
export const anonymous: User = { username: 'system:anonymous', groups: ['system:unauthenticated'] };

/** Asks each in turn; whoever knows the user decides. Everyone known is in one group more. */
export function authenticators(all: readonly Authenticator[]): Authenticator {
  return {
    async authenticate(credentials) {
      for (const each of all) {
        const user = await each.authenticate(credentials);
        if (user) return withGroup(user);
      }
      return undefined;
    },
  };
}

const authenticated = 'system:authenticated';

function withGroup(user: User): User {
  return user.groups.includes(authenticated) ? user : { ...user, groups: [...user.groups, authenticated] };
}
