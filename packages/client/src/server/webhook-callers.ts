import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { certificateSubject } from '@kruise/machinery/x509/certificate';

/** Permitted clients of a webhook server: by client certificate, by token, or both. */
export type WebhookCallers = {
  /** CA bundle of the client certificates in PEM. */
  readonly authorities?: string | undefined;
  /** Permitted common names of client certificates; all if the list is empty. */
  readonly names?: readonly string[];
  /** Bearer token of the callers. */
  readonly token?: string | undefined;
};

/**
 * Reports whether a request comes from a permitted caller.
 *
 * ```ts
 * if (!isCaller(callers, request)) response.writeHead(403).end();
 * ```
 */
export function isCaller(callers: WebhookCallers, { socket, headers }: IncomingMessage): boolean {
  const { token = '', authorities } = callers;
  const isBearer = token !== '' && isEqual(headers.authorization ?? '', `Bearer ${token}`);
  // An HTTPS server passes TLS sockets to its request listeners.
  return isBearer || (authorities !== undefined && hasCertificate(callers, socket as TLSSocket));
}

/** Compares two texts in constant time. */
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
    // A subject that cannot be parsed does not match any permitted name.
    return false;
  }
}
