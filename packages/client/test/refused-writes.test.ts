import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConfigMap, configMap } from '@kruise/api/core/configmap';
import { resourceQuota } from '@kruise/api/core/resourcequota';
import { secret } from '@kruise/api/core/secret';
import { type Service, service } from '@kruise/api/core/service';
import { create, patch } from '@kruise/client/actions';
import { createClient } from '@kruise/client/client';
import { defineController } from '@kruise/client/controller';
import { createControllerMetrics } from '@kruise/client/controller-metrics';
import type { Log } from '@kruise/client/log';
import { runControllers } from '@kruise/client/manager';
import { createMetrics } from '@kruise/client/metrics';
import { createStuckKeyRegistry } from '@kruise/client/stuck-keys';
import { controllerReference } from '@kruise/machinery/owner-references';
import { forbidden, tooManyRequests } from '@kruise/machinery/status';
import { type Cluster, startCluster } from './cluster.ts';

const reference = { namespace: 'default', name: 'web' };

/** A Service that owns a ConfigMap and copies an annotation to its status: each event causes an own write. */
const statusWriter = defineController({
  name: 'restless',
  for: service,
  owns: [configMap],
  observe(caches, key) {
    const found = key === 'default/web' ? caches.of(service).get(key) : undefined;
    return found && { set: found, members: caches.of(configMap).controlledBy(found) };
  },
  decide: ({ set, members }) => ({
    actions: [...(members.length === 0 ? [create(memberOf(set))] : [])],
    status: {
      ...set.status,
      loadBalancer: { ingress: [{ hostname: `second-${set.metadata.annotations?.['second']}` }] },
    },
  }),
});

function memberOf({ metadata }: Service): ConfigMap {
  const { name = '', namespace = '', uid = '' } = metadata;
  const owner = controllerReference({ apiVersion: 'v1', kind: 'Service', metadata: { name, uid } });
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { generateName: `${name}-`, namespace, ownerReferences: [owner] },
  };
}

type Line = { readonly level: string; readonly message: string; readonly fields: { readonly [name: string]: unknown } };

/** Runs a controller whose creates are rejected until they are allowed; records the time of each attempt. */
function run(cluster: Cluster, controller = statusWriter) {
  const stop = new AbortController();
  const { client, clock, random } = cluster;
  const attempts: number[] = [];
  const lines: Line[] = [];
  let isDenied = true;
  const start = clock.now();
  const registry = createMetrics();
  const refusing = createClient({
    ...client.transport,
    async request(request) {
      if (request.method !== 'POST' || !request.path.endsWith('/configmaps')) return client.transport.request(request);
      attempts.push((clock.now() - start) / 1000);
      if (isDenied) throw forbidden({ group: '', plural: 'configmaps' }, 'x', 'denied by policy');
      return client.transport.request(request);
    },
  });
  const line = (level: string) => (fields: Line['fields'], message: string) => {
    lines.push({ level, message, fields });
  };
  const log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') } as Log;
  const metrics = createControllerMetrics(registry);
  const stuckKeys = createStuckKeyRegistry();
  const options = { client: refusing, clock, random, log, metrics, stuckKeys };
  const done = runControllers([controller], options, stop.signal);
  return {
    attempts,
    lines,
    stuckKeys,
    stuck: () => /controller_runtime_stuck_keys\{controller="restless"\} (\d+)/.exec(registry.text())?.[1],
    letIn: () => void (isDenied = false),
    async stop() {
      stop.abort();
      await cluster.advance(0);
      await done;
    },
  };
}

const webService: Partial<Service> = { metadata: reference, spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } };

/** Changes the object once a second as another client. */
async function disturb({ client, advance }: Cluster, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    const annotations = { second: String(second) };
    await client.patch(service, reference, { metadata: { annotations } }, { type: 'merge' });
    await advance(1);
  }
}

test('events and own status writes do not shorten the backoff of a rejected write, which blocks no other', async () => {
  const cluster = await startCluster();
  const { client } = cluster;
  await client.create(service, webService);
  const running = run(cluster);
  await cluster.advance(0);
  await disturb(cluster, 60);
  assert.deepEqual(running.attempts, [0, 1, 3, 7, 15, 31]);
  // Every event was still followed by a status update.
  const { status } = await client.get(service, reference);
  assert.deepEqual(status?.loadBalancer?.ingress, [{ hostname: 'second-59' }]);
  await running.stop();
  await cluster.close();
});

test('another spec ends the backoff of a rejected write and resets it', async () => {
  const cluster = await startCluster();
  const { client } = cluster;
  await client.create(service, webService);
  const running = run(cluster);
  await cluster.advance(20);
  await client.patch(service, reference, { spec: { ports: [{ port: 81 }] } }, { type: 'merge' });
  await cluster.advance(4);
  assert.deepEqual(running.attempts, [0, 1, 3, 7, 15, 20, 21, 23]);
  await running.stop();
  await cluster.close();
});

