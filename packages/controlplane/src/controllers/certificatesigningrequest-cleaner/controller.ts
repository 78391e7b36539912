import { certificateSigningRequest } from '@kruise/api/certificates/certificatesigningrequest';
import { type Controller, defineController } from '@kruise/client/controller';
import { decide } from './decide.ts';

/** CSR cleaner controller: deletes old CertificateSigningRequests. */
export const certificateCleanerController: Controller = defineController({
  name: 'certificatesigningrequest-cleaner',
  for: certificateSigningRequest,
  workers: 1,
  observe: (caches, key) => caches.of(certificateSigningRequest).get(key),
  decide,
});
