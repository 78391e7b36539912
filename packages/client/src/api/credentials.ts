import type { ClientCertificate } from './http/dial.ts';

/** Credentials of one request. */
export type Credential = {
  /** Client certificate for the TLS handshake. */
  readonly certificate?: ClientCertificate;
  /** Value of the `Authorization` header: a bearer token, or a user name and password. */
  readonly authorization?: string;
};

/** Source of credentials. `current` is called before every request, so rotated credentials take effect immediately. */
export interface Credentials {
  current(signal?: AbortSignal): Credential | Promise<Credential>;
  /** Reports that a server rejected a credential. Returns true if the next credential may be accepted. */
  rejected?(credential: Credential): boolean;
}

/** User to impersonate, if the caller has the permission. */
export type Impersonation = {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: { readonly [key: string]: readonly string[] };
};

/**
 * Returns credentials that never change.
 *
 * ```ts
 * const credentials = staticCredentials({ authorization: bearerAuthorization(token) });
 * ```
 */
export function staticCredentials(credential: Credential): Credentials {
  return { current: () => credential };
}

/** Returns the `Authorization` header of a bearer token. */
export function bearerAuthorization(token: string): string {
  return `Bearer ${token}`;
}

/** Returns the `Authorization` header of a user name and a password. */
export function basicAuthorization(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** Returns the impersonation headers of a request. */
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

/** Escapes the characters of a key that are not allowed in a header name. */
function escapeKey(key: string): string {
  return key
    .toLowerCase()
    .replace(/[^a-z0-9!#$&'*+\-.^_`|~]/g, (character) =>
      [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
    );
}
