import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CertificateSigningRequest } from '@kruise/api/certificates/certificatesigningrequest';
import { createRequest, generateKey } from '@kruise/machinery/x509/certificate';
import { approvalPermissionsFor } from './approval-permissions.ts';

const key = generateKey();

function requestOf({
  username = 'system:node:n',
  commonName = 'system:node:n',
  signerName = 'kubernetes.io/kube-apiserver-client-kubelet',
  condition = '',
  usages = ['digital signature', 'client auth'] as NonNullable<CertificateSigningRequest['spec']['usages']>,
}): CertificateSigningRequest {
  const request = createRequest({ commonName, organizations: ['system:nodes'] }, key);
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'r' },
    spec: { request: Buffer.from(request).toString('base64'), signerName, usages, username },
    status: condition ? { conditions: [{ type: condition, status: 'True' }] } : {},
  };
}

const cases: readonly { name: string; request: CertificateSigningRequest; permissions: string }[] = [
  { name: 'a node renews its own certificate', request: requestOf({}), permissions: 'selfnodeclient nodeclient' },
  {
    name: 'a user requests a certificate for a node',
    request: requestOf({ username: 'system:bootstrap:a' }),
    permissions: 'nodeclient',
  },
  {
    name: 'the request is not for a node',
    request: requestOf({ commonName: 'jane', username: 'jane' }),
    permissions: '',
  },
  {
    name: 'the request is for another signer',
    request: requestOf({ signerName: 'kubernetes.io/kubelet-serving' }),
    permissions: '',
  },
  {
    name: 'the request is for a serving certificate',
    request: requestOf({ usages: ['digital signature', 'server auth'] }),
    permissions: '',
  },
  { name: 'the request is approved', request: requestOf({ condition: 'Approved' }), permissions: '' },
  { name: 'the request is denied', request: requestOf({ condition: 'Denied' }), permissions: '' },
  {
    name: 'the request has failed, which is not a decision',
    request: requestOf({ condition: 'Failed' }),
    permissions: 'selfnodeclient nodeclient',
  },
];
for (const { name, request, permissions } of cases) {
  test(`permissions to approve when ${name}: ${permissions || 'none'}`, () => {
    assert.equal(
      approvalPermissionsFor(request)
        .map(({ subresource }) => subresource)
        .join(' '),
      permissions,
    );
  });
}
