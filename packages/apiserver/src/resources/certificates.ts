import type { CertificateSigningRequest } from '@kruise/api/certificates/certificatesigningrequest';
import { fieldPath } from '@kruise/machinery/field-set/field-path';
import { fieldSetOf } from '@kruise/machinery/field-set/field-set';
import {
  keepRequest,
  prepareApproval,
  prepareRequest,
  prepareSigning,
  validateRequest,
  validateRequestUpdate,
} from './certificate-signing-request.ts';
import { type RulesByResource, rulesFor } from './rules.ts';

const spec = fieldPath('spec');

export const certificateRules: RulesByResource = {
  'certificatesigningrequests.certificates.k8s.io': rulesFor<CertificateSigningRequest>({
    generation: 'none',
    resetFields: fieldSetOf(spec, fieldPath('status')),
    prepareForCreate: prepareRequest,
    prepareForUpdate: keepRequest,
    validate: (request) => validateRequest(request),
    validateUpdate: (request, old) => validateRequestUpdate(request, old, { approval: false, certificate: false }),
    statusResetFields: fieldSetOf(spec, fieldPath('status', 'conditions')),
    prepareForStatusUpdate: prepareSigning,
    validateStatusUpdate: (request, old) => validateRequestUpdate(request, old, { approval: false, certificate: true }),
    parts: {
      approval: {
        verbs: ['get', 'patch', 'update'],
        resetFields: fieldSetOf(spec, fieldPath('status', 'certificate')),
        prepareForUpdate(draft, old, context) {
          keepRequest(draft, old);
          prepareApproval(draft, old, context);
        },
        validateUpdate: (request, old) => validateRequestUpdate(request, old, { approval: true, certificate: false }),
      },
    },
  }),
};
