import type { X509Certificate } from 'node:crypto';
import { certificateSubject, type Subject } from '@kruise/machinery/x509/certificate';

/** Reports whether a CA issued a certificate. */
export function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

/**
 * Parses the subject of a certificate in the same way as signers parse the subject of a request; undefined if it is
 * invalid.
 */
export function parseSubject(certificate: X509Certificate): Subject | undefined {
  try {
    return certificateSubject(certificate.raw);
  } catch {
    // A subject that cannot be read authenticates no user.
    return undefined;
  }
}
