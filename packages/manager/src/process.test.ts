import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createServer as createSecureServer } from 'node:tls';
import { mutatingWebhookConfiguration } from '@kruise/api/admissionregistration/mutatingwebhookconfiguration';
import { validatingWebhookConfiguration } from '@kruise/api/admissionregistration/validatingwebhookconfiguration';
import { lease } from '@kruise/api/coordination/lease';
import { namespace } from '@kruise/api/core/namespace';
import { pod } from '@kruise/api/core/pod';
import { secret } from '@kruise/api/core/secret';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { cloneSet, cloneSetV1alpha1 } from '@kruise/api/kruise/cloneset';
import { kruiseDefinitions } from '@kruise/api/kruise/crds';
import { podUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { installDefinitions } from '@kruise/apiserver/custom/install';
import type { KubeObject } from '@kruise/apiserver/object';
import { startTestServer, type TestServer } from '@kruise/apiserver/testing/test-server';
import type { Client } from '@kruise/client/client';
import { silentLog } from '@kruise/client/log';
import { createMetrics } from '@kruise/client/metrics';
import type { StatusError } from '@kruise/machinery/status';
import { createCertificateAuthority } from '@kruise/machinery/x509/certificate';
import { systemClock, systemRandom } from '@kruise/values/system';
import { readEnvironment } from './bootstrap/environment.ts';
import { managerSettings } from './configuration/settings.ts';
import { runManagerProcess } from './process.ts';
import { mutatingConfigurationName, webhookConfigurations } from './webhooks/configurations.ts';

/** Creates the objects of an installation besides the manager itself. */
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

/** Starts a server with Kruise's CRDs and all objects of an installation. */
async function clusterForKruise(): Promise<TestServer> {
  const server = await startTestServer({ https: true });
  const service = { namespace: 'kruise-system', name: 'kruise-webhook-service', path: '/convert' };
  // CRDs are ordinary objects with narrower types.
  await installDefinitions(server.core, kruiseDefinitions({ service }) as unknown as KubeObject[]);
  await install(server.client);
  return server;
}

type Place = { readonly folder: string; readonly webhookPort: number };

/** Starts a manager, and waits until its controllers run. */
async function startManager(client: Client, { folder, webhookPort }: Place) {
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
  return {
    registry,
    async stop() {
      stop.abort();
      await stopped;
    },
  };
}

test('on a separate cluster the manager provides its certificates, webhooks and controllers', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kruise-manager-'));
  await using server = await clusterForKruise();
  const { client } = server;
  const { registry, stop } = await startManager(client, { folder, webhookPort: await freePort() });

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

  await stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a budget of another process refuses deletions, and refusals are counted', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'kruise-manager-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  await using server = await clusterForKruise();
  const { client } = server;
  const { registry, stop } = await startManager(client, { folder, webhookPort: await freePort() });
  const reference = { name: 'web', namespace: 'default' };
  const labels = { app: 'web' };
  await client.create(podUnavailableBudget, {
    metadata: reference,
    spec: { selector: { matchLabels: labels }, minAvailable: 1 },
  });
  await client.create(pod, {
    metadata: { ...reference, labels },
    spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'app:v1' }] },
  });
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  await client.patch(pod, reference, { status }, { type: 'strategic', subresource: 'status' });
  for await (const { object } of client.watch(podUnavailableBudget, { namespace: 'default' })) {
    if (object.status?.currentAvailable === 1) break;
  }
  await assert.rejects(
    client.delete(pod, reference),
    /admission webhook "vpod.kb.io" denied the request: podunavailablebudget.policy.kruise.io "web" is forbidden/,
  );
  assert.match(
    registry.text(),
    /^pod_unavailable_budget\{kind_namespace_name="unknown_default_web",username="[^"]+"\} 1$/m,
  );
  await stop();
});

const clones = (name: string) => ({
  metadata: { name, namespace: 'default' },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'main', image: 'app:v1' }] } },
  },
});

test('a CloneSet is refused while the webhooks are unreachable, and accepted afterwards', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'kruise-manager-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  await using server = await clusterForKruise();
  const { client } = server;
  const place = { folder, webhookPort: await freePort() };
  const reference = { name: mutatingConfigurationName };
  const first = await startManager(client, place);
  await client.create(cloneSet, clones('before'));
  await first.stop();

  // A short timeout saves half a minute.
  const { webhooks = [] } = await client.get(mutatingWebhookConfiguration, reference);
  const hasty = webhooks.map((webhook) => ({ ...webhook, timeoutSeconds: 1 }));
  await client.patch(mutatingWebhookConfiguration, reference, { webhooks: hasty }, { type: 'merge' });
  const failed = 'Internal error occurred: failed calling webhook "mcloneset.kb.io": failed to call webhook:';
  const url = `https://127.0.0.1:${place.webhookPort}/mutate-apps-kruise-io-cloneset?timeout=1s`;
  const refused = async (why: string) => {
    const code = 500;
    const message = `${failed} Post "${url}": ${why}`;
    await assert.rejects(client.create(cloneSet, clones('after')), (error: StatusError) => {
      assert.deepEqual([error.status.code, error.status.message], [code, message]);
      return true;
    });
  };

  await refused(`dial tcp 127.0.0.1:${place.webhookPort}: connect: connection refused`);
  const now = systemClock.now();
  const stranger = createCertificateAuthority('stranger', now).issue({
    subject: { commonName: 'stranger' },
    usages: ['server auth'],
    hosts: ['127.0.0.1'],
    nowMs: now,
  });
  await answering(createSecureServer({ key: stranger.key, cert: stranger.certificate }), place.webhookPort, () =>
    refused('tls: failed to verify certificate: x509: certificate signed by unknown authority'),
  );
  await answering(createServer(), place.webhookPort, () => refused('context deadline exceeded'));

  const second = await startManager(client, place);
  assert.equal((await client.create(cloneSet, clones('after'))).spec.replicas, 1);

  // The manager corrects a forged CA bundle in the configuration, which would block all writes.
  const forged = hasty.map((webhook) => ({
    ...webhook,
    clientConfig: { ...webhook.clientConfig, caBundle: Buffer.from(stranger.certificate).toString('base64') },
  }));
  const spoilt = await client.patch(mutatingWebhookConfiguration, reference, { webhooks: forged }, { type: 'merge' });
  const { resourceVersion = '' } = spoilt.metadata;
  for await (const { object } of client.watch(mutatingWebhookConfiguration, { resourceVersion })) {
    if (object.webhooks?.[0]?.clientConfig.caBundle === webhooks[0]?.clientConfig.caBundle) break;
  }
  await client.create(cloneSet, clones('corrected'));
  await second.stop();
});

/** Runs an action while a server listens. */
async function answering(server: Server, port: number, act: () => Promise<void>): Promise<void> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  await act();
  for (const socket of sockets) socket.destroy();
  server.close();
  await once(server, 'close');
}
