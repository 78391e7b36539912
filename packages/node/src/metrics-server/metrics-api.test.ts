import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiService } from '@kruise/api/apiregistration/apiservice';
import { type Node, node } from '@kruise/api/core/node';
import { pod } from '@kruise/api/core/pod';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { createInProcessServers } from '@kruise/apiserver/aggregation/in-process-servers';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import type { Client } from '@kruise/client/client';
import { createCaches } from '@kruise/client/informer';
import { isForbidden, isNotFound } from '@kruise/machinery/status';
import { seededRandom } from '@kruise/values/random';
import { systemClock } from '@kruise/values/system';
import { instantOf } from '@kruise/values/time';
import { installMetrics, metricsService } from './manifests.ts';
import { metricsApi } from './metrics-api.ts';
import { parseSummary, type Summary, type UsageScraper } from './usage-scraper.ts';

const time = '2026-01-01T00:00:00Z';
const used = (usageNanoCores: number, workingSetBytes: number) => ({
  cpu: { time, usageNanoCores },
  memory: { time, workingSetBytes },
});

test('a Pod with a missing container is omitted', () => {
  const known = { name: 'a', ...used(1e6, 1024) };
  const summary: Summary = {
    node: used(5e6, 4096),
    pods: [
      { podRef: { uid: 'whole' }, containers: [known, { name: 'b', ...used(2e6, 2048) }] },
      { podRef: { uid: 'part' }, containers: [known, { name: 'b' }] },
      { podRef: { uid: 'empty' } },
    ],
  };
  const { usage, at, pods } = parseSummary(summary);
  assert.deepEqual([usage, at], [{ nanoCores: 5e6, memoryBytes: 4096 }, instantOf(2026, 1, 1)]);
  assert.deepEqual([...pods.keys()], ['whole']);
});

/** Starts a server with a node and two Pods with the given usage. */
async function startWithMetrics() {
  const servers = createInProcessServers();
  const server = await startTestServer({ inProcessServers: servers });
  const { client } = server;
  const stop = new AbortController();
  await client.create(serviceAccount, { metadata: { name: 'default', namespace: 'default' } });
  await client.create(node, { metadata: { name: 'node-1' } });
  const uids: string[] = [];
  for (const name of ['busy', 'idle']) {
    const made = await client.create(pod, {
      metadata: { name, namespace: 'default', labels: { app: name } },
      spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'web' }] },
    });
    await client.update(pod, { ...made, status: { phase: 'Running' } }, { subresource: 'status' });
    uids.push(made.metadata.uid ?? '');
  }
  const figures: UsageScraper = {
    of: async ({ metadata }: Node) => {
      assert.equal(metadata.name, 'node-1');
      const containers = [{ name: 'main', ...used(250_000_000, 64 << 20) }];
      return parseSummary({
        node: used(300_123_456, 100 << 20),
        pods: uids.map((uid) => ({ podRef: { uid }, containers })),
      });
    },
  };
  const caches = createCaches(client, systemClock, seededRandom('metrics'), {}, stop.signal);
  await installMetrics(client);
  servers.add(metricsService, metricsApi({ caches, figures, clock: systemClock }));
  return {
    server,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await server.close();
    },
  };
}

const root = '/apis/metrics.k8s.io/v1beta1';
type Item = { readonly metadata: { readonly name: string }; readonly usage?: object; readonly containers?: object };
async function ask(client: Client, path: string, query: { [name: string]: string } = {}) {
  const { object } = await client.transport.request({ method: 'GET', path: `${root}/${path}`, query });
  return object as Item & { readonly items: readonly Item[] };
}

test('metrics of nodes and Pods are listed and selected by label', async () => {
  await using started = await startWithMetrics();
  const { client } = started.server;
  assert.deepEqual((await ask(client, 'nodes')).items[0]?.usage, { cpu: '300123456n', memory: '100Mi' });
  const chosen = await ask(client, 'namespaces/default/pods', { labelSelector: 'app=busy' });
  assert.deepEqual(
    chosen.items.map(({ metadata, containers }) => [metadata.name, containers]),
    [['busy', [{ name: 'main', usage: { cpu: '250m', memory: '64Mi' } }]]],
  );
  assert.equal((await ask(client, 'namespaces/default/pods/idle')).metadata.name, 'idle');
  assert.deepEqual((await ask(client, 'namespaces/other/pods')).items, []);
  await assert.rejects(ask(client, 'namespaces/default/pods/none'), isNotFound);
});

test('a user without permission cannot read metrics', async () => {
  await using started = await startWithMetrics();
  const anyone = started.server.clientOf({ username: 'anyone', groups: ['system:authenticated'] });
  await assert.rejects(ask(anyone, 'nodes'), isForbidden);
  const autoscaler = started.server.clientOf({
    username: 'system:serviceaccount:kube-system:horizontal-pod-autoscaler',
    groups: ['system:authenticated'],
  });
  assert.equal((await ask(autoscaler, 'namespaces/default/pods')).items.length, 2);
});

test('the API is announced as available even before its server starts', async () => {
  await using started = await startWithMetrics();
  const { client } = started.server;
  const stop = new AbortController();
  const caches = createCaches(client, systemClock, seededRandom('announced'), {}, stop.signal);
  const message = await new Promise((resolve) => {
    caches.informer(apiService).handle(({ object }) => {
      const [condition] = object.status?.conditions ?? [];
      const isOurs = object.metadata.name === 'v1beta1.metrics.k8s.io';
      if (isOurs && condition?.status === 'True') resolve(condition.message);
    });
  });
  stop.abort();
  assert.equal(message, 'all checks passed');
});
