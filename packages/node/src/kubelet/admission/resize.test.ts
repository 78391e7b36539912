import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { findCondition } from '@kruise/machinery/conditions';
import { isPodReady } from '@kruise/machinery/pods';
import { makePod } from '../fixtures.ts';
import { startTestNode, type TestNode } from '../testing/test-node.ts';
import { createAllocations } from './allocations.ts';

const isReady = (pod: Pod | undefined) => pod !== undefined && isPodReady(pod);
const containerOf = (pod: Pod | undefined) => pod?.status?.containerStatuses?.[0];
const amounts = (cpu: string, memory: string) => ({ requests: { cpu, memory }, limits: { cpu, memory } });

async function resize(node: TestNode, resources: object): Promise<void> {
  const patch = { spec: { containers: [{ name: 'c', resources }] } };
  await node.server.client.patch(podKind, { name: 'web', namespace: 'default' }, patch, {
    type: 'strategic',
    subresource: 'resize',
  });
}

const web = { name: 'c', image: 'nginx:1.25', resources: amounts('1', '64Mi') };

test('a running container is resized in place', async () => {
  await using node = await startTestNode();
  await node.create({ containers: [web] });
  const before = await node.waitUntil('web', isReady);
  await resize(node, amounts('2', '128Mi'));
  const after = await node.waitUntil('web', (pod) => containerOf(pod)?.resources?.limits?.cpu === '2');
  assert.deepEqual(containerOf(after)?.resources, amounts('2', '128Mi'));
  assert.deepEqual(containerOf(after)?.allocatedResources, { cpu: '2', memory: '128Mi' });
  assert.equal(containerOf(after)?.containerID, containerOf(before)?.containerID);
  assert.equal(containerOf(after)?.restartCount, 0);
  assert.equal(findCondition(after?.status?.conditions, 'PodResizePending'), undefined);
  await node.advance(1);
  assert.equal(findCondition((await node.get('web')).status?.conditions, 'PodResizeInProgress'), undefined);
});

test('a resize restarts a container with RestartContainer policy', async () => {
  await using node = await startTestNode();
  const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' as const }];
  await node.create({ containers: [{ ...web, resizePolicy }] });
  await node.waitUntil('web', isReady);
  await resize(node, amounts('1', '128Mi'));
  const after = await node.waitUntil('web', (pod) => isReady(pod) && containerOf(pod)?.restartCount === 1);
  assert.deepEqual(containerOf(after)?.resources, amounts('1', '128Mi'));
  assert.ok((await node.events('web')).includes('Normal Killing: Container c resize requires restart'));
});

test('a resize beyond the node capacity is infeasible', async () => {
  await using node = await startTestNode();
  await node.create({ containers: [web] });
  await node.waitUntil('web', isReady);
  await resize(node, amounts('9', '64Mi'));
  const pod = await node.waitUntil(
    'web',
    (found) => findCondition(found?.status?.conditions, 'PodResizePending') !== undefined,
  );
  const { reason, message } = findCondition(pod?.status?.conditions, 'PodResizePending')!;
  assert.deepEqual(
    [reason, message],
    ['Infeasible', "Node didn't have enough capacity: cpu, requested: 9000, capacity: 4000"],
  );
  assert.deepEqual(containerOf(pod)?.resources, amounts('1', '64Mi'));
});

test('a resize that does not fit now is deferred', async () => {
  await using node = await startTestNode();
  await node.create({ name: 'other', containers: [{ ...web, resources: amounts('2', '64Mi') }] });
  await node.create({ containers: [web] });
  await node.waitUntil('web', isReady);
  await resize(node, amounts('3', '64Mi'));
  const pod = await node.waitUntil(
    'web',
    (found) => findCondition(found?.status?.conditions, 'PodResizePending') !== undefined,
  );
  assert.equal(findCondition(pod?.status?.conditions, 'PodResizePending')?.reason, 'Deferred');
  await node.server.client.delete(podKind, { name: 'other', namespace: 'default' });
  const after = await node.waitUntil('web', (found) => containerOf(found)?.resources?.limits?.cpu === '3');
  assert.equal(findCondition(after?.status?.conditions, 'PodResizePending'), undefined);
});

