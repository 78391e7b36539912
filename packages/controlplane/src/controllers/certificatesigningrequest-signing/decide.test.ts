import assert from 'node:assert/strict';
import { createPublicKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { CertificateSigningRequest } from '@kruise/api/certificates/certificatesigningrequest';
import {
  createCertificateAuthority,
  createRequest,
  generateKey,
  type Subject,
} from '@kruise/machinery/x509/certificate';
import { instantOf } from '@kruise/values/time';
import { objectAfter } from '../../testing/execute-actions.ts';
import { decide } from './decide.ts';

const now = instantOf(2026, 1, 1);
const [hour, day] = [3600, 86_400];
const authority = createCertificateAuthority('ca', now);
const key = generateKey();
const node: Subject = { commonName: 'system:node:n', organizations: ['system:nodes'] };
const builtInSigner = (name: string) => `kubernetes.io/${name}`;
const [apiClient, kubeletClient, kubeletServing, legacy] = [
  builtInSigner('kube-apiserver-client'),
  builtInSigner('kube-apiserver-client-kubelet'),
  builtInSigner('kubelet-serving'),
  builtInSigner('legacy-unknown'),
] as const;
type Usages = NonNullable<CertificateSigningRequest['spec']['usages']>;
const clientUsages: Usages = ['digital signature', 'key encipherment', 'client auth'];
const servingUsages: Usages = ['digital signature', 'server auth'];

type Asked = {
  readonly signerName: string;
  readonly subject?: Subject;
  readonly hosts?: readonly string[];
  readonly usages?: Usages;
  readonly expirationSeconds?: number;
  readonly conditions?: readonly string[];
  readonly certificate?: string;
};

function requestOf(asked: Asked): CertificateSigningRequest {
  const { signerName, subject = node, hosts = [], usages = clientUsages, expirationSeconds, certificate } = asked;
  const conditions = (asked.conditions ?? ['Approved']).map((type) => ({ type, status: 'True' }));
  const request = Buffer.from(createRequest(subject, key, hosts)).toString('base64');
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'r' },
    spec: { request, signerName, usages, ...(expirationSeconds ? { expirationSeconds } : {}) },
    status: { conditions, ...(certificate ? { certificate } : {}) },
  };
}

function sign(
  asked: Asked,
  signer: Parameters<typeof decide>[0]['signer'] = { notAfter: now + 3650 * day * 1000, ...authority },
) {
  const { status } = decide({ request: requestOf(asked), longestSeconds: 365 * day, signer }, now);
  return status as CertificateSigningRequest['status'] | undefined;
}

