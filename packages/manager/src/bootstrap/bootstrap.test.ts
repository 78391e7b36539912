import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { MutatingWebhookConfiguration } from '@kruise/api/admissionregistration/mutatingwebhookconfiguration';
import type { CustomResourceDefinition } from '@kruise/api/apiextensions/customresourcedefinition';
import { namespace } from '@kruise/api/core/namespace';
import { secret } from '@kruise/api/core/secret';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import { instantOf } from '@kruise/values/time';
import { externalStore, fileStore, secretStore, writeFiles } from './certificate-store.ts';
import { areValid, filesOf, newCertificates } from './certificates.ts';
import { readEnvironment, webhookHostOf } from './environment.ts';
import { desiredConfiguration, desiredConversion } from './registration.ts';

const now = instantOf(2026, 1, 1);
const dayMs = 86_400_000;
const host = 'kruise-webhook-service.kruise-system.svc';

test('without variables the environment has its defaults', () => {
  const environment = readEnvironment({});
  assert.deepEqual(environment, {
    namespace: 'kruise-system',
    secretName: 'kruise-webhook-certs',
    serviceName: 'kruise-webhook-service',
    webhookPort: 9876,
    webhookHost: '',
    certificateDirectory: '/tmp/kruise-webhook-certs',
    keepsFiles: false,
    renewBeforeMs: 180 * dayMs,
    daemonConfigNamespace: 'kruise-daemon-config',
    podWebhook: true,
  });
  assert.equal(webhookHostOf(environment), host);
});

test('a port that is not a number is refused', () => {
  assert.equal(readEnvironment({ WEBHOOK_PORT: '9443' }).webhookPort, 9443);
  assert.throws(() => readEnvironment({ WEBHOOK_PORT: 'https' }), RangeError);
});

const renewals: { text: string; days: number }[] = [
  { text: '10d', days: 10 },
  { text: '2m', days: 60 },
  { text: '1y', days: 365 },
  { text: '5x', days: 180 },
  { text: 'oops', days: 180 },
  { text: '0d', days: 180 },
  { text: '-3d', days: 180 },
];
for (const { text, days } of renewals) {
  test(`certificates are renewed ${days} days before they expire with ${text}`, () => {
    assert.equal(readEnvironment({ CERTS_RENEW_BEFORE: text }).renewBeforeMs, days * dayMs);
  });
}

const writers: { variables: { [name: string]: string }; files: boolean }[] = [
  { variables: { WEBHOOK_CERT_WRITER: 'fs' }, files: true },
  { variables: { WEBHOOK_HOST: 'h' }, files: true },
  { variables: { WEBHOOK_HOST: 'h', WEBHOOK_CERT_WRITER: 'secret' }, files: false },
];
for (const { variables, files } of writers) {
  test(`with ${JSON.stringify(variables)} certificates are kept in ${files ? 'files' : 'a Secret'}`, () => {
    assert.equal(readEnvironment(variables).keepsFiles, files);
  });
}

test('the Pod webhook is disabled if the listed kinds lack SidecarSet', () => {
  assert.equal(readEnvironment({ CUSTOM_RESOURCE_ENABLE: 'CloneSet' }).podWebhook, false);
  assert.equal(readEnvironment({ CUSTOM_RESOURCE_ENABLE: 'CloneSet,SidecarSet' }).podWebhook, true);
});

test('new certificates are valid for their host, for localhost, and for ten years', () => {
  const made = newCertificates(host, now);
  for (const [name, at, isGood] of [
    [host, now, true],
    ['localhost', now, true],
    ['elsewhere', now, false],
    [host, now + 3640 * dayMs, true],
    [host, now + 3660 * dayMs, false],
  ] as const) {
    assert.equal(areValid(made, name, at), isGood);
  }
  assert.equal(areValid({ ...made, key: newCertificates(host, now).key }, host, now), false);
  assert.equal(areValid({ authorityKey: '', authorityCertificate: '', key: '', certificate: '' }, host, now), false);
});

test('a certificate is valid for an IP address too', () => {
  assert.equal(areValid(newCertificates('10.0.0.7', now), '10.0.0.7', now), true);
});

test('an authority that is valid for another year signs again', () => {
  const first = newCertificates(host, now);
  assert.equal(newCertificates(host, now + dayMs, first).authorityCertificate, first.authorityCertificate);
  assert.notEqual(newCertificates(host, now + 3400 * dayMs, first).authorityCertificate, first.authorityCertificate);
});

test('certificates in a Secret are created once, and renewed before they expire', async () => {
  await using server = await startTestServer();
  const { client } = server;
  await client.create(namespace, { metadata: { name: 'kruise-system' } });
  const reference = { namespace: 'kruise-system', name: 'certs' };
  // Installations create an empty Secret.
  await client.create(secret, { metadata: reference });
  let time = now;
  const store = secretStore(client, reference, { host, renewBeforeMs: 180 * dayMs, now: () => time });
  const first = await store();
  assert.deepEqual(await store(), first);
  time += 3500 * dayMs;
  assert.notEqual((await store()).certificate, first.certificate);
});

