import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { deployment } from '@kruise/api/apps/deployment';
import { lease } from '@kruise/api/coordination/lease';
import { configMap } from '@kruise/api/core/configmap';
import { type Namespace, namespace } from '@kruise/api/core/namespace';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import type { Client, Reference } from '@kruise/client/client';
import type { Controller } from '@kruise/client/controller';
import { runControllers } from '@kruise/client/manager';
import { run } from '@kruise/client/run';
import type { Webhook } from '@kruise/client/webhook';
import { serveWebhooks } from '@kruise/client/webhook-server';
import { createCertificateAuthority } from '@kruise/machinery/x509/certificate';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import { systemClock, systemRandom } from '@kruise/values/system';
import { type Cluster, freshEnvironment, startCluster, temporaryHome } from '../e2e/cluster.ts';
import { decide, dnsRecords } from './dns-records.ts';
import { greeter } from './hello-world.ts';
import { websiteController } from './website/controller.ts';
import { install } from './website/install.ts';
import { website } from './website/kind.ts';
import { webhooks } from './website/webhook.ts';

/** Runs a controller while a function runs. */
async function during(client: Client, controller: Controller, work: () => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const done = runControllers([controller], { client, clock: systemClock, random: systemRandom }, stop.signal);
  try {
    await work();
  } finally {
    stop.abort();
    await done;
  }
}

/** Waits until an object satisfies a condition; undefined means that it is deleted. */
async function until<K extends Kind>(
  client: Client,
  kind: K,
  { name, ...place }: Reference,
  isSo: (object: ObjectOf<K> | undefined) => boolean,
): Promise<void> {
  const selection = { ...place, fieldSelector: `metadata.name=${name}` };
  const { items, metadata } = await client.list(kind, selection);
  if (isSo(items[0])) return;
  const from = { resourceVersion: metadata.resourceVersion ?? '', timeoutSeconds: 20 };
  for await (const { type, object } of client.watch(kind, { ...selection, ...from })) {
    if (isSo(type === 'DELETED' ? undefined : object)) return;
  }
  assert.fail(`${kind.kind} ${name} never came to be so`);
}

test('the first controller has at most 25 lines', () => {
  const text = readFileSync(new URL('hello-world.ts', import.meta.url), 'utf8');
  assert.ok(text.trimEnd().split('\n').length <= 25);
});

test('the guide contains the example verbatim', () => {
  const guide = readFileSync(new URL('../docs/how-to/write-a-controller.md', import.meta.url), 'utf8');
  const shown = /<!-- examples\/hello-world\.ts -->\n```ts\n(.*?)```/s.exec(guide)?.[1];
  assert.equal(shown, readFileSync(new URL('hello-world.ts', import.meta.url), 'utf8'));
});

const isGreeted = (found: Namespace | undefined) => found?.metadata.labels?.['example.com/hello'] === 'world';

/** An environment to run in: a client, and in-process webhooks if they are not called over the network. */
type Place = AsyncDisposable & { readonly client: Client; readonly inProcessWebhooks?: Map<string, Webhook> };

const home = temporaryHome();
let whole: Promise<Cluster> | undefined;
after(async () => {
  await (await whole)?.stop();
  rmSync(home, { recursive: true, force: true });
});

const places: { readonly [name: string]: () => Promise<Place> } = {
  async 'in one process'() {
    const inProcessWebhooks = new Map();
    return { ...(await startTestServer({ inProcessWebhooks })), inProcessWebhooks };
  },
  'over HTTPS': () => startTestServer({ https: true }),
  async 'on kruise up'() {
    whole ??= startCluster(home, ['--nodes', '1']);
    const { client, close } = (await whole).connect();
    return { client, [Symbol.asyncDispose]: async () => close() };
  },
};

