import type { CertificateSigningRequest } from '@kruise/api/certificates/certificatesigningrequest';
import { findCondition } from '@kruise/machinery/conditions';
import { readEncodedRequest } from '@kruise/machinery/x509/certificate';
import { validateClientRequest } from '../certificatesigningrequest-signing/kubelet-requests.ts';

/** A permission that is sufficient to approve a request if the requester has it. */
export type ApprovalPermission = { readonly subresource: 'selfnodeclient' | 'nodeclient'; readonly message: string };

const self: ApprovalPermission = {
  subresource: 'selfnodeclient',
  message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
};
const any: ApprovalPermission = {
  subresource: 'nodeclient',
  message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
};

/**
 * Returns the permissions that allow automatic approval of a request; empty if the request is already approved or
 * denied.
 */
export function approvalPermissionsFor({ spec, status }: CertificateSigningRequest): readonly ApprovalPermission[] {
  const { conditions, certificate } = status ?? {};
  if (certificate || findCondition(conditions, 'Approved') || findCondition(conditions, 'Denied')) return [];
  if (spec.signerName !== 'kubernetes.io/kube-apiserver-client-kubelet') return [];
  const parsed = readEncodedRequest(spec.request);
  if (validateClientRequest(parsed, spec.usages ?? []) !== undefined) return [];
  return spec.username === parsed.subject.commonName ? [self, any] : [any];
}
