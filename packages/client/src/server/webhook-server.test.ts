import assert from 'node:assert/strict';
import { type RequestOptions, request } from 'node:https';
import { after, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { createCertificateAuthority } from '@kruise/machinery/x509/certificate';
import { virtualClock } from '@kruise/values/virtual-clock';
import { createMetrics } from './metrics.ts';
import { admission, allow } from './webhook.ts';
import { createWebhookMetrics, serveWebhooks } from './webhook-server.ts';

const authority = createCertificateAuthority('webhooks', Date.now());
const issue = (commonName: string) =>
  authority.issue({ subject: { commonName }, usages: ['server auth'], hosts: ['localhost'], nowMs: Date.now() });

const clock = virtualClock();
const registry = createMetrics();
let served = issue('first');
const errors: unknown[] = [];
const server = await serveWebhooks(clock, {
  host: 'localhost',
  port: 0,
  webhooks: {
    '/allow': admission(() => allow()),
    '/broken': async () => {
      throw new TypeError('oh no');
    },
  },
  certificate: () => served,
  metrics: createWebhookMetrics(registry),
  onError: (error) => errors.push(error),
});
after(() => server.close());

type Answer = { readonly code: number; readonly body: string; readonly servedBy: string };

function post(path: string, body: string, options: RequestOptions = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: 'localhost',
        port: server.port,
        path,
        method: 'POST',
        ca: authority.certificate,
        agent: false,
        headers: { 'content-type': 'application/json' },
        ...options,
      },
      async (response) => {
        const { subject } = (response.socket as TLSSocket).getPeerCertificate();
        let text = '';
        for await (const chunk of response) text += chunk;
        resolve({ code: response.statusCode ?? 0, body: text, servedBy: String(subject.CN) });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

const review = JSON.stringify({
  kind: 'AdmissionReview',
  apiVersion: 'admission.k8s.io/v1',
  request: { uid: 'u', object: {} },
});

test('a posted review is answered, regardless of its query', async () => {
  const { code, body } = await post('/allow?timeout=10s', review);
  assert.equal(code, 200);
  assert.deepEqual(JSON.parse(body).response, { uid: 'u', allowed: true });
});

const refusals: { name: string; path: string; body: string; options?: RequestOptions; code: number }[] = [
  { name: 'an unknown path is not found', path: '/nowhere', body: review, code: 404 },
  { name: 'an inherited property name is not a path', path: '/constructor', body: review, code: 404 },
  { name: 'invalid JSON is a bad request', path: '/allow', body: '{', code: 400 },
  { name: 'an object that is not a review is a bad request', path: '/allow', body: '{}', code: 400 },
  { name: 'a review is posted, not put', path: '/allow', body: review, options: { method: 'PUT' }, code: 405 },
  {
    name: 'a body of another type is not read',
    path: '/allow',
    body: review,
    options: { headers: { 'content-type': 'text/plain' } },
    code: 415,
  },
  { name: 'an oversized body is not read', path: '/allow', body: ' '.repeat(8 * 2 ** 20), code: 413 },
  { name: 'a webhook that throws does not affect others', path: '/broken', body: review, code: 500 },
];
for (const { name, path, body, options, code } of refusals) {
  test(name, async () => assert.equal((await post(path, body, options)).code, code));
}

test('the health endpoint responds', async () => {
  const { code, body } = await post('/healthz', '', { method: 'GET' });
  assert.deepEqual([code, body], [200, '']);
});

test('new connections use a new certificate, but not one that does not match its key', async () => {
  assert.equal((await post('/allow', review)).servedBy, 'first');
  const next = issue('second');
  served = { certificate: next.certificate, key: issue('other').key };
  await server.reload();
  assert.equal((await post('/allow', review)).servedBy, 'first');
  served = next;
  await clock.advanceAsync(10_000);
  assert.equal((await post('/allow', review)).servedBy, 'second');
});

test('requests are counted', async () => {
  await post('/allow', review);
  const text = registry.text();
  assert.match(text, /controller_runtime_webhook_requests_total\{webhook="\/allow",code="200"\} [1-9]/);
  assert.match(text, /controller_runtime_webhook_requests_total\{webhook="\/broken",code="500"\} 1/);
  assert.match(text, /controller_runtime_webhook_requests_in_flight\{webhook="\/allow"\} 0/);
});