test('a restarted kubelet knows its allocations', async () => {
  await using node = await startTestNode();
  await node.create({ containers: [web] });
  await node.waitUntil('web', isReady);
  await resize(node, amounts('9', '64Mi'));
  await node.waitUntil('web', (found) => findCondition(found?.status?.conditions, 'PodResizePending') !== undefined);
  await node.restart();
  await node.advance(5);
  const pod = await node.get('web');
  assert.equal(findCondition(pod.status?.conditions, 'PodResizePending')?.reason, 'Infeasible');
  assert.deepEqual(containerOf(pod)?.resources, amounts('1', '64Mi'));
  assert.equal(pod.status?.phase, 'Running');
});

const inProgress = (pod: Pod | undefined) => findCondition(pod?.status?.conditions, 'PodResizeInProgress');

test('a memory limit is not reduced below the usage', async () => {
  await using node = await startTestNode();
  const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'NotRequired' as const }];
  await node.create({
    annotations: { 'sim.kruise.io/memory': '60Mi' },
    containers: [{ ...web, resources: amounts('1', '128Mi'), resizePolicy }],
  });
  await node.waitUntil('web', isReady);
  // The API server rejects this, but a kubelet must handle it.
  const { podSandboxStats } = node.runtime;
  Object.assign(node.runtime, {
    podSandboxStats: async (request: { podSandboxId: string }) => {
      const { stats } = await podSandboxStats(request);
      const memory = { ...stats.linux!.memory!, usageBytes: 300 * 2 ** 20 };
      return { stats: { ...stats, linux: { ...stats.linux!, memory } } };
    },
  });
  await resize(node, amounts('1', '256Mi'));
  const stuck = await node.waitUntil('web', (pod) => inProgress(pod)?.reason === 'Error');
  assert.equal(
    inProgress(stuck)?.message,
    'aborting attempt to set pod memory limit less than current memory usage for pod web',
  );
  assert.equal(containerOf(stuck)?.allocatedResources?.memory, '256Mi');
  Object.assign(node.runtime, { podSandboxStats });
  const done = await node.waitUntil('web', (pod) => containerOf(pod)?.resources?.limits?.memory === '256Mi');
  assert.equal(containerOf(done)?.restartCount, 0);
  await node.advance(1);
  assert.equal(inProgress(await node.get('web')), undefined);
});

test('a resize that the runtime rejects is reported and retried', async () => {
  await using node = await startTestNode();
  await node.create({ containers: [web] });
  await node.waitUntil('web', isReady);
  const { updateContainerResources } = node.runtime;
  Object.assign(node.runtime, { updateContainerResources: () => Promise.reject(new Error('not now')) });
  await resize(node, amounts('2', '64Mi'));
  const stuck = await node.waitUntil('web', (pod) => inProgress(pod)?.reason === 'Error');
  assert.equal(inProgress(stuck)?.message, 'not now');
  Object.assign(node.runtime, { updateContainerResources });
  await node.waitUntil('web', (pod) => inProgress(pod) === undefined);
  assert.equal(containerOf(await node.get('web'))?.resources?.limits?.cpu, '2');
});

test('a static Pod cannot be resized', () => {
  const allocations = createAllocations();
  const fixture = (cpu: string) =>
    makePod({
      metadata: { annotations: { 'kubernetes.io/config.source': 'file' } },
      containers: [{ ...web, resources: amounts(cpu, '64Mi') }],
    });
  allocations.admit(fixture('1'));
  const { pending, pod } = allocations.resize(fixture('2'), { allocatable: { cpu: '8' }, admits: () => undefined });
  assert.deepEqual(pending, {
    type: 'PodResizePending',
    status: 'True',
    reason: 'Infeasible',
    message: 'In-place resize of static-pods is not supported',
  });
  assert.equal(pod.spec?.containers[0]?.resources?.requests?.cpu, '1');
});

test('a container in backoff starts at once after a resize', async () => {
  await using node = await startTestNode();
  await node.create({ annotations: { 'sim.kruise.io/run-for': '1s' }, containers: [web] });
  await node.waitUntil(
    'web',
    (pod) => (containerOf(pod)?.restartCount ?? 0) >= 5 && containerOf(pod)?.state?.waiting != null,
  );
  const before = containerOf(await node.get('web'))!.restartCount;
  const at = node.clock.now();
  await resize(node, amounts('2', '64Mi'));
  await node.waitUntil('web', (pod) => containerOf(pod)?.restartCount === before + 1);
  assert.ok(node.clock.now() - at < 2000);
});
