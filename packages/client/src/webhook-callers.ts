import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { certificateSubject } from '@kruise/machinery/x509/certificate';

/** The clients that a webhook server answers: by certificate, by token, or by either. */
export type WebhookCallers = {
  /** The authorities that sign callers' certificates, as PEM text. */
  readonly authorities?: string | undefined;
  /** The common names such certificates may have; any, if the list is empty. */
  readonly names?: readonly string[];
  /** Bearer token of the callers. */
  readonly token?: string | undefined;
};

/** Reports whether one of the callers sent a request. */
export function isCaller(callers: WebhookCallers, { socket, headers }: IncomingMessage): boolean {
  const { token = '', authorities } = callers;
  const isBearer = token !== '' && isEqual(headers.authorization ?? '', `Bearer ${token}`);
  // An HTTPS server passes TLS sockets to its request listeners.
  return isBearer || (authorities !== undefined && hasCertificate(callers, socket as TLSSocket));
}

/** Compares two texts in a time that does not depend on where they differ. */
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
    // A subject that cannot be read is none of the allowed names.
    return false;
  }
}
