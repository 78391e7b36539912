import {
  type CertificateSigningRequest,
  certificateSigningRequest,
} from '@kruise/api/certificates/certificatesigningrequest';
import { isSame } from '@kruise/machinery/json-value';
import { readEncodedRequest } from '@kruise/machinery/x509/certificate';
import type { Authorizer } from '../../authorization/authorizer.ts';
import type { User } from '../../user.ts';
import { type AdmissionPlugin, type Attributes, forbiddenWrite, isResource, isWriteTo } from '../admission.ts';

const requestOf = (object: Attributes['object']) => object as unknown as CertificateSigningRequest;

function isPart({ operation, resource, subresource }: Attributes, part: string): boolean {
  return operation === 'UPDATE' && subresource === part && isResource(resource.kind, certificateSigningRequest);
}

/** Reports whether a user has a permission for a signer, or for all signers of the signer's domain. */
async function isSignerAllowed(authorizer: Authorizer, user: User, verb: string, signer: string): Promise<boolean> {
  for (const name of [signer, `${signer.split('/')[0]}/*`]) {
    const { verdict } = await authorizer.authorize({
      user,
      verb,
      resource: true,
      group: 'certificates.k8s.io',
      version: '*',
      plural: 'signers',
      subresource: '',
      namespace: '',
      name,
    });
    if (verdict === 'allow') return true;
  }
  return false;
}

/** CertificateApproval plugin: users who approve a CSR need the `approve` permission for its signer. */
export function certificateApproval(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'CertificateApproval',
    handles: (attributes) => isPart(attributes, 'approval'),
    async validate(attributes) {
      const { signerName } = requestOf(attributes.oldObject).spec;
      if (await isSignerAllowed(authorizer, attributes.context.user, 'approve', signerName)) return;
      throw forbiddenWrite(
        attributes,
        `user not permitted to approve requests with signerName ${JSON.stringify(signerName)}`,
      );
    },
  };
}

/** CertificateSigning plugin: users who sign a CSR need the `sign` permission for its signer. */
export function certificateSigning(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'CertificateSigning',
    handles: (attributes) => isPart(attributes, 'status'),
    async validate(attributes) {
      const [request, old] = [requestOf(attributes.object), requestOf(attributes.oldObject)];
      const isUnchanged =
        (request.status?.certificate ?? '') === (old.status?.certificate ?? '') &&
        isSame(request.status?.conditions ?? [], old.status?.conditions ?? []);
      const { signerName } = old.spec;
      if (isUnchanged || (await isSignerAllowed(authorizer, attributes.context.user, 'sign', signerName))) return;
      throw forbiddenWrite(
        attributes,
        `user not permitted to sign requests with signerName ${JSON.stringify(signerName)}`,
      );
    },
  };
}

/**
 * CertificateSubjectRestriction plugin: the cluster's own signer issues no certificate for system:masters, because such
 * a certificate cannot be revoked.
 */
export const certificateSubjectRestriction: AdmissionPlugin = {
  name: 'CertificateSubjectRestriction',
  handles: (attributes) => attributes.operation === 'CREATE' && isWriteTo(attributes, certificateSigningRequest),
  validate(attributes) {
    const { signerName, request } = requestOf(attributes.object).spec;
    if (signerName !== 'kubernetes.io/kube-apiserver-client') return;
    // Validation has already parsed the request.
    const { subject } = readEncodedRequest(request);
    if (subject.organizations?.includes('system:masters')) {
      throw forbiddenWrite(
        attributes,
        'use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
      );
    }
  },
};
