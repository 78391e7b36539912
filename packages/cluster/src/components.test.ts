import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployment } from '@kruise/api/apps/deployment';
import { pod } from '@kruise/api/core/pod';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { createInProcessServers } from '@kruise/apiserver/aggregation/in-process-servers';
import { networkConnector } from '@kruise/apiserver/connect/node-connector';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import type { Log } from '@kruise/client/log';
import type { Webhook } from '@kruise/client/webhook';
import { isPodReady } from '@kruise/machinery/pods';
import { createNodeDirectory } from '@kruise/node/node-directory';
import { systemClock } from '@kruise/values/system';
import { startComponents } from './components.ts';
import { installKruiseKinds, kruiseConverterOf } from './kruise-kinds.ts';

test('a whole cluster in one process runs workloads, each component with its own permissions', async () => {
  const webhooks = new Map<string, Webhook>();
  const servers = createInProcessServers();
  const directory = createNodeDirectory(networkConnector(systemClock));
  await using server = await startTestServer({
    nodes: directory,
    inProcessWebhooks: webhooks,
    inProcessServers: servers,
    converterOf: kruiseConverterOf,
  });
  await installKruiseKinds(server.core);
  const complaints: string[] = [];
  const complain = (fields: object, message: string) => {
    const { error } = fields as { readonly error?: Error };
    complaints.push(`${message}: ${error?.message}`);
  };
  const log: Log = { info() {}, warn: complain, error: complain };
  const started: string[] = [];
  const components = await startComponents({
    core: server.core,
    log,
    host: 'test',
    settings: { rootAuthorities: 'authorities', clusterRanges: ['10.244.0.0/16'] },
    webhooks,
    servers,
    nodes: { count: 2, directory },
    step(title, work) {
      started.push(title);
      return work();
    },
  });
  assert.deepEqual(started, [
    'kruise-manager',
    'Controllers',
    'kruise-daemon',
    'Metrics',
    'Local storage',
    '2 nodes',
    'Scheduler',
  ]);

  const { client } = server;
  const template = (app: string) => ({
    metadata: { labels: { app } },
    spec: { containers: [{ name: 'main', image: 'nginx:1.25' }] },
  });
  const selector = (app: string) => ({ matchLabels: { app } });
  await client.create(deployment, {
    metadata: { name: 'web', namespace: 'default' },
    spec: { replicas: 2, selector: selector('web'), template: template('web') },
  });
  await client.create(cloneSet, {
    metadata: { name: 'clones', namespace: 'default' },
    spec: { replicas: 2, selector: selector('clones'), template: template('clones') },
  });
  await new Promise<void>((resolve) => {
    const ready = new Set<string>();
    components.caches.informer(pod).handle(({ object }) => {
      if (isPodReady(object)) ready.add(object.metadata.name!);
      if (ready.size === 4) resolve();
    });
  });
  await components.stop();
  assert.deepEqual(
    complaints.filter((line) => line.includes('forbidden')),
    [],
  );
});
