import { X509Certificate } from 'node:crypto';
import { certificateSigningRequest } from '@kruise/api/certificates/certificatesigningrequest';
import { type Controller, defineController } from '@kruise/client/controller';
import type { CertificateAuthority } from '@kruise/machinery/x509/certificate';
import { decide } from './decide.ts';

const yearSeconds = 365 * 24 * 60 * 60;

/** CSR signing controller: signs approved requests for the built-in signers of Kubernetes. */
export function certificateSigningController(
  authority: CertificateAuthority,
  longestSeconds = yearSeconds,
): Controller {
  const notAfter = new X509Certificate(authority.certificate).validToDate.getTime();
  const signer = { notAfter, certify: authority.certify };
  return defineController({
    name: 'certificatesigningrequest-signing',
    for: certificateSigningRequest,
    observe(caches, key) {
      const request = caches.of(certificateSigningRequest).get(key);
      return request && { request, longestSeconds, signer };
    },
    decide,
  });
}
