import assert from 'node:assert/strict';
import { request } from 'node:https';
import { after, test } from 'node:test';
import { createCertificateAuthority, type KeyPair } from '@kruise/machinery/x509/certificate';
import { virtualClock } from '@kruise/values/virtual-clock';
import { admission, allow } from './webhook.ts';
import type { WebhookCallers } from './webhook-callers.ts';
import { serveWebhooks } from './webhook-server.ts';

const nowMs = Date.now();
const authority = createCertificateAuthority('webhooks', nowMs);
const clients = createCertificateAuthority('clients', nowMs);
const served = authority.issue({
  subject: { commonName: 'manager' },
  usages: ['server auth'],
  hosts: ['localhost'],
  nowMs,
});
const issued = (commonName: string, from = clients) =>
  from.issue({ subject: { commonName }, usages: ['client auth'], nowMs });
const apiServer = issued('kube-apiserver');

let callers: WebhookCallers = {};
const server = await serveWebhooks(virtualClock(), {
  host: 'localhost',
  port: 0,
  webhooks: { '/allow': admission(() => allow()), '/convert': async () => ({}) },
  unauthenticatedPaths: ['/convert'],
  certificate: () => served,
  callers: () => callers,
});
after(() => server.close());

async function answer(accepted: WebhookCallers, shown: { pair?: KeyPair; token?: string; path?: string } = {}) {
  callers = accepted;
  await server.reload();
  const { pair, token, path = '/allow' } = shown;
  return new Promise<string>((resolve, reject) => {
    const sent = request(
      {
        host: 'localhost',
        port: server.port,
        path,
        method: path === '/healthz' ? 'GET' : 'POST',
        ca: authority.certificate,
        agent: false,
        ...(pair ? { cert: pair.certificate, key: pair.key } : {}),
        headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
      },
      async (response) => {
        let text = '';
        for await (const chunk of response) text += chunk;
        resolve(`${response.statusCode} ${text === '' ? '' : (JSON.parse(text).reason ?? '')}`.trim());
      },
    );
    sent.on('error', reject);
    const review = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request: { uid: 'u', object: {} } };
    sent.end(path === '/healthz' ? undefined : JSON.stringify(review));
  });
}

const byCertificate = { authorities: clients.certificate };
const byToken = { token: 'secret' };
const refused = '401 Unauthorized';

const cases: readonly [name: string, callers: WebhookCallers, shown: Parameters<typeof answer>[1], answer: string][] = [
  ['no client without a certificate', byCertificate, {}, refused],
  ['a certificate of the authority', byCertificate, { pair: apiServer }, '200'],
  ['no certificate of another authority', byCertificate, { pair: issued('kube-apiserver', authority) }, refused],
  ['a certificate of an allowed name', { ...byCertificate, names: ['kube-apiserver'] }, { pair: apiServer }, '200'],
  ['no other name', { ...byCertificate, names: ['kube-apiserver'] }, { pair: issued('eve') }, refused],
  ['a token', byToken, { token: 'secret' }, '200'],
  ['no other token', byToken, { token: 'secret2' }, refused],
  ['no certificate where there is only a token', byToken, { pair: apiServer }, refused],
  ['either of the two', { ...byCertificate, ...byToken }, { token: 'secret' }, '200'],
  ['no client with an empty token', { token: '' }, { token: '' }, refused],
  ['all clients on conversion', byCertificate, { path: '/convert' }, '200'],
  ['all clients on health', byCertificate, { path: '/healthz' }, '200'],
];
for (const [name, accepted, shown, expected] of cases) {
  test(`a webhook server with authentication accepts ${name}`, async () =>
    assert.equal(await answer(accepted, shown), expected));
}
