import assert from 'node:assert/strict';
import { test } from 'node:test';
import { certificateSigningRequest } from '@kruise/api/certificates/certificatesigningrequest';
import { attributesOf, rawName, rawRequest, stringTypes } from '@kruise/machinery/testing/signing-request';
import { createRequest, generateKey } from '@kruise/machinery/x509/certificate';
import type { Authorizer } from '../../authorization/authorizer.ts';
import { admit, writeOf } from '../../testing/admission.ts';
import type { Attributes } from '../admission.ts';
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from './certificates.ts';

const mayFor = (...signers: readonly string[]): Authorizer => ({
  authorize: (wanted) => ({
    verdict: wanted.resource && signers.includes(`${wanted.verb} ${wanted.name}`) ? 'allow' : 'no-opinion',
    reason: '',
  }),
});
const request = (signerName: string, status: object = {}, ...organizations: readonly string[]) => ({
  metadata: { name: 'r' },
  spec: {
    signerName,
    request: Buffer.from(createRequest({ commonName: 'ann', organizations }, generateKey())).toString('base64'),
  },
  status,
});
const old = request('example.com/s');
const update = (subresource: string, status: object): Attributes =>
  writeOf(
    certificateSigningRequest,
    { ...old, status },
    {
      operation: 'UPDATE',
      subresource,
      // The plugin reads only these fields.
      oldObject: old as unknown as NonNullable<Attributes['oldObject']>,
    },
  );
const isRefused = (answer: unknown) => typeof answer === 'string' && answer.replace(/^.* is forbidden: /, '');

const approved = { conditions: [{ type: 'Approved', status: 'True' }] };

test('a user with the approve permission for a signer, or for its domain, may approve', async () => {
  for (const signer of ['approve example.com/s', 'approve example.com/*']) {
    assert.equal(isRefused(await admit(certificateApproval(mayFor(signer)), update('approval', approved))), false);
  }
});

test('a user without the approve permission may not approve', async () => {
  assert.equal(
    isRefused(
      await admit(
        certificateApproval(mayFor('sign example.com/s', 'approve example.org/*')),
        update('approval', approved),
      ),
    ),
    'user not permitted to approve requests with signerName "example.com/s"',
  );
});

test('only a user with the sign permission may sign', async () => {
  const signed = update('status', { certificate: 'AAAA' });
  assert.equal(isRefused(await admit(certificateSigning(mayFor('sign example.com/s')), signed)), false);
  assert.equal(
    isRefused(await admit(certificateSigning(mayFor()), signed)),
    'user not permitted to sign requests with signerName "example.com/s"',
  );
});

test('a status update without a new certificate needs no sign permission', async () => {
  assert.equal(isRefused(await admit(certificateSigning(mayFor()), update('status', {}))), false);
});

test('the client signer accepts no request for system:masters', async () => {
  const ask = (signer: string, ...groups: readonly string[]) =>
    admit(certificateSubjectRestriction, writeOf(certificateSigningRequest, request(signer, {}, ...groups)));
  const signer = 'kubernetes.io/kube-apiserver-client';
  assert.equal(
    isRefused(await ask(signer, 'team', 'system:masters')),
    'use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
  );
  assert.equal(isRefused(await ask(signer, 'team')), false);
  assert.equal(isRefused(await ask('example.com/s', 'system:masters')), false);
});

for (const [name, tag, encode] of stringTypes) {
  test(`the client signer finds system:masters in a ${name}`, async () => {
    const attributes = attributesOf(tag, encode, 'O=team', 'O=system:masters', 'CN=eve');
    const text = rawRequest(rawName([attributes]), generateKey());
    const signer = 'kubernetes.io/kube-apiserver-client';
    const asked = {
      metadata: { name: 'r' },
      spec: { signerName: signer, request: Buffer.from(text).toString('base64') },
    };
    assert.equal(
      isRefused(await admit(certificateSubjectRestriction, writeOf(certificateSigningRequest, asked))),
      'use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
    );
  });
}
