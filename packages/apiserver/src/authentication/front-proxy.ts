import { X509Certificate } from 'node:crypto';
import type { User } from '../user.ts';
import { type Authenticator, headerValues } from './authenticator.ts';
import { isIssuedBy, parseSubject } from './certificate.ts';

export type FrontProxyOptions = {
  /** CA of the proxies' client certificates, as PEM. */
  readonly authority: string;
  /** Allowed common names of the proxies; any if empty. */
  readonly allowedNames: readonly string[];
};

const extraPrefix = 'x-remote-extra-';

/** Front-proxy authenticator: a proxy with a certificate of its own CA names the user in request headers. */
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
    return allowedNames.length === 0 || allowedNames.includes(parseSubject(certificate)?.commonName ?? '');
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

/** Decodes an extra key: characters that header names do not allow are percent-encoded. */
export function unescapedKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    // A key with an invalid encoding is taken literally.
    return key;
  }
}
