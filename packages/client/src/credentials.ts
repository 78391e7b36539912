import type { ClientCertificate } from './http/dial.ts';

/** What proves who is asking. */
export type Credential = {
  /** Shown when a connection is made. */
  readonly certificate?: ClientCertificate;
  /** The `Authorization` header: a bearer token, or a user name and password. */
  readonly authorization?: string;
};

/** Whoever has credentials to show; asked before every request, so that what rotates is current. */
export interface Credentials {
  current(signal?: AbortSignal): Credential | Promise<Credential>;
  /** Tells that a server did not accept one. Whether there is hope that the next will do. */
  refused?(credential: Credential): boolean;
}

/** Someone else to act as, if whoever asks may. */
export type Impersonation = {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: { readonly [key: string]: readonly string[] };
};

/** Credentials that stay the same. */
export function fixedCredentials(credential: Credential): Credentials {
  return { current: () => credential };
}

/** The header that shows a token. */
export function bearer(token: string): string {
  return `Bearer ${token}`;
}

/** The header that shows a user name and a password. */
export function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** The headers that ask to act as someone else. */
export function impersonationHeaders({ user, uid, groups = [], extra = {} }: Impersonation): {
  readonly [name: string]: string | string[];
} {
  return {
    'impersonate-user': user,
    ...(uid === undefined ? {} : { 'impersonate-uid': uid }),
    ...(groups.length === 0 ? {} : { 'impersonate-group': [...groups] }),
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [`impersonate-extra-${escapeKey(key)}`, [...values]]),
    ),
  };
}

/** Keys may hold what the name of a header may not. */
function escapeKey(key: string): string {
  return key
    .toLowerCase()
    .replace(/[^a-z0-9!#$&'*+\-.^_`|~]/g, (character) =>
      [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
    );
}
