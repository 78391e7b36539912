import assert from 'node:assert/strict';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { createCertificateAuthority } from '@kruise/machinery/x509/certificate';
import { virtualClock } from '@kruise/values/virtual-clock';
import { simulatedNode, testStart } from '../testing/simulated-node.ts';
import { respondConversion, respondWebhook } from './agnhost-webhooks.ts';

const asked = (path: string, review: unknown) => ({
  method: 'POST',
  path,
  query: new URLSearchParams(),
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(review)),
  clientAddress: '10.0.0.1',
});

async function judged(path: string, request: object, sidecarImage = '') {
  const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: { uid: 'u', ...request } };
  const answer = await respondWebhook(asked(path, review), { clock: virtualClock(), sidecarImage });
  if (answer === 'hang') return answer;
  const { uid, patch, ...rest } = JSON.parse(Buffer.from(answer.body).toString()).response;
  assert.equal(uid, 'u');
  return patch === undefined ? rest : { ...rest, patch: JSON.parse(Buffer.from(patch, 'base64').toString()) };
}

const labels = (value: string) => ({ metadata: { labels: { 'webhook-e2e-test': value } } });
const data = (value: string) => ({ data: { 'webhook-e2e-test': value } });
const pod = (...names: string[]) => ({ spec: { containers: names.map((name) => ({ name })) } });
const created = (object: object) => ({ operation: 'CREATE', object });
const changes = (...patch: object[]) => ({ allowed: true, patch, patchType: 'JSONPatch' });

describe('admission', () => {
  const cases: readonly [what: string, path: string, request: object, verdict: unknown][] = [
    [
      'denies always',
      '/always-deny',
      created({}),
      { allowed: false, status: { message: 'this webhook denies all requests' } },
    ],
    [
      'adds the first label',
      '/add-label',
      created({}),
      changes({ op: 'add', path: '/metadata/labels', value: { 'added-label': 'yes' } }),
    ],
    [
      'adds another label',
      '/add-label',
      created(labels('x')),
      changes({ op: 'add', path: '/metadata/labels/added-label', value: 'yes' }),
    ],
    [
      'keeps an existing label',
      '/add-label',
      created({ metadata: { labels: { 'added-label': 'yes' } } }),
      { allowed: true },
    ],
    ['allows a Pod', '/pods', created(pod('a')), { allowed: true }],
    [
      'denies a Pod because of its label and its container',
      '/pods',
      created({ ...labels('webhook-disallow'), ...pod('webhook-disallow') }),
      {
        allowed: false,
        status: { message: 'the pod contains unwanted label; the pod contains unwanted container name;' },
      },
    ],
    ['hangs for a Pod with the wait-forever label', '/pods', created(labels('wait-forever')), 'hang'],
    [
      'denies attach',
      '/pods/attach',
      { operation: 'CONNECT', name: 'to-be-attached-pod', object: { stdin: true, container: 'container1' } },
      { allowed: false, status: { message: "attaching to pod 'to-be-attached-pod' is not allowed" } },
    ],
    [
      'denies a marked ConfigMap',
      '/configmaps',
      created(data('webhook-disallow')),
      { allowed: false, status: { reason: 'the configmap contains unwanted key and value' } },
    ],
    [
      'denies the deletion of a marked ConfigMap',
      '/configmaps',
      { operation: 'DELETE', object: null, oldObject: data('webhook-nondeletable') },
      {
        allowed: false,
        status: { reason: 'the configmap cannot be deleted because it contains unwanted key and value' },
      },
    ],
    [
      'allows the deletion of other ConfigMaps',
      '/configmaps',
      { operation: 'DELETE', oldObject: data('webhook-disallow') },
      { allowed: true },
    ],
    [
      'mutates the first stage',
      '/mutating-custom-resource',
      created({ data: { 'mutation-start': 'yes' } }),
      changes({ op: 'add', path: '/data/mutation-stage-1', value: 'yes' }),
    ],
    [
      'mutates the second stage',
      '/mutating-configmaps',
      created({ data: { 'mutation-start': 'yes', 'mutation-stage-1': 'yes' } }),
      changes({ op: 'add', path: '/data/mutation-stage-2', value: 'yes' }),
    ],
    [
      'denies a CRD',
      '/crd',
      created(labels('webhook-disallow')),
      { allowed: false, status: { message: 'the crd contains unwanted label' } },
    ],
  ];
  for (const [what, path, request, verdict] of cases) {
    test(what, async () => assert.deepEqual(await judged(path, request), verdict));
  }

  test('the webhook adds a sidecar with the requested image', async () => {
    const value = { image: 'i', name: 'webhook-added-sidecar', resources: {} };
    assert.deepEqual(
      await judged('/mutating-pods-sidecar', created(pod('a')), 'i'),
      changes({ op: 'add', path: '/spec/containers/-', value }),
    );
  });
});

describe('conversion', () => {
  const convert = (object: object, desiredAPIVersion: string) => {
    const { body } = respondConversion(
      asked('/crdconvert', { request: { uid: 'u', objects: [object], desiredAPIVersion } }),
    );
    return JSON.parse(Buffer.from(body).toString()).response;
  };
  const first = { apiVersion: 'stable.example.com/v1', kind: 'X', hostPort: 'localhost:80' };
  const second = { apiVersion: 'stable.example.com/v2', kind: 'X', host: 'localhost', port: '80' };

  test('the webhook converts from version 1 to version 2 and back', () => {
    assert.deepEqual(convert(first, second.apiVersion).convertedObjects, [second]);
    assert.deepEqual(convert(second, first.apiVersion).convertedObjects, [first]);
  });

  test('the webhook reports objects it cannot convert', () => {
    assert.deepEqual(convert(first, 'stable.example.com/v3').result, {
      status: 'Failure',
      message: 'unexpected conversion version "stable.example.com/v3"',
    });
    assert.equal(
      convert({ ...first, hostPort: '80' }, second.apiVersion).result.message,
      'invalid hostPort value `80`',
    );
  });
});

test('the webhook serves HTTPS with its certificate', async () => {
  const authority = createCertificateAuthority('test', testStart);
  const { certificate, key } = authority.issue({
    subject: { commonName: 'hook' },
    usages: ['server auth'],
    hosts: ['hook.default.svc'],
    nowMs: testStart,
  });
  const node = simulatedNode();
  const script = `printf '${certificate}' > /c; printf '${key}' > /k; /agnhost webhook --tls-cert-file=/c --tls-private-key-file=/k --port=8444`;
  const { podSandboxId } = await node.runContainer({
    image: 'registry.k8s.io/e2e-test-images/agnhost:2.53',
    command: ['sh', '-c', script],
  });
  await node.advance(0);
  const host = (await node.runtime.podSandboxStatus({ podSandboxId })).status.network?.ip ?? '';
  const bare = await node.runtime.network.connect({ host, port: 8444 });
  const socket = connectTls({ socket: bare, ca: authority.certificate, servername: 'hook.default.svc' });
  const answer = await new Promise<string>((resolve, reject) => {
    request({ createConnection: () => socket, path: '/readyz' }, (response) => resolve(text(response)))
      .on('error', reject)
      .end();
  });
  assert.equal(answer, 'ok');
});
