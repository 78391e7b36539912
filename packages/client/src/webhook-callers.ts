import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { certificateSubject } from '@kruise/machinery/x509/certificate';

/** The callers a webhook server answers: those with a certificate, those with a token, or both sorts. */
export type WebhookCallers = {
  /** The authorities that sign callers' certificates, as PEM text. */
  readonly authorities?: string | undefined;
  /** The common names such certificates may have; any, if it is empty. */
  readonly names?: readonly string[];
  /** What callers send as their bearer token. */
  readonly token?: string | undefined;
};

/** Tells whether a request is of one of the callers. */
export function isCaller(callers: WebhookCallers, { socket, headers }: IncomingMessage): boolean {
  const { token = '', authorities } = callers;
  const isBearer = token !== '' && isEqual(headers.authorization ?? '', `Bearer ${token}`);
  // Request listeners of an HTTPS server are given TLS sockets.
  return isBearer || (authorities !== undefined && hasCertificate(callers, socket as TLSSocket));
}

/** Compares in a time that does not depend on where two texts differ. */
function isEqual(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

function hasCertificate({ names = [] }: WebhookCallers, socket: TLSSocket): boolean {
  const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined;
  if (!certificate) return false;
  if (names.length === 0) return true;
  try {
    return names.includes(certificateSubject(certificate.raw).commonName);
  } catch {
    // A name nobody can read is none of those.
    return false;
  }
}
