/** TLS certificates of the webhook server, which kruise-manager issues and renews itself. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { createCertificateAuthority, loadCertificateAuthority } from '@kruise/machinery/x509/certificate';
import type { Instant } from '@kruise/values/time';

/** A certificate authority and a certificate that it signed, with the keys of both, in PEM. */
export type WebhookCertificates = {
  readonly authorityKey: string;
  readonly authorityCertificate: string;
  readonly key: string;
  readonly certificate: string;
};

const years = 10;
const dayMs = 86_400_000;
const yearMs = 365 * dayMs;

/** Reports whether the certificate is valid for a host at a time, and matches its key. */
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
    // A certificate that cannot be parsed is invalid.
    return false;
  }
}

/**
 * Issues a certificate. The previous authority signs it if the authority is valid for another year, otherwise a new one
 * does.
 */
export function newCertificates(host: string, now: Instant, previous?: WebhookCertificates): WebhookCertificates {
  const signer = previous && keptAuthority(previous, now + yearMs);
  const {
    issue,
    certificate: authorityCertificate,
    key: authorityKey,
  } = signer ?? createCertificateAuthority('webhook-cert-ca', now, years * 365);
  const { certificate, key } = issue({
    subject: { commonName: host },
    usages: ['server auth'],
    // The readiness probe connects to the webhook server on the same machine.
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
    return isGood ? loadCertificateAuthority({ certificate, key }, privateKey) : undefined;
  } catch {
    return undefined;
  }
}

function isWithin({ validFrom, validTo }: X509Certificate, at: Instant): boolean {
  return Date.parse(validFrom) <= at && at <= Date.parse(validTo);
}

/** Returns the certificates by file name or Secret key. Other webhook servers read the second name of each pair. */
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

/** Reads certificates from files or Secret keys. Missing ones are empty. */
export function certificatesIn(files: { readonly [name: string]: string | undefined }): WebhookCertificates {
  return {
    authorityKey: files['ca-key.pem'] ?? '',
    authorityCertificate: files['ca-cert.pem'] ?? '',
    key: files['key.pem'] ?? '',
    certificate: files['cert.pem'] ?? '',
  };
}
