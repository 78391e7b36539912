import type { CertificateSigningRequest } from '@kruise/api/certificates/certificatesigningrequest';
import { findCondition } from '@kruise/machinery/conditions';
import { readEncodedRequest } from '@kruise/machinery/x509/certificate';
import { clientFault } from '../certificatesigningrequest-signing/kubelet-requests.ts';

/** A permission that is sufficient to approve a request if the requester has it. */
export type Ground = { readonly subresource: 'selfnodeclient' | 'nodeclient'; readonly message: string };

const self: Ground = {
  subresource: 'selfnodeclient',
  message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
};
const any: Ground = {
  subresource: 'nodeclient',
  message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
};

/**
 * Returns the permissions that allow automatic approval of a request; empty if the request is already approved or
 * denied.
 */
export function groundsFor({ spec, status }: CertificateSigningRequest): readonly Ground[] {
  const { conditions, certificate } = status ?? {};
  if (certificate || findCondition(conditions, 'Approved') || findCondition(conditions, 'Denied')) return [];
  if (spec.signerName !== 'kubernetes.io/kube-apiserver-client-kubelet') return [];
  const asked = readEncodedRequest(spec.request);
  if (clientFault(asked, spec.usages ?? []) !== undefined) return [];
  return spec.username === asked.subject.commonName ? [self, any] : [any];
}
