import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { mutatingWebhookConfiguration } from '@kruise/api/admissionregistration/mutatingwebhookconfiguration';
import { validatingWebhookConfiguration } from '@kruise/api/admissionregistration/validatingwebhookconfiguration';
import { lease } from '@kruise/api/coordination/lease';
import { namespace } from '@kruise/api/core/namespace';
import { pod } from '@kruise/api/core/pod';
import { secret } from '@kruise/api/core/secret';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { cloneSet, cloneSetV1alpha1 } from '@kruise/api/kruise/cloneset';
import { kruiseDefinitions } from '@kruise/api/kruise/crds';
import { installDefinitions } from '@kruise/apiserver/custom/install';
import type { KubeObject } from '@kruise/apiserver/object';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import type { Client } from '@kruise/client/client';
import { silentLog } from '@kruise/client/log';
import { createMetrics } from '@kruise/client/metrics';
import { systemClock, systemRandom } from '@kruise/values/system';
import { readEnvironment } from './bootstrap/environment.ts';
import { runManagerProcess } from './process.ts';
import { managerSettings } from './settings.ts';
import { webhookConfigurations } from './webhooks/configurations.ts';

/** What an installation brings beside the manager itself. */
async function install(client: Client): Promise<void> {
  const service = { namespace: 'kruise-system', name: 'kruise-webhook-service' };
  await client.create(namespace, { metadata: { name: 'kruise-system', labels: { 'control-plane': 'openkruise' } } });
  await client.create(serviceAccount, { metadata: { name: 'default', namespace: 'default' } });
  const { mutating, validating } = webhookConfigurations(managerSettings(), ({ path }) => ({
    service: { ...service, path },
  }));
  await client.create(mutatingWebhookConfiguration, mutating);
  await client.create(validatingWebhookConfiguration, validating);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { readonly port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const loopback = { host: '127.0.0.1', port: 0 };

test('on a cluster of its own the manager brings its certificates, its webhooks and its controllers', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kruise-manager-'));
  await using server = await startTestServer({ https: true });
  const { client } = server;
  const service = { namespace: 'kruise-system', name: 'kruise-webhook-service', path: '/convert' };
  // Definitions are objects like any other, of which their own type says more.
  await installDefinitions(server.core, kruiseDefinitions({ service }) as unknown as KubeObject[]);
  await install(client);

  const webhookPort = await freePort();
  const { promise: running, resolve: onRunning } = Promise.withResolvers<void>();
  const stop = new AbortController();
  const registry = createMetrics();
  const stopped = runManagerProcess(
    {
      client,
      clock: systemClock,
      random: systemRandom,
      log: { ...silentLog, info: (_fields, message) => message === 'controllers are running' && onRunning() },
      registry,
      settings: managerSettings(),
      environment: {
        ...readEnvironment({
          WEBHOOK_HOST: '127.0.0.1',
          WEBHOOK_CERT_WRITER: 'secret',
          WEBHOOK_CERT_DIR: join(folder, 'certs'),
        }),
        webhookPort,
      },
      metricsAddress: loopback,
      healthAddress: loopback,
      leaderElection: { namespace: 'kruise-system', name: 'kruise-manager', identity: 'me' },
      expectationTimeoutMs: 300_000,
      initializeTimeoutMs: 30_000,
      onProtected: () => {},
    },
    stop.signal,
  );
  await Promise.race([running, stopped]);

  const { data } = await client.get(secret, { namespace: 'kruise-system', name: 'kruise-webhook-certs' });
  assert.deepEqual(Object.keys(data ?? {}).sort(), [
    'ca-cert.pem',
    'ca-key.pem',
    'cert.pem',
    'key.pem',
    'tls.crt',
    'tls.key',
  ]);
  const { webhooks = [] } = await client.get(mutatingWebhookConfiguration, {
    name: 'kruise-mutating-webhook-configuration',
  });
  assert.equal(webhooks[0]?.clientConfig.caBundle, data?.['ca-cert.pem']);
  assert.equal(
    (await client.get(lease, { namespace: 'kruise-system', name: 'kruise-manager' })).spec?.holderIdentity,
    'me',
  );

  const { metadata } = await client.list(pod, { namespace: 'default' });
  const pods = client.watch(pod, {
    namespace: 'default',
    ...(metadata.resourceVersion ? { resourceVersion: metadata.resourceVersion } : {}),
  });
  const made = await client.create(cloneSetV1alpha1, {
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'app:v1' }] } },
      updateStrategy: { type: 'InPlaceIfPossible' },
    },
  });
  assert.equal(made.spec.updateStrategy?.maxUnavailable, '20%');
  const stored = await client.get(cloneSet, { namespace: 'default', name: 'web' });
  assert.equal(stored.spec.updateStrategy?.rollingUpdate?.podUpdatePolicy, 'InPlaceIfPossible');
  for await (const { object } of pods) {
    assert.deepEqual(
      object.spec?.readinessGates?.map(({ conditionType }) => conditionType),
      ['InPlaceUpdateReady', 'KruisePodReady'],
    );
    break;
  }
  await assert.rejects(
    client.update(cloneSet, { ...stored, spec: { ...stored.spec, selector: { matchLabels: { app: 'other' } } } }),
    /admission webhook "vcloneset.kb.io" denied the request/,
  );
  assert.match(registry.text(), /kruise_manager_is_leader 1/);

  stop.abort();
  await stopped;
  rmSync(folder, { recursive: true, force: true });
});
