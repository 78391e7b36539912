import type { X509Certificate } from 'node:crypto';
import { certificateSubject, type Subject } from '@kruise/machinery/x509/certificate';

/** Reports whether an authority issued a certificate. */
export function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

/** Reads the subject of a certificate as signers read that of a request; undefined if it cannot be read. */
export function shownSubject(certificate: X509Certificate): Subject | undefined {
  try {
    return certificateSubject(certificate.raw);
  } catch {
    // A subject that cannot be read authenticates no user.
    return undefined;
  }
}
