import { createHash, X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { User } from '../user.ts';
import type { Authenticator } from './authenticator.ts';
import { isIssuedBy, parseSubject } from './certificate.ts';

/** Client certificate authenticator: the common name is the user, and the organizations are the groups. */
export function clientCertificates(authority: string): Authenticator {
  const issuer = new X509Certificate(authority);
  // All requests of a connection have the same client certificate, so the user is memoized per connection.
  const known = new WeakMap<object, User | null>();
  return {
    authenticate({ socket }) {
      const found = known.get(socket);
      if (found !== undefined) return found ?? undefined;
      const user = userOf(socket, issuer);
      known.set(socket, user ?? null);
      return user;
    },
  };
}

/** Extended key usages of certificates that clients may present: client auth, or any. */
const clientUsages: ReadonlySet<string> = new Set(['1.3.6.1.5.5.7.3.2', '2.5.29.37.0']);

function userOf(socket: TLSSocket, issuer: X509Certificate): User | undefined {
  const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined;
  // The certificate of a front proxy has another CA and does not identify a user.
  if (!certificate || !isIssuedBy(certificate, issuer)) return undefined;
  const subject = parseSubject(certificate);
  if (!subject?.commonName) return undefined;
  const usages: readonly string[] | undefined = certificate.keyUsage;
  if (usages && !usages.some((usage) => clientUsages.has(usage))) return undefined;
  const fingerprint = createHash('sha256').update(certificate.raw).digest('hex');
  return {
    username: subject.commonName,
    groups: subject.organizations ?? [],
    extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`] },
  };
}
