/** Validation of kubelet CSRs: client certificates and serving certificates. */
import { isIP } from 'node:net';
import type { CertificateRequest } from '@kruise/machinery/x509/certificate';

const nodeGroup = 'system:nodes';
const nodePrefix = 'system:node:';

/** Returns why a request is not a valid kubelet client certificate request; undefined if it is valid. */
export function validateClientRequest(request: CertificateRequest, usages: readonly string[]): string | undefined {
  if (!isForNodes(request)) return 'subject organization is not system:nodes';
  if (request.hosts.some((host) => isIP(host) === 0)) return 'DNS subjectAltNames are not allowed';
  if (request.emails.length > 0) return 'Email subjectAltNames are not allowed';
  if (request.hosts.length > 0) return 'IP subjectAltNames are not allowed';
  if (request.uris.length > 0) return 'URI subjectAltNames are not allowed';
  return validateName(request) ?? validateUsages(usages, 'client auth');
}

/** Returns why a request is not a valid kubelet serving certificate request; undefined if it is valid. */
export function validateServingRequest(request: CertificateRequest, usages: readonly string[]): string | undefined {
  if (!isForNodes(request)) return 'subject organization is not system:nodes';
  if (request.hosts.length === 0) return 'DNS or IP subjectAltName is required';
  if (request.emails.length > 0) return 'Email subjectAltNames are not allowed';
  if (request.uris.length > 0) return 'URI subjectAltNames are not allowed';
  return validateUsages(usages, 'server auth') ?? validateName(request);
}

function isForNodes({ subject: { organizations = [] } }: CertificateRequest): boolean {
  return organizations.length === 1 && organizations[0] === nodeGroup;
}

function validateName({ subject: { commonName } }: CertificateRequest): string | undefined {
  return commonName.startsWith(nodePrefix) ? undefined : 'subject common name does not begin with system:node:';
}

/** Keys other than RSA cannot encipher keys, so the "key encipherment" usage is optional. */
function validateUsages(usages: readonly string[], purpose: string): string | undefined {
  const wanted = [purpose, 'digital signature', 'key encipherment'].sort();
  const asked = new Set(usages);
  const others = wanted.filter((usage) => usage !== 'key encipherment');
  const isValid = asked.isSubsetOf(new Set(wanted)) && others.every((usage) => asked.has(usage));
  return isValid ? undefined : `usages did not match [${wanted.join(' ')}]`;
}
