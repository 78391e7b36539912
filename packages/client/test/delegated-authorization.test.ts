import assert from 'node:assert/strict';
import { get } from 'node:https';
import { test } from 'node:test';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { clusterRoleBinding } from '@kruise/api/rbac/clusterrolebinding';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import { delegatedAuthorization } from '@kruise/client/delegated-authorization';
import { serveHealth } from '@kruise/client/health';
import { createMetrics } from '@kruise/client/metrics';
import { requestToken } from '@kruise/client/subresources';
import { createCertificateAuthority } from '@kruise/machinery/x509/certificate';
import { systemClock } from '@kruise/values/system';

const authority = createCertificateAuthority('test', systemClock.now());
const tls = authority.issue({
  subject: { commonName: 'component' },
  usages: ['server auth'],
  hosts: ['127.0.0.1'],
  nowMs: systemClock.now(),
});

function codeOf(port: number, path: string, token?: string): Promise<number | undefined> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, headers, ca: authority.certificate, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on('error', reject);
  });
}

test('metrics require authorization by the API server, health endpoints do not', async () => {
  await using server = await startTestServer();
  const { client } = server;
  const account = { namespace: 'default', name: 'scraper' };
  await client.create(serviceAccount, { metadata: account });
  const { status } = await requestToken(client, account, { audiences: [] });
  const health = await serveHealth({
    port: 0,
    tls,
    metrics: createMetrics(),
    authorize: delegatedAuthorization(client),
  });
  try {
    assert.equal(await codeOf(health.port, '/healthz'), 200);
    assert.equal(await codeOf(health.port, '/metrics'), 401);
    assert.equal(await codeOf(health.port, '/metrics', 'made-up'), 401);
    assert.equal(await codeOf(health.port, '/metrics', status?.token), 403);
    await client.create(clusterRoleBinding, {
      metadata: { name: 'scraper' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:monitoring' },
      subjects: [{ kind: 'ServiceAccount', ...account }],
    });
    assert.equal(await codeOf(health.port, '/metrics', status?.token), 200);
  } finally {
    await health.close();
  }
});