for (const [place, start] of Object.entries(places)) {
  describe(place, () => {
    test('the greeter labels existing and new namespaces', async () => {
      await using server = await start();
      const { client } = server;
      await during(client, greeter, async () => {
        await client.create(namespace, { metadata: { name: 'new' } });
        for (const name of ['default', 'new']) {
          await until(client, namespace, { name }, isGreeted);
        }
      });
    });

    test('a DNS record follows its ConfigMap and is deleted with it', async () => {
      await using server = await start();
      const { client } = server;
      const records = new Map<string, string>();
      const controller = dnsRecords({
        set: async ({ host, address }) => void records.set(host, address),
        remove: async (host) => void records.delete(host),
      });
      const reference = { namespace: 'default', name: 'web' };
      const registered = (value: string) => () =>
        until(
          client,
          configMap,
          reference,
          (found) => found?.metadata.annotations?.['example.com/dns-registered'] === value,
        );
      await during(client, controller, async () => {
        const metadata = { ...reference, labels: { 'example.com/dns': 'true' } };
        await client.create(configMap, { metadata, data: { host: 'a.example', address: '10.0.0.1' } });
        await registered('a.example=10.0.0.1')();
        assert.deepEqual([...records], [['a.example', '10.0.0.1']]);
        await client.patch(configMap, reference, { data: { host: 'b.example' } }, { type: 'merge' });
        await registered('b.example=10.0.0.1')();
        assert.deepEqual([...records], [['b.example', '10.0.0.1']]);
        await client.delete(configMap, reference);
        await until(client, configMap, reference, (found) => found === undefined);
        assert.deepEqual([...records], []);
      });
    });

    test('a website has a ConfigMap and a Deployment, and webhooks set defaults and reject errors', async () => {
      await using server = await start();
      const { client, inProcessWebhooks } = server;
      const authority = createCertificateAuthority('webhooks', systemClock.now());
      const certificate = authority.issue({
        subject: { commonName: 'webhooks' },
        usages: ['server auth'],
        hosts: ['localhost'],
        nowMs: systemClock.now(),
      });
      const hooks = inProcessWebhooks
        ? { port: 9443, close: async () => {} }
        : await serveWebhooks(systemClock, { webhooks, host: 'localhost', port: 0, certificate: () => certificate });
      const url = `https://localhost:${hooks.port}`;
      for (const [path, webhook] of Object.entries(webhooks)) inProcessWebhooks?.set(`${url}${path}`, webhook);
      await install(client, { url, caBundle: authority.certificate });

      const reference = { namespace: 'default', name: 'home' };
      const site = { metadata: reference, spec: { text: 'Welcome.' } };
      await during(client, websiteController, async () => {
        const created = await client.create(website, site);
        assert.deepEqual(created.spec, { text: 'Welcome.', title: 'home', replicas: 1 });
        await assert.rejects(
          client.create(website, { metadata: { ...reference, name: 'bad' }, spec: { text: '<script>' } }),
          { code: 422, message: /spec\.text: Invalid value: "<script>": must be text without tags/ },
        );
        await until(client, website, reference, (found) => found?.status?.page === 'home');
        const page = await client.get(configMap, reference);
        assert.deepEqual(page.data, { 'index.html': '<h1>home</h1><p>Welcome.</p>\n' });
        await client.patch(website, reference, { spec: { replicas: 3, text: 'Bye.' } }, { type: 'merge' });
        await until(client, deployment, reference, (found) => found?.spec?.replicas === 3);
        await until(client, configMap, reference, (found) => found?.data?.['index.html']?.includes('Bye.') ?? false);
        await client.delete(configMap, reference);
        await until(client, configMap, reference, (found) => found !== undefined);
      });
      await hooks.close();
    });
  });
}

test('the first controller runs as a program until it receives a signal', async () => {
  await using server = await startTestServer({ https: true });
  const program = fileURLToPath(new URL('hello-world.ts', import.meta.url));
  const env = { ...freshEnvironment(home), KUBECONFIG: server.kubeconfig.path };
  const child = spawn(process.execPath, [program], { env, stdio: 'ignore' });
  const ended = once(child, 'exit');
  await until(server.client, namespace, { name: 'default' }, isGreeted);
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
});

test('a program uses the given kubeconfig and runs until its signal is aborted', async () => {
  await using server = await startTestServer({ https: true });
  const stop = new AbortController();
  const messages: string[] = [];
  const recordMessage = (_fields: object, message: string) => messages.push(message);
  const ended = run([greeter], {
    path: server.kubeconfig.path,
    leaderElection: { name: 'greeter' },
    log: { info: recordMessage, warn: recordMessage, error: recordMessage },
    signal: stop.signal,
  });
  await until(server.client, namespace, { name: 'default' }, isGreeted);
  stop.abort();
  await ended;
  assert.deepEqual(messages, ['controllers are running']);
  const { spec } = await server.client.get(lease, { namespace: 'default', name: 'greeter' });
  assert.equal(spec?.holderIdentity, '');
});

test('a record that is registered and unchanged needs nothing', () => {
  const metadata = {
    name: 'web',
    finalizers: ['example.com/dns'],
    annotations: { 'example.com/dns-registered': 'a.example=10.0.0.1' },
  };
  const found = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { host: 'a.example', address: '10.0.0.1' } };
  assert.deepEqual(decide(found), { actions: [] });
});
