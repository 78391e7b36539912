import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type CertificateSigningRequest,
  certificateSigningRequest,
} from '@kruise/api/certificates/certificatesigningrequest';
import { StatusError } from '@kruise/machinery/status';
import { createCertificateAuthority, createRequest, generateKey } from '@kruise/machinery/x509/certificate';
import { startTestServer, type TestServer } from '../testing/test-server.ts';

let server: TestServer;
let made = 0;

before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const request = Buffer.from(createRequest({ commonName: 'ann' }, generateKey())).toString('base64');
const certificate = Buffer.from(createCertificateAuthority('ca', 0).certificate).toString('base64');
const asked = { request, signerName: 'example.com/s', usages: ['client auth'] };

const create = (spec: object = {}) =>
  server.client.create(certificateSigningRequest, {
    metadata: { name: `r-${++made}` },
    spec: { ...asked, ...spec } as CertificateSigningRequest['spec'],
  });
const write = (object: CertificateSigningRequest, subresource: 'approval' | 'status', status: object) =>
  server.client.patch(
    certificateSigningRequest,
    { name: object.metadata.name! },
    { status },
    { type: 'merge', subresource },
  );
const condition = (type: string, status = 'True') => ({ conditions: [{ type, status, reason: 'R' }] });

async function faults(promise: Promise<unknown>): Promise<readonly string[]> {
  try {
    await promise;
    return [];
  } catch (error) {
    assert.ok(error instanceof StatusError);
    return (error.status.details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`);
  }
}

test('a CSR names its creator, whatever the client sends', async () => {
  const { spec } = await create({ username: 'root', groups: ['system:masters'] });
  assert.deepEqual([spec.username, spec.groups], ['test-admin', ['system:masters', 'system:authenticated']]);
});

test('the spec of a CSR is immutable', async () => {
  const object = await create();
  const spec = { ...object.spec, signerName: 'example.com/other' };
  assert.equal(
    (await server.client.update(certificateSigningRequest, { ...object, spec })).spec.signerName,
    'example.com/s',
  );
});

const wrong: readonly [name: string, spec: object, fault: RegExp][] = [
  [
    'is not a certificate request',
    { request: 'bm90aGluZw==' },
    /^spec\.request: .*PEM block type must be CERTIFICATE REQUEST$/,
  ],
  ['has no usages', { usages: [] }, /^spec\.usages: Required value$/],
  ['has an unknown usage', { usages: ['odd'] }, /^spec\.usages\[0\]: Unsupported value: "odd"/],
  ['has a duplicate usage', { usages: ['any', 'any'] }, /^spec\.usages\[1\]: Duplicate value: "any"$/],
  ['has too short an expiration', { expirationSeconds: 599 }, /less than 600 seconds/],
  ['has no signer', { signerName: '' }, /^spec\.signerName: Required value$/],
  ['has a signer without a path', { signerName: 'example.com' }, /fully qualified domain and path/],
  ['has a signer without a domain', { signerName: 'com/x' }, /at least two segments/],
  ['has the legacy signer', { signerName: 'kubernetes.io/legacy-unknown' }, /legacy signerName is not allowed/],
];
for (const [name, spec, fault] of wrong) {
  test(`a CSR that ${name} is rejected`, async () => {
    const found = await faults(create(spec));
    assert.equal(found.length, 1);
    assert.match(found[0]!, fault);
  });
}

test('an approval gets a timestamp, and cannot be removed', async () => {
  const object = await create();
  const approved = await write(object, 'approval', condition('Approved'));
  assert.ok(approved.status?.conditions?.[0]?.lastUpdateTime);
  assert.deepEqual(await faults(write(object, 'approval', { conditions: [] })), [
    'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
  ]);
});

test('a CSR is approved or denied, not both', async () => {
  const object = await create();
  const both = { conditions: ['Approved', 'Denied'].map((type) => ({ type, status: 'True' })) };
  assert.deepEqual(await faults(write(object, 'approval', both)), [
    'status.conditions[1].type: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
  ]);
});

test('the status of a decision must be True', async () => {
  assert.deepEqual(await faults(write(await create(), 'approval', condition('Approved', 'False'))), [
    'status.conditions[0].status: Unsupported value: "False": supported values: "True"',
  ]);
});

test('a signer does not approve, and an approver does not sign', async () => {
  const object = await create();
  assert.deepEqual(await faults(write(object, 'status', condition('Approved'))), [
    'status.conditions: Forbidden: updates may not add a condition of type "Approved"',
  ]);
  const approved = await write(object, 'approval', { ...condition('Approved'), certificate });
  assert.equal(approved.status?.certificate, undefined);
});

test('a certificate is written once, and must be valid', async () => {
  const object = await create();
  assert.deepEqual(await faults(write(object, 'status', { certificate: 'bm90aGluZw==' })), [
    'status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
  ]);
  assert.equal((await write(object, 'status', { certificate })).status?.certificate, certificate);
  const other = Buffer.from(createCertificateAuthority('other', 0).certificate).toString('base64');
  assert.deepEqual(await faults(write(object, 'status', { certificate: other })), [
    'status.certificate: Forbidden: updates may not modify existing certificate content',
  ]);
});