const cases: readonly {
  readonly name: string;
  readonly asked: Asked;
  readonly comes: 'nothing' | 'certificate' | string;
}[] = [
  { name: 'signs a kubelet client certificate', asked: { signerName: kubeletClient }, comes: 'certificate' },
  {
    name: 'allows keys other than RSA to omit key encipherment',
    asked: { signerName: kubeletClient, usages: ['digital signature', 'client auth'] },
    comes: 'certificate',
  },
  {
    name: 'ignores a request that is not approved',
    asked: { signerName: kubeletClient, conditions: [] },
    comes: 'nothing',
  },
  {
    name: 'ignores a denied request',
    asked: { signerName: kubeletClient, conditions: ['Approved', 'Denied'] },
    comes: 'nothing',
  },
  {
    name: 'ignores a failed request',
    asked: { signerName: kubeletClient, conditions: ['Approved', 'Failed'] },
    comes: 'nothing',
  },
  { name: 'ignores a signed request', asked: { signerName: kubeletClient, certificate: 'x' }, comes: 'nothing' },
  { name: 'ignores requests for other signers', asked: { signerName: 'example.com/signer' }, comes: 'nothing' },
  {
    name: 'requires the nodes group of kubelets',
    asked: { signerName: kubeletClient, subject: { commonName: 'system:node:n', organizations: ['system:masters'] } },
    comes: 'subject organization is not system:nodes',
  },
  {
    name: 'allows kubelets no other groups',
    asked: {
      signerName: kubeletClient,
      subject: { commonName: 'system:node:n', organizations: ['system:nodes', 'more'] },
    },
    comes: 'subject organization is not system:nodes',
  },
  {
    name: 'requires the node name prefix of kubelets',
    asked: { signerName: kubeletClient, subject: { commonName: 'n', organizations: ['system:nodes'] } },
    comes: 'subject common name does not begin with system:node:',
  },
  {
    name: 'allows no DNS names in kubelet client certificates',
    asked: { signerName: kubeletClient, hosts: ['n.example'] },
    comes: 'DNS subjectAltNames are not allowed',
  },
  {
    name: 'allows no IP addresses in kubelet client certificates',
    asked: { signerName: kubeletClient, hosts: ['10.0.0.1'] },
    comes: 'IP subjectAltNames are not allowed',
  },
  {
    name: 'allows no server usage in client certificates',
    asked: { signerName: kubeletClient, usages: [...clientUsages, 'server auth'] },
    comes: 'usages did not match [client auth digital signature key encipherment]',
  },
  {
    name: 'signs a kubelet serving certificate',
    asked: { signerName: kubeletServing, hosts: ['n.example', '10.0.0.1'], usages: servingUsages },
    comes: 'certificate',
  },
  {
    name: 'requires a DNS name or IP address in serving certificates',
    asked: { signerName: kubeletServing, usages: servingUsages },
    comes: 'DNS or IP subjectAltName is required',
  },
  {
    name: 'allows no client usage in serving certificates',
    asked: { signerName: kubeletServing, hosts: ['n.example'] },
    comes: 'usages did not match [digital signature key encipherment server auth]',
  },
  {
    name: 'signs for any client',
    asked: { signerName: apiClient, subject: { commonName: 'jane' }, usages: ['client auth'] },
    comes: 'certificate',
  },
  {
    name: 'requires the client usage of clients',
    asked: { signerName: apiClient, usages: ['digital signature'] },
    comes: 'missing required usage for client certificate: client auth',
  },
  {
    name: 'allows clients no other usage',
    asked: { signerName: apiClient, usages: ['client auth', 'code signing'] },
    comes: 'invalid usage for client certificate: code signing',
  },
  {
    name: 'does not validate requests for the legacy signer',
    asked: { signerName: legacy, subject: { commonName: 'anyone' }, usages: ['code signing'] },
    comes: 'certificate',
  },
];
for (const { name, asked, comes } of cases) {
  test(name, () => {
    const status = sign(asked);
    const failure = status?.conditions?.find(({ type }) => type === 'Failed');
    const actual = status?.certificate ? 'certificate' : failure ? `${failure.message}` : 'nothing';
    assert.equal(actual, comes);
    if (failure) assert.deepEqual([failure.status, failure.reason], ['True', 'SignerValidationFailure']);
  });
}

test('a certificate is issued to the requester by the CA', () => {
  const { certificate = '' } =
    sign({ signerName: kubeletServing, hosts: ['n.example', '10.0.0.1'], usages: servingUsages }) ?? {};
  const signed = new X509Certificate(Buffer.from(certificate, 'base64'));
  assert.ok(signed.checkIssued(new X509Certificate(authority.certificate)));
  assert.equal(signed.subject, 'O=system:nodes\nCN=system:node:n');
  assert.equal(signed.subjectAltName, 'DNS:n.example, IP Address:10.0.0.1');
  assert.deepEqual(signed.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  assert.ok(signed.publicKey.equals(createPublicKey(key)));
});

const times: readonly { name: string; asked?: number; signerEnds?: number; from: number; to: number }[] = [
  { name: 'for the maximum lifetime by default, backdated', from: -300, to: 365 * day - 300 },
  { name: 'for at most the maximum lifetime', asked: 1000 * day, from: -300, to: 365 * day - 300 },
  { name: 'for the requested lifetime', asked: 9 * hour, from: -300, to: 9 * hour - 300 },
  { name: 'for its full lifetime from now if that is short', asked: hour, from: -300, to: hour },
  { name: 'for at least ten minutes', asked: 60, from: -300, to: 600 },
  { name: 'at most as long as the CA', signerEnds: 5 * day, from: -300, to: 5 * day },
];
for (const { name, asked, signerEnds = 3650 * day, from, to } of times) {
  test(`a certificate is valid ${name}`, () => {
    const request = { signerName: kubeletClient, ...(asked ? { expirationSeconds: asked } : {}) };
    const { certificate = '' } = sign(request, { ...authority, notAfter: now + signerEnds * 1000 }) ?? {};
    const { validFromDate, validToDate } = new X509Certificate(Buffer.from(certificate, 'base64'));
    assert.deepEqual([validFromDate.getTime(), validToDate.getTime()], [now + from * 1000, now + to * 1000]);
  });
}

test('an expired CA signs nothing', () => {
  assert.throws(() => sign({ signerName: kubeletClient }, { ...authority, notAfter: now }), /the signer has expired/);
});

test('a request is signed or rejected once', () => {
  for (const { asked } of cases) {
    const request = requestOf(asked);
    const signer = { notAfter: now + 3650 * day * 1000, ...authority };
    const after = objectAfter(request, decide({ request, longestSeconds: day, signer }, now))!;
    assert.deepEqual(decide({ request: after, longestSeconds: day, signer }, now), { actions: [] });
  }
});
