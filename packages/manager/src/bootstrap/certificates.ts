/** The certificates webhooks are served with, made and renewed by kruise-manager itself (manager.md §10.3). */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { authority, createAuthority } from '@kruise/machinery/x509/certificate';
import type { Instant } from '@kruise/values/time';

/** An authority and a certificate it signed, with the keys of both, as PEM text. */
export type WebhookCertificates = {
  readonly authorityKey: string;
  readonly authorityCertificate: string;
  readonly key: string;
  readonly certificate: string;
};

const years = 10;
const dayMs = 86_400_000;
const yearMs = 365 * dayMs;

/** Whether the certificate is good for a host at a time, and its key fits. */
export function areValid(certificates: WebhookCertificates, host: string, at: Instant): boolean {
  try {
    const certificate = new X509Certificate(certificates.certificate);
    const signer = new X509Certificate(certificates.authorityCertificate);
    return (
      certificate.checkPrivateKey(createPrivateKey(certificates.key)) &&
      certificate.verify(signer.publicKey) &&
      isWithin(certificate, at) &&
      isWithin(signer, at) &&
      (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined
    );
  } catch {
    // What cannot be read is no certificate.
    return false;
  }
}

/** A new certificate, signed by the authority there was, if that is good for another year, or by a new one. */
export function newCertificates(host: string, now: Instant, previous?: WebhookCertificates): WebhookCertificates {
  const signer = previous && keptAuthority(previous, now + yearMs);
  const {
    issue,
    certificate: authorityCertificate,
    key: authorityKey,
  } = signer ?? createAuthority('webhook-cert-ca', now, years * 365);
  const { certificate, key } = issue({
    subject: { commonName: host },
    usages: ['server auth'],
    // Readiness is judged by asking the webhook server on this very machine.
    hosts: ['localhost', host],
    nowMs: now,
    validDays: years * 365,
  });
  return { authorityKey, authorityCertificate, key, certificate };
}

function keptAuthority({ authorityCertificate: certificate, authorityKey: key }: WebhookCertificates, at: Instant) {
  try {
    const found = new X509Certificate(certificate);
    const privateKey = createPrivateKey(key);
    const isGood = found.ca && found.checkPrivateKey(privateKey) && isWithin(found, at);
    return isGood ? authority({ certificate, key }, privateKey) : undefined;
  } catch {
    return undefined;
  }
}

function isWithin({ validFrom, validTo }: X509Certificate, at: Instant): boolean {
  return Date.parse(validFrom) <= at && at <= Date.parse(validTo);
}

/** The files and Secret keys they are kept under; servers of other makes look for the second name of a pair. */
export function filesOf(certificates: WebhookCertificates): { readonly [name: string]: string } {
  const { authorityKey, authorityCertificate, key, certificate } = certificates;
  return {
    'ca-key.pem': authorityKey,
    'ca-cert.pem': authorityCertificate,
    'cert.pem': certificate,
    'tls.crt': certificate,
    'key.pem': key,
    'tls.key': key,
  };
}

/** The certificates in files or Secret keys; missing ones are empty. */
export function certificatesIn(files: { readonly [name: string]: string | undefined }): WebhookCertificates {
  return {
    authorityKey: files['ca-key.pem'] ?? '',
    authorityCertificate: files['ca-cert.pem'] ?? '',
    key: files['key.pem'] ?? '',
    certificate: files['cert.pem'] ?? '',
  };
}
