import { createHash } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { User } from '../user.ts';
import type { Authenticator } from './authenticator.ts';

/** A client certificate of the cluster's authority says who its bearer is: the common name, and groups. */
export function clientCertificates(): Authenticator {
  // A connection shows its certificate once; its requests are all from the same user.
  const known = new WeakMap<object, User | null>();
  return {
    authenticate({ socket }) {
      const found = known.get(socket);
      if (found !== undefined) return found ?? undefined;
      const user = userOf(socket);
      known.set(socket, user ?? null);
      return user;
    },
  };
}

function userOf(socket: TLSSocket): User | undefined {
  if (!socket.authorized) return undefined;
  const certificate = socket.getPeerCertificate();
  const { CN: commonName, O: organization } = (certificate.subject ?? {}) as { CN?: string; O?: string | string[] };
  if (!commonName || Array.isArray(commonName)) return undefined;
  const usages = certificate.ext_key_usage;
  if (usages && !usages.includes('1.3.6.1.5.5.7.3.2')) return undefined;
  const fingerprint = createHash('sha256').update(certificate.raw).digest('hex');
  return {
    username: commonName,
    groups: organization === undefined ? [] : [organization].flat(),
    extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`] },
  };
}
