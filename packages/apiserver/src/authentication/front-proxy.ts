import { X509Certificate } from 'node:crypto';
import type { User } from '../user.ts';
import { type Authenticator, headerValues } from './authenticator.ts';
import { isIssuedBy, shownSubject } from './certificate.ts';

export type FrontProxyOptions = {
  /** The authority of the proxies' certificates, as PEM text. */
  readonly authority: string;
  /** The common names proxies may have; any if empty. */
  readonly allowedNames: readonly string[];
};

const extraPrefix = 'x-remote-extra-';

/** A proxy with a certificate of its own authority says whom it speaks for. */
export function frontProxies({ authority, allowedNames }: FrontProxyOptions): Authenticator {
  const issuer = new X509Certificate(authority);
  const known = new WeakMap<object, boolean>();

  function isProxy(socket: Parameters<Authenticator['authenticate']>[0]['socket']): boolean {
    let trusted = known.get(socket);
    if (trusted === undefined) {
      const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined;
      trusted = certificate !== undefined && isIssuedBy(certificate, issuer) && isAllowed(certificate);
      known.set(socket, trusted);
    }
    return trusted;
  }

  function isAllowed(certificate: X509Certificate): boolean {
    return allowedNames.length === 0 || allowedNames.includes(shownSubject(certificate)?.commonName ?? '');
  }

  return {
    authenticate({ headers, rawHeaders, socket }) {
      const [username] = headerValues(rawHeaders, 'x-remote-user');
      if (!username || !isProxy(socket)) return undefined;
      const [uid] = headerValues(rawHeaders, 'x-remote-uid');
      const extra: { [key: string]: readonly string[] } = {};
      for (const name of Object.keys(headers)) {
        if (!name.startsWith(extraPrefix)) continue;
        extra[unescapedKey(name.slice(extraPrefix.length))] = headerValues(rawHeaders, name);
      }
      const user: User = { username, groups: headerValues(rawHeaders, 'x-remote-group') };
      return { ...user, ...(uid ? { uid } : {}), ...(Object.keys(extra).length > 0 ? { extra } : {}) };
    },
  };
}

/** Keys may hold what header names may not, percent-encoded. */
export function unescapedKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    // What is not well encoded was not encoded.
    return key;
  }
}
