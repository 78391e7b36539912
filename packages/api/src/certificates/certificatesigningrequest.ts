import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const certificateSigningRequestSpec = s.object(
  'io.k8s.api.certificates.v1.CertificateSigningRequestSpec',
  'The certificate that is asked for. Cannot be changed.',
  {
    request: s.required(1, s.bytes(), 'The PKCS#10 request, in PEM.', { listType: 'atomic' }),
    signerName: s.required(
      7,
      s.string(),
      'Who is to sign, such as kubernetes.io/kube-apiserver-client or example.com/my-signer.',
    ),
    expirationSeconds: s.pointer(
      8,
      s.int32(),
      'How long it is to be good for; at least 600. The signer may decide otherwise, and says so in the certificate.',
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
      'What the key may be used for, such as digital signature and client auth. Signers differ in what they allow.',
    ),
    username: s.optional(2, s.string(), 'Who asked. Filled in by the server.'),
    uid: s.optional(3, s.string(), 'The uid of who asked. Filled in by the server.'),
    groups: s.optional(4, s.atomicList(s.string()), 'The groups of who asked. Filled in by the server.'),
    extra: s.optional(
      6,
      s.map(s.list(s.string(), { goType: 'v1.ExtraValue' })),
      'What else is known of who asked. Filled in by the server.',
    ),
  },
);
export type CertificateSigningRequestSpec = s.TypeOf<typeof certificateSigningRequestSpec>;

export const certificateSigningRequestCondition = s.object(
  'io.k8s.api.certificates.v1.CertificateSigningRequestCondition',
  'What was decided about a request.',
  {
    type: s.required(
      1,
      s.string({ goType: 'v1.RequestConditionType' }),
      'Approved, Denied or Failed. Approved and Denied exclude each other, and none is ever taken back.',
    ),
    status: s.required(
      6,
      s.string({ goType: 'v1.ConditionStatus' }),
      'True for Approved, Denied and Failed. Others may be False or Unknown.',
    ),
    reason: s.optional(2, s.string(), 'Machine-readable reason for the status.'),
    message: s.optional(3, s.string(), 'Human-readable message with details.'),
    lastUpdateTime: s.optional(4, s.time(), 'When the condition was last written.'),
    lastTransitionTime: s.optional(5, s.time(), 'When the status last changed.'),
  },
);
export type CertificateSigningRequestCondition = s.TypeOf<typeof certificateSigningRequestCondition>;

export const certificateSigningRequestStatus = s.object(
  'io.k8s.api.certificates.v1.CertificateSigningRequestStatus',
  'What became of a request.',
  {
    conditions: s.optional(
      1,
      s.listMap(certificateSigningRequestCondition, ['type']),
      'What was decided. Approval and denial are written through the approval subresource.',
    ),
    certificate: s.optional(
      2,
      s.bytes(),
      'The certificate and those above it, in PEM, once it is signed. Cannot be changed then.',
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
      spec: s.required(2, certificateSigningRequestSpec, 'What is asked for.'),
      status: s.optional(3, certificateSigningRequestStatus, 'What became of it.'),
    },
  },
);
export type CertificateSigningRequest = s.TypeOf<typeof certificateSigningRequest>;
