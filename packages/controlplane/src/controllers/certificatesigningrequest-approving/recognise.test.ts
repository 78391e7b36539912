import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CertificateSigningRequest } from '@kruise/api/certificates/certificatesigningrequest';
import { createRequest, generateKey } from '@kruise/machinery/x509/certificate';
import { groundsFor } from './recognise.ts';

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

const cases: readonly { name: string; request: CertificateSigningRequest; grounds: string }[] = [
  { name: 'a node renews its own', request: requestOf({}), grounds: 'selfnodeclient nodeclient' },
  { name: 'someone asks for a node', request: requestOf({ username: 'system:bootstrap:a' }), grounds: 'nodeclient' },
  { name: 'it is for no node', request: requestOf({ commonName: 'jane', username: 'jane' }), grounds: '' },
  {
    name: 'it is for another signer',
    request: requestOf({ signerName: 'kubernetes.io/kubelet-serving' }),
    grounds: '',
  },
  { name: 'it is to serve with', request: requestOf({ usages: ['digital signature', 'server auth'] }), grounds: '' },
  { name: 'it is approved', request: requestOf({ condition: 'Approved' }), grounds: '' },
  { name: 'it is denied', request: requestOf({ condition: 'Denied' }), grounds: '' },
  {
    name: 'it has failed, which is no decision',
    request: requestOf({ condition: 'Failed' }),
    grounds: 'selfnodeclient nodeclient',
  },
];
for (const { name, request, grounds } of cases) {
  test(`grounds to approve where ${name}: ${grounds || 'none'}`, () => {
    assert.equal(
      groundsFor(request)
        .map(({ subresource }) => subresource)
        .join(' '),
      grounds,
    );
  });
}
