import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { deployment } from '@kruise/api/apps/deployment';
import { horizontalPodAutoscaler } from '@kruise/api/autoscaling/horizontalpodautoscaler';
import { horizontalPodAutoscaler as horizontalPodAutoscalerV1 } from '@kruise/api/autoscaling/horizontalpodautoscaler-v1';
import { event as coreEvent } from '@kruise/api/core/event';
import { namespace as namespaceKind } from '@kruise/api/core/namespace';
import { event } from '@kruise/api/events/event';
import { isConflict, isNotFound } from '@kruise/machinery/status';
import { startTestServer } from '../testing/test-server.ts';

const namespace = 'default';
const server = await startTestServer();
const { client } = server;
after(() => server.close());

test('an autoscaler written in one version is read in the other', async () => {
  const spec = {
    scaleTargetRef: { kind: 'Deployment', name: 'd' },
    maxReplicas: 3,
    targetCPUUtilizationPercentage: 55,
  };
  await client.create(horizontalPodAutoscalerV1, { metadata: { name: 'a', namespace }, spec });
  const found = await client.get(horizontalPodAutoscaler, { name: 'a', namespace });
  assert.equal(found.spec?.metrics?.[0]?.resource?.target.averageUtilization, 55);
  const metrics = [
    { type: 'Pods', pods: { metric: { name: 'q' }, target: { type: 'AverageValue', averageValue: '5' } } },
  ];
  await client.update(horizontalPodAutoscaler, { ...found, spec: { ...found.spec!, metrics } });
  const old = await client.get(horizontalPodAutoscalerV1, { name: 'a', namespace });
  assert.match(old.metadata.annotations?.['autoscaling.alpha.kubernetes.io/metrics'] ?? '', /"metricName":"q"/);
  await client.delete(horizontalPodAutoscalerV1, { name: 'a', namespace });
  await assert.rejects(client.get(horizontalPodAutoscaler, { name: 'a', namespace }), isNotFound);
});

test('a v1 status write of an autoscaler owns the annotations that represent the status', async () => {
  const spec = { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 3 };
  await client.create(horizontalPodAutoscalerV1, { metadata: { name: 'b', namespace }, spec });
  const status = { currentReplicas: 1, desiredReplicas: 1, currentCPUUtilizationPercentage: 20 };
  const options = { type: 'merge', subresource: 'status' } as const;
  await client.patch(horizontalPodAutoscalerV1, { name: 'b', namespace }, { status }, options);
  const { storage } = server.core.resources.find('autoscaling', 'v1', 'horizontalpodautoscalers')!;
  const { managedFields } = storage.cache.get(storage.keyOf(namespace, 'b'))!;
  assert.match(
    JSON.stringify(managedFields),
    /f:autoscaling\.alpha\.kubernetes\.io\/current-metrics.*"subresource":"status"/,
  );
});

test('an event of one group is served in the other', async () => {
  const involvedObject = { kind: 'Pod', name: 'p', namespace };
  await client.create(coreEvent, { metadata: { name: 'e', namespace }, involvedObject, message: 'm' });
  const found = await client.get(event, { name: 'e', namespace });
  assert.deepEqual([found.regarding?.name, found.note, found.apiVersion], ['p', 'm', 'events.k8s.io/v1']);
});

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const workload = { metadata: { name: 'd', namespace }, spec: { selector: { matchLabels: { a: 'b' } }, template } };
test('applying a scale takes over the replicas only with force', async () => {
  await client.create(deployment, { ...workload, spec: { ...workload.spec, replicas: 2 } } as never, {
    fieldManager: 'maker',
  });
  const applied = {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'd', namespace },
    spec: { replicas: 4 },
  };
  const apply = (force: boolean) =>
    client.transport.request({
      method: 'PATCH',
      path: `/apis/apps/v1/namespaces/${namespace}/deployments/d/scale`,
      query: { fieldManager: 'scaler', force },
      contentType: 'application/apply-patch+yaml',
      body: applied,
    });
  await assert.rejects(apply(false), isConflict);
  await apply(true);
  // The scale manager now owns the replicas, and applying the object without them does not remove them.
  assert.equal((await client.get(deployment, { name: 'd', namespace })).spec?.replicas, 4);
});

test('a namespace is removed once it is finalized', async () => {
  await client.create(namespaceKind, { metadata: { name: 'n' } });
  await client.delete(namespaceKind, { name: 'n' });
  const going = await client.get(namespaceKind, { name: 'n' });
  assert.deepEqual([going.status?.phase, going.spec?.finalizers], ['Terminating', ['kubernetes']]);
  await client.delete(namespaceKind, { name: 'n' });
  assert.equal(
    (await client.get(namespaceKind, { name: 'n' })).metadata.resourceVersion,
    going.metadata.resourceVersion,
  );
  await client.update(namespaceKind, { ...going, spec: {} }, { subresource: 'finalize' });
  await assert.rejects(client.get(namespaceKind, { name: 'n' }), isNotFound);
});
