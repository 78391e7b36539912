import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const certificateSigningRequestSpec = s.object('io.k8s.api.certificates.v1.CertificateSigningRequestSpec', '', {
  request: s.required(1, s.bytes(), ''),
  signerName: s.required(7, s.string(), ''),
  expirationSeconds: s.pointer(8, s.int32(), ''),
  usages: s.optional(5, s.atomicList(s.oneOf('v1.KeyUsage', ['signing', 'digital signature', 'content commitment', 'key encipherment', 'key agreement', 'data encipherment', 'cert sign', 'crl sign', 'encipher only', 'decipher only', 'any', 'server auth', 'client auth', 'code signing', 'email protection', 's/mime', 'ipsec end system', 'ipsec tunnel', 'ipsec user', 'timestamping', 'ocsp signing', 'microsoft sgc', 'netscape sgc'])), ''),
  username: s.optional(2, s.string(), ''),
  uid: s.optional(3, s.string(), ''),
  groups: s.optional(4, s.atomicList(s.string()), ''),
  extra: s.optional(6, s.map(s.list(s.string(), { goType: 'v1.ExtraValue' })), ''),
});
export type CertificateSigningRequestSpec = s.TypeOf<typeof certificateSigningRequestSpec>;

export const certificateSigningRequestCondition = s.object('io.k8s.api.certificates.v1.CertificateSigningRequestCondition', '', {
  type: s.required(1, s.string({ goType: 'v1.RequestConditionType' }), ''),
  status: s.required(6, s.string({ goType: 'v1.ConditionStatus' }), ''),
  reason: s.optional(2, s.string(), ''),
  message: s.optional(3, s.string(), ''),
  lastUpdateTime: s.optional(4, s.time(), ''),
  lastTransitionTime: s.optional(5, s.time(), ''),
});
export type CertificateSigningRequestCondition = s.TypeOf<typeof certificateSigningRequestCondition>;

export const certificateSigningRequestStatus = s.object('io.k8s.api.certificates.v1.CertificateSigningRequestStatus', '', {
  conditions: s.optional(1, s.listMap(certificateSigningRequestCondition, ['type']), ''),
  certificate: s.optional(2, s.bytes(), ''),
});
export type CertificateSigningRequestStatus = s.TypeOf<typeof certificateSigningRequestStatus>;

export const certificateSigningRequest = kind('io.k8s.api.certificates.v1.CertificateSigningRequest', '', {
  group: 'certificates.k8s.io',
  version: 'v1',
  kind: 'CertificateSigningRequest',
  plural: 'certificatesigningrequests',
  scope: 'Cluster',
  shortNames: ['csr'],
  subresources: ['approval', 'status'],
  fields: {
    spec: s.required(2, certificateSigningRequestSpec, ''),
    status: s.optional(3, certificateSigningRequestStatus, ''),
  },
});
export type CertificateSigningRequest = s.TypeOf<typeof certificateSigningRequest>;
