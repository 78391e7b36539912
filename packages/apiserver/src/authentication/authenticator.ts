import type { IncomingHttpHeaders } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { User } from '../user.ts';

/** What a request shows of who sent it. */
export type Credentials = {
  readonly rawPath: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values as they came, each value by itself. */
  readonly rawHeaders: readonly string[];
  readonly socket: TLSSocket;
};

/**
 * Finds out who is asking: a user, nothing if the request shows no credentials of this kind, or an error if it shows
 * wrong ones.
 */
export interface Authenticator {
  authenticate(credentials: Credentials): User | undefined | Promise<User | undefined>;
}

const anonymous: User = { username: 'system:anonymous', groups: ['system:unauthenticated'] };

/** Whoever shows nothing is nobody in particular, on all paths or on some. */
export function anonymousUsers(paths?: readonly string[]): Authenticator {
  return { authenticate: ({ rawPath }) => (paths === undefined || paths.includes(rawPath) ? anonymous : undefined) };
}

/** Asks each in turn; whoever knows the user decides. Everyone known is in one group more. */
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

/** A user who comes again is the same object again, which is not made anew each time. */
export function withGroup(user: User): User {
  if (user === anonymous || user.groups.includes(authenticated)) return user;
  let member = ready.get(user);
  if (!member) {
    member = { ...user, groups: [...user.groups, authenticated] };
    ready.set(user, member);
  }
  return member;
}

/** Every value of a header, in the order they came. */
export function headerValues(rawHeaders: readonly string[], name: string): readonly string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]!.toLowerCase() === name) values.push(rawHeaders[index + 1]!);
  }
  return values;
}