test('a write that is allowed again is sent when its backoff ends', async () => {
  const cluster = await startCluster();
  await cluster.client.create(service, webService);
  const running = run(cluster);
  await cluster.advance(10);
  running.letIn();
  await cluster.advance(60);
  assert.deepEqual(running.attempts, [0, 1, 3, 7, 15]);
  const { items } = await cluster.client.list(configMap, { namespace: 'default' });
  assert.equal(items.filter(({ metadata }) => metadata.ownerReferences).length, 1);
  await running.stop();
  await cluster.close();
});

test('a key that is retried for more than ten minutes is counted and logged once, until it recovers', async () => {
  const cluster = await startCluster();
  await cluster.client.create(service, webService);
  const running = run(cluster);
  const warnings = () =>
    running.lines.filter(({ message }) => message === 'key has been retried for more than ten minutes');
  await cluster.advance(590);
  assert.deepEqual([running.stuck(), warnings().length], ['0', 0]);
  await cluster.advance(900);
  assert.equal(running.stuck(), '1');
  assert.deepEqual(
    running.stuckKeys.list().map(({ controller, key }) => [controller, key]),
    [['restless', 'default/web']],
  );
  assert.deepEqual(
    warnings().map(({ level, fields: { controller, key, message } }) => [level, controller, key, message]),
    [['warn', 'restless', 'default/web', 'configmaps "x" is forbidden: denied by policy']],
  );
  running.letIn();
  await cluster.advance(301);
  assert.equal(running.stuck(), '0');
  await running.stop();
  await cluster.close();
});

test('a quota that rejects one kind does not stop another', async () => {
  const cluster = await startCluster();
  const { client } = cluster;
  await client.create(service, webService);
  await client.create(resourceQuota, {
    metadata: { name: 'none', namespace: 'default' },
    spec: { hard: { 'count/secrets': '0' } },
  });
  await client.patch(
    resourceQuota,
    { namespace: 'default', name: 'none' },
    { status: { hard: { 'count/secrets': '0' }, used: { 'count/secrets': '0' } } },
    { type: 'merge', subresource: 'status' },
  );
  const metadata = { namespace: 'default', name: 'web' };
  const both = defineController({
    name: 'restless',
    for: service,
    uses: [secret, configMap],
    observe: (caches, key) => (key === 'default/web' ? caches.of(service).get(key) : undefined),
    decide: (found) => ({
      actions: [
        { ...create({ apiVersion: 'v1', kind: 'Secret', metadata }), isIndependent: true },
        patch(found, { metadata: { labels: { seen: found.metadata.annotations?.['second'] ?? '' } } }),
      ],
    }),
  });
  const running = run(cluster, both);
  await cluster.advance(0);
  await disturb(cluster, 5);
  assert.equal((await client.get(service, reference)).metadata.labels?.['seen'], '4');
  await running.stop();
  await cluster.close();
});

const unwritten = [
  { name: 'a decision whose status write is in backoff', isStatusRejected: true },
  { name: 'a decision that writes nothing', isStatusRejected: false },
];
for (const { name, isStatusRejected } of unwritten) {
  test(`${name} is not repeated at once, even if it requeues the key without a delay`, async () => {
    const cluster = await startCluster();
    const { client, clock, random } = cluster;
    let evaluated = 0;
    const continuing = defineController({
      name: 'continuing',
      for: service,
      observe: (caches, key) => (key === 'default/web' ? caches.of(service).get(key) : undefined),
      decide: (found) => ({
        actions: [],
        status: isStatusRejected ? { ...found.status, loadBalancer: { ingress: [{ hostname: 'x' }] } } : found.status,
        // An endless loop of reconciles would not even let the test time out.
        ...(++evaluated < 1000 ? { requeueAfterSeconds: 0 } : {}),
      }),
    });
    await client.create(service, webService);
    const rejecting = createClient({
      ...client.transport,
      async request(request) {
        if (request.path.endsWith('/status')) throw tooManyRequests('too many requests', 1);
        return client.transport.request(request);
      },
    });
    const stop = new AbortController();
    const done = runControllers([continuing], { client: rejecting, clock, random }, stop.signal);
    // The backoff is 5, 10, 20 … ms.
    await cluster.advance(2);
    assert.equal(evaluated, 9);
    await client.patch(service, reference, { metadata: { annotations: { second: '2' } } }, { type: 'merge' });
    await cluster.advance(0);
    assert.equal(evaluated, 10);
    stop.abort();
    await cluster.advance(0);
    await done;
    await cluster.close();
  });
}
