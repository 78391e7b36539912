import type { IncomingHttpHeaders } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { User } from '../user.ts';

/** Credentials of a request. */
export type Credentials = {
  readonly rawPath: string;
  readonly headers: IncomingHttpHeaders;
  /** Header names and values as received, one entry per value. */
  readonly rawHeaders: readonly string[];
  readonly socket: TLSSocket;
};

/**
 * Authenticator: returns a user, undefined if the request has no credentials of this type, or an error if the
 * credentials are invalid.
 */
export interface Authenticator {
  authenticate(credentials: Credentials): User | undefined | Promise<User | undefined>;
}

const anonymous: User = { username: 'system:anonymous', groups: ['system:unauthenticated'] };

/** Authenticates requests without credentials as the anonymous user, on all paths or on the given paths. */
export function anonymousUsers(paths?: readonly string[]): Authenticator {
  return { authenticate: ({ rawPath }) => (paths === undefined || paths.includes(rawPath) ? anonymous : undefined) };
}

/**
 * Union of authenticators: the first that returns a user decides. Authenticated users are added to the
 * system:authenticated group.
 */
export function authenticators(all: readonly Authenticator[]): Authenticator {
  return {
    async authenticate(credentials) {
      for (const each of all) {
        const asked = each.authenticate(credentials);
        const user = asked instanceof Promise ? await asked : asked;
        if (user) return withGroup(user);
      }
      return undefined;
    },
  };
}

const authenticated = 'system:authenticated';
const ready = new WeakMap<User, User>();

/** Adds the system:authenticated group to a user. The result is memoized, so the same user yields the same object. */
export function withGroup(user: User): User {
  if (user === anonymous || user.groups.includes(authenticated)) return user;
  let member = ready.get(user);
  if (!member) {
    member = { ...user, groups: [...user.groups, authenticated] };
    ready.set(user, member);
  }
  return member;
}

/** Returns every value of a header, in order. */
export function headerValues(rawHeaders: readonly string[], name: string): readonly string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]!.toLowerCase() === name) values.push(rawHeaders[index + 1]!);
  }
  return values;
}
