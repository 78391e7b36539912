import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const certificateSigningRequestSpec = s.object(
  'io.k8s.api.certificates.v1.CertificateSigningRequestSpec',
  'Requested certificate. Immutable.',
  {
    request: s.required(1, s.bytes(), 'The PKCS#10 request, in PEM.', { listType: 'atomic' }),
    signerName: s.required(
      7,
      s.string(),
      'Name of the signer, for example kubernetes.io/kube-apiserver-client or example.com/my-signer.',
    ),
    expirationSeconds: s.pointer(
      8,
      s.int32(),
      'Requested lifetime of the certificate in seconds; at least 600. The signer may choose another one, which is in the certificate.',
    ),
    usages: s.optional(
      5,
      s.atomicList(
        s.oneOf('v1.KeyUsage', [
          'signing',
          'digital signature',
          'content commitment',
          'key encipherment',
          'key agreement',
          'data encipherment',
          'cert sign',
          'crl sign',
          'encipher only',
          'decipher only',
          'any',
          'server auth',
          'client auth',
          'code signing',
          'email protection',
          's/mime',
          'ipsec end system',
          'ipsec tunnel',
          'ipsec user',
          'timestamping',
          'ocsp signing',
          'microsoft sgc',
          'netscape sgc',
        ]),
      ),
      'Permitted usages of the key, for example digital signature and client auth. Signers differ in the usages that they allow.',
    ),
    username: s.optional(2, s.string(), 'Name of the requesting user. Set by the server.'),
    uid: s.optional(3, s.string(), 'UID of the requesting user. Set by the server.'),
    groups: s.optional(4, s.atomicList(s.string()), 'Groups of the requesting user. Set by the server.'),
    extra: s.optional(
      6,
      s.map(s.list(s.string(), { goType: 'v1.ExtraValue' })),
      'Additional information about the requesting user. Set by the server.',
    ),
  },
);
export type CertificateSigningRequestSpec = s.TypeOf<typeof certificateSigningRequestSpec>;

export const certificateSigningRequestCondition = s.object(
  'io.k8s.api.certificates.v1.CertificateSigningRequestCondition',
  'Decision about a request.',
  {
    type: s.required(
      1,
      s.string({ goType: 'v1.RequestConditionType' }),
      'Type: Approved, Denied or Failed. Approved and Denied exclude each other, and no condition can be removed.',
    ),
    status: s.required(
      6,
      s.string({ goType: 'v1.ConditionStatus' }),
      'True for Approved, Denied and Failed. Others may be False or Unknown.',
    ),
    reason: s.optional(2, s.string(), 'Machine-readable reason for the status.'),
    message: s.optional(3, s.string(), 'Human-readable message with details.'),
    lastUpdateTime: s.optional(4, s.time(), 'Time at which the condition was last updated.'),
    lastTransitionTime: s.optional(5, s.time(), 'Time at which the status of the condition last changed.'),
  },
);
export type CertificateSigningRequestCondition = s.TypeOf<typeof certificateSigningRequestCondition>;

export const certificateSigningRequestStatus = s.object(
  'io.k8s.api.certificates.v1.CertificateSigningRequestStatus',
  'Status of a request: decision and certificate.',
  {
    conditions: s.optional(
      1,
      s.listMap(certificateSigningRequestCondition, ['type']),
      'Conditions: Approved, Denied and Failed. Approval and denial are written through the approval subresource.',
    ),
    certificate: s.optional(
      2,
      s.bytes(),
      'Issued certificate and its intermediate certificates, in PEM. Immutable once set.',
      { listType: 'atomic' },
    ),
  },
);
export type CertificateSigningRequestStatus = s.TypeOf<typeof certificateSigningRequestStatus>;

export const certificateSigningRequest = kind(
  'io.k8s.api.certificates.v1.CertificateSigningRequest',
  'Requests an X.509 certificate, which an approver approves and a signer signs.',
  {
    group: 'certificates.k8s.io',
    version: 'v1',
    kind: 'CertificateSigningRequest',
    plural: 'certificatesigningrequests',
    scope: 'Cluster',
    shortNames: ['csr'],
    subresources: ['approval', 'status'],
    fields: {
      spec: s.required(2, certificateSigningRequestSpec, 'Specification: the request, the signer and the usages.'),
      status: s.optional(3, certificateSigningRequestStatus, 'Status: decision and certificate.'),
    },
  },
);
export type CertificateSigningRequest = s.TypeOf<typeof certificateSigningRequest>;