test('two replicas that start together end with the same certificates', async () => {
  await using server = await startTestServer();
  await server.client.create(namespace, { metadata: { name: 'kruise-system' } });
  const store = () =>
    secretStore(
      server.client,
      { namespace: 'kruise-system', name: 'certs' },
      { host, renewBeforeMs: 0, now: () => now },
    );
  const [one, other] = await Promise.all([store()(), store()()]);
  assert.deepEqual(one, other);
});

test('certificates of an external issuer are used as they are', async () => {
  await using server = await startTestServer();
  const { client } = server;
  await client.create(namespace, { metadata: { name: 'kruise-system' } });
  const reference = { namespace: 'kruise-system', name: 'certs' };
  await assert.rejects(externalStore(client, reference)(), /not found/);
  const data = { 'ca.crt': 'YQ==', 'tls.crt': 'Yg==', 'tls.key': 'Yw==' };
  await client.create(secret, { metadata: reference, data });
  assert.deepEqual(await externalStore(client, reference)(), {
    authorityCertificate: 'a',
    authorityKey: '',
    certificate: 'b',
    key: 'c',
  });
});

function inFolder(use: (folder: string) => void | Promise<void>) {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kruise-certs-'));
    try {
      await use(folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
}

test(
  'certificates in files are created once',
  inFolder(async (folder) => {
    const store = fileStore(join(folder, 'certs'), { host, renewBeforeMs: 0, now: () => now });
    const first = await store();
    assert.deepEqual(await store(), first);
    assert.equal(readFileSync(join(folder, 'certs', 'tls.crt'), 'utf8'), first.certificate);
  }),
);

test(
  'files are swapped atomically, including regular files of the same names',
  inFolder((folder) => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'tls.crt'), 'plain');
    const [first, second] = [filesOf(newCertificates(host, now)), filesOf(newCertificates(host, now))];
    writeFiles(folder, first);
    const before = readlinkSync(join(folder, '..data'));
    writeFiles(folder, first);
    assert.equal(readlinkSync(join(folder, '..data')), before);
    writeFiles(folder, second);
    assert.notEqual(readlinkSync(join(folder, '..data')), before);
    for (const [name, text] of Object.entries(second)) assert.equal(readFileSync(join(folder, name), 'utf8'), text);
  }),
);

const place = {
  namespace: 'kruise-system',
  serviceName: 'kruise-webhook-service',
  webhookHost: '',
  webhookPort: 9876,
  authority: 'PEM',
};
const caBundle = Buffer.from('PEM').toString('base64');
const hook = (name: string, path: string) => ({
  name,
  clientConfig: { service: { namespace: 'x', name: 'y', path } },
  sideEffects: 'None' as const,
  admissionReviewVersions: ['v1'],
});
const installed: MutatingWebhookConfiguration = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingWebhookConfiguration',
  metadata: { name: 'c' },
  webhooks: [hook('a', '/a'), hook('b', '/b')],
};

test('a configuration keeps its installed template, and lists the served webhooks', () => {
  const onlyA = desiredConfiguration(installed, place, (path) => path === '/a');
  assert.deepEqual(
    onlyA.webhooks?.map(({ name }) => name),
    ['a'],
  );
  assert.deepEqual(onlyA.webhooks?.[0]?.clientConfig, {
    service: { namespace: 'kruise-system', name: 'kruise-webhook-service', path: '/a' },
    caBundle,
  });
  const again = desiredConfiguration(onlyA, place, () => true);
  assert.deepEqual(
    again.webhooks?.map(({ name }) => name),
    ['a', 'b'],
  );
  assert.deepEqual(
    desiredConfiguration(again, place, () => true),
    again,
  );
});

test('a manager with its own host is reached there', () => {
  const { webhooks } = desiredConfiguration(installed, { ...place, webhookHost: '10.0.0.7' }, () => true);
  assert.deepEqual(webhooks?.[0]?.clientConfig, { url: 'https://10.0.0.7:9876/a', caBundle });
});

const definition = (group: string, strategy: 'None' | 'Webhook') =>
  ({ metadata: { name: 'x' }, spec: { group, conversion: { strategy } } }) as CustomResourceDefinition;

test('the conversion webhook is updated for CRDs of Kruise, and for no others', () => {
  const settled = desiredConversion(definition('apps.kruise.io', 'Webhook'), place);
  assert.deepEqual(settled.spec.conversion?.webhook, {
    clientConfig: {
      service: { namespace: 'kruise-system', name: 'kruise-webhook-service', path: '/convert', port: 443 },
      caBundle,
    },
    conversionReviewVersions: ['v1', 'v1beta1'],
  });
  assert.equal(desiredConversion(settled, place), settled);
  for (const other of [definition('apps.kruise.io', 'None'), definition('example.com', 'Webhook')]) {
    assert.equal(desiredConversion(other, place), other);
  }
});
