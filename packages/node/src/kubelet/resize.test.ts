import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { findCondition } from '@kruise/machinery/conditions';
import { isPodReady } from '@kruise/machinery/pods';
import { startTestNode, type TestNode } from './testing/test-node.ts';

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

test('a running container is given other resources', async () => {
  await using node = await startTestNode();
  await node.create({ containers: [web] });
  const before = await node.until('web', isReady);
  await resize(node, amounts('2', '128Mi'));
  const after = await node.until('web', (pod) => containerOf(pod)?.resources?.limits?.cpu === '2');
  assert.deepEqual(containerOf(after)?.resources, amounts('2', '128Mi'));
  assert.deepEqual(containerOf(after)?.allocatedResources, { cpu: '2', memory: '128Mi' });
  assert.equal(containerOf(after)?.containerID, containerOf(before)?.containerID);
  assert.equal(containerOf(after)?.restartCount, 0);
  assert.equal(findCondition(after?.status?.conditions, 'PodResizePending'), undefined);
  await node.pass(1);
  assert.equal(findCondition((await node.get('web')).status?.conditions, 'PodResizeInProgress'), undefined);
});

test('a container may have to be restarted for other resources', async () => {
  await using node = await startTestNode();
  const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' as const }];
  await node.create({ containers: [{ ...web, resizePolicy }] });
  await node.until('web', isReady);
  await resize(node, amounts('1', '128Mi'));
  const after = await node.until('web', (pod) => isReady(pod) && containerOf(pod)?.restartCount === 1);
  assert.deepEqual(containerOf(after)?.resources, amounts('1', '128Mi'));
  assert.ok((await node.events('web')).includes('Normal Killing: Container c resize requires restart'));
});

test('what the node can never give is infeasible', async () => {
  await using node = await startTestNode();
  await node.create({ containers: [web] });
  await node.until('web', isReady);
  await resize(node, amounts('9', '64Mi'));
  const pod = await node.until(
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

test('what the node cannot give now is deferred until it can', async () => {
  await using node = await startTestNode();
  await node.create({ name: 'other', containers: [{ ...web, resources: amounts('2', '64Mi') }] });
  await node.create({ containers: [web] });
  await node.until('web', isReady);
  await resize(node, amounts('3', '64Mi'));
  const pod = await node.until(
    'web',
    (found) => findCondition(found?.status?.conditions, 'PodResizePending') !== undefined,
  );
  assert.equal(findCondition(pod?.status?.conditions, 'PodResizePending')?.reason, 'Deferred');
  await node.server.client.delete(podKind, { name: 'other', namespace: 'default' });
  const after = await node.until('web', (found) => containerOf(found)?.resources?.limits?.cpu === '3');
  assert.equal(findCondition(after?.status?.conditions, 'PodResizePending'), undefined);
});

test('a kubelet that starts again knows what it has given', async () => {
  await using node = await startTestNode();
  await node.create({ containers: [web] });
  await node.until('web', isReady);
  await resize(node, amounts('9', '64Mi'));
  await node.until('web', (found) => findCondition(found?.status?.conditions, 'PodResizePending') !== undefined);
  await node.restart();
  await node.pass(5);
  const pod = await node.get('web');
  assert.equal(findCondition(pod.status?.conditions, 'PodResizePending')?.reason, 'Infeasible');
  assert.deepEqual(containerOf(pod)?.resources, amounts('1', '64Mi'));
  assert.equal(pod.status?.phase, 'Running');
});
