import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployment } from '@kruise/api/apps/deployment';
import { horizontalPodAutoscaler } from '@kruise/api/autoscaling/horizontalpodautoscaler';
import { event } from '@kruise/api/core/event';
import { pod } from '@kruise/api/core/pod';
import { type Client, createClient } from '@kruise/client/client';
import { runControllers } from '@kruise/client/manager';
import { createScaleTargets } from '@kruise/client/scale-targets';
import { forbidden } from '@kruise/machinery/status';
import { formatTime } from '@kruise/values/time';
import { type Cluster, startCluster } from '../../testing/cluster.ts';
import { horizontalPodAutoscalerController } from './controller.ts';
import { metricsApis } from './metrics-api.ts';

const selector = { matchLabels: { app: 'web' } };
const spec = { containers: [{ name: 'main', image: 'i', resources: { requests: { cpu: '1' } } }] };
const reference = { namespace: 'default', name: 'web' };

async function addWorkload({ client, clock }: Cluster): Promise<void> {
  const template = { metadata: { labels: { app: 'web' } }, spec };
  await client.create(deployment, { metadata: reference, spec: { replicas: 2, selector, template } });
  const status = { replicas: 2, observedGeneration: 1 };
  await client.patch(deployment, reference, { status }, { type: 'merge', subresource: 'status' });
  for (const name of ['a', 'b']) {
    await client.create(pod, { metadata: { namespace: 'default', name, labels: { app: 'web' } }, spec });
    const at = formatTime(clock.now() - 3_600_000);
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: at }];
    await client.patch(
      pod,
      { namespace: 'default', name },
      { status: { phase: 'Running', startTime: at, conditions } },
      { type: 'merge', subresource: 'status' },
    );
  }
}

const autoscale = ({ client }: Cluster) =>
  client.create(horizontalPodAutoscaler, {
    metadata: reference,
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      maxReplicas: 10,
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
      ],
    },
  });

/** Returns a client with a fake metrics API: each Pod has the same CPU usage. */
function withMetrics(client: Client, usage: () => string, now: () => number, asked: string[] = []): Client {
  return createClient({
    ...client.transport,
    watch: (request) => client.transport.watch(request),
    async request(request) {
      if (!request.path.startsWith('/apis/metrics.k8s.io/')) return client.transport.request(request);
      asked.push(`${request.path}?${request.query?.['labelSelector']}`);
      const items = ['a', 'b'].map((name) => ({
        metadata: { name },
        timestamp: formatTime(now()),
        window: '30s',
        containers: [{ name: 'main', usage: { cpu: usage() } }],
      }));
      return { code: 200, object: { items }, warnings: [] };
    },
  });
}

test('a workload scales up with its load, with the permissions of the controller', async () => {
  await using cluster = await startCluster();
  const { client, clock } = cluster;
  await addWorkload(cluster);
  await autoscale(cluster);
  const stop = new AbortController();
  const own = cluster.clientOfAccount('horizontal-pod-autoscaler');
  const asked: string[] = [];
  let usage = '800m';
  const done = runControllers(
    [horizontalPodAutoscalerController()],
    { client, clientFor: () => withMetrics(own, () => usage, clock.now, asked), clock, random: { next: () => 0.5 } },
    stop.signal,
  );
  await cluster.advance(1);
  assert.equal((await client.get(deployment, reference)).spec?.replicas, 4);
  assert.deepEqual(asked, ['/apis/metrics.k8s.io/v1beta1/namespaces/default/pods?app=web']);
  const { status } = await client.get(horizontalPodAutoscaler, reference);
  assert.deepEqual([status?.currentReplicas, status?.desiredReplicas], [2, 4]);
  const events = (await client.list(event)).items.map(({ reason, message }) => `${reason}: ${message}`);
  assert.deepEqual(events, [
    'SuccessfulRescale: New size: 4; reason: cpu resource utilization (percentage of request) above target',
  ]);

  usage = '100m';
  await cluster.advance(280);
  assert.equal((await client.get(deployment, reference)).spec?.replicas, 4);
  await cluster.advance(60);
  assert.equal((await client.get(deployment, reference)).spec?.replicas, 1);
  assert.equal(asked.length > 20 && asked.length < 26, true);
  stop.abort();
  await cluster.advance(0);
  await done;
});

test('without metrics, nothing is scaled, and an event is emitted', async () => {
  await using cluster = await startCluster();
  await addWorkload(cluster);
  await autoscale(cluster);
  await cluster.run(['horizontal-pod-autoscaler-controller']);
  await cluster.advance(1);
  const { status } = await cluster.client.get(horizontalPodAutoscaler, reference);
  const active = status?.conditions?.find(({ type }) => type === 'ScalingActive');
  assert.equal(active?.reason, 'FailedGetResourceMetric');
  assert.match(
    active?.message ?? '',
    /unable to fetch metrics from resource metrics API: the server could not find the requested resource \(get pods.metrics.k8s.io\)$/,
  );
  assert.deepEqual(cluster.warnings, []);
});

test('a rejected rescale emits an event', async () => {
  await using cluster = await startCluster();
  const { client, clock } = cluster;
  await addWorkload(cluster);
  await autoscale(cluster);
  const own = withMetrics(cluster.clientOfAccount('horizontal-pod-autoscaler'), () => '800m', clock.now);
  const refusing = createClient({
    watch: (request) => own.transport.watch(request),
    async request(request) {
      if (request.method === 'PUT' && request.path.endsWith('/scale'))
        throw forbidden({ group: 'apps', plural: 'deployments' }, 'web', 'no');
      return own.transport.request(request);
    },
  });
  const stop = new AbortController();
  const done = runControllers(
    [horizontalPodAutoscalerController()],
    { client, clientFor: () => refusing, clock, random: { next: () => 0.5 } },
    stop.signal,
  );
  await cluster.advance(1);
  assert.equal((await client.get(deployment, reference)).spec?.replicas, 2);
  const { status } = await client.get(horizontalPodAutoscaler, reference);
  const able = status?.conditions?.find(({ type }) => type === 'AbleToScale');
  assert.deepEqual([able?.status, able?.reason], ['False', 'FailedUpdateScale']);
  const events = (await client.list(event)).items.map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
  assert.deepEqual(events, [
    'Warning FailedRescale: New size: 4; reason: cpu resource utilization (percentage of request) above target; error: deployments.apps "web" is forbidden: no',
  ]);
  stop.abort();
  await cluster.advance(0);
  await done;
});

test('two autoscalers of the same Pods are both rejected', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await addWorkload(cluster);
  const { spec: wanted } = await autoscale(cluster);
  await client.create(horizontalPodAutoscaler, { metadata: { ...reference, name: 'again' }, spec: wanted! });
  await cluster.run(['horizontal-pod-autoscaler-controller']);
  await cluster.advance(20);
  const { status } = await client.get(horizontalPodAutoscaler, reference);
  const active = status?.conditions?.find(({ type }) => type === 'ScalingActive');
  assert.equal(
    active?.message,
    'pods by selector app=web are controlled by multiple HPAs: [{again default} {web default}]',
  );
});

const answers = new Map<string, object>([
  [
    '/apis/custom.metrics.k8s.io/v1beta1/namespaces/ns/pods/*/hits',
    { items: [{ describedObject: { name: 'a' }, timestamp: '2026-01-01T00:00:00Z', value: '1500m' }] },
  ],
  ['/apis/custom.metrics.k8s.io/v1beta1/namespaces/ns/services/web/hits', { items: [{ value: '3' }] }],
  ['/apis/custom.metrics.k8s.io/v1beta1/namespaces/ns/metrics/hits', { items: [{ value: '4' }] }],
  ['/apis/external.metrics.k8s.io/v1beta1/namespaces/ns/queue', { items: [{ value: '2' }, { value: '500m' }] }],
]);

test('custom and external metrics are queried from their APIs', async () => {
  await using cluster = await startCluster();
  const queries: unknown[] = [];
  const client = createClient({
    watch: (request) => cluster.client.transport.watch(request),
    async request(request) {
      const object = answers.get(request.path);
      if (object) queries.push(request.query);
      return object ? { code: 200, object, warnings: [] } : cluster.client.transport.request(request);
    },
  });
  const source = metricsApis(createScaleTargets());
  const target = { type: 'AverageValue', averageValue: '1' };
  const metric = { name: 'hits', selector: { matchLabels: { verb: 'GET' } } };
  const ask = (spec: Parameters<typeof source.answer>[1]) =>
    source.answer(client, spec, { namespace: 'ns', podSelector: 'app=web' }, new AbortController().signal);
  assert.deepEqual(await ask({ type: 'Pods', pods: { metric, target } }), {
    pods: new Map([['a', { value: 1500, at: Date.UTC(2026, 0, 1), windowMs: 60_000 }]]),
  });
  const service = { kind: 'Service', name: 'web', apiVersion: 'v1' };
  assert.deepEqual(await ask({ type: 'Object', object: { describedObject: service, metric, target } }), {
    value: 3000,
  });
  const namespace = { kind: 'Namespace', name: 'ns', apiVersion: 'v1' };
  assert.deepEqual(await ask({ type: 'Object', object: { describedObject: namespace, metric, target } }), {
    value: 4000,
  });
  assert.deepEqual(await ask({ type: 'External', external: { metric: { ...metric, name: 'queue' }, target } }), {
    value: 2500,
  });
  assert.deepEqual(queries, [
    { labelSelector: 'app=web', metricLabelSelector: 'verb=GET' },
    { metricLabelSelector: 'verb=GET' },
    { metricLabelSelector: 'verb=GET' },
    { labelSelector: 'verb=GET' },
  ]);
  const missing = await ask({ type: 'External', external: { metric: { name: 'none' }, target } });
  assert.match('failure' in missing ? missing.failure : '', /^unable to fetch metrics from external metrics API: /);
});
