/** Kubelet restarts: Pods continue without visible changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ContainerStatus, type Pod, pod as podKind } from '@kruise/api/core/pod';
import { isPodReady } from '@kruise/machinery/pods';
import { statusOf } from '../fixtures.ts';
import { nextRestartCount } from '../pods/container-statuses.ts';
import { startTestNode } from '../testing/test-node.ts';

const isReady = (pod: Pod | undefined) => pod !== undefined && isPodReady(pod);

test('a started and ready container stays so and is still probed', async () => {
  await using node = await startTestNode();
  const probe = { httpGet: { port: 80 }, periodSeconds: 5 };
  await node.create({
    annotations: { 'sim.kruise.io/answers': '200 for 60s, 503' },
    containers: [
      { name: 'c', image: 'nginx:1.25', startupProbe: probe, readinessProbe: { ...probe, failureThreshold: 1 } },
    ],
  });
  const before = await node.waitUntil('web', isReady);
  const seen = node.history.length;
  await node.restart();
  await node.advance(20);
  assert.deepEqual((await node.get('web')).status, before?.status);
  assert.deepEqual(node.history.slice(seen), []);
  await node.waitUntil('web', (pod) => !isReady(pod));
});

test('an unready container does not become ready', async () => {
  await using node = await startTestNode();
  await node.create({
    annotations: { 'sim.kruise.io/answers': '503' },
    containers: [{ name: 'c', image: 'nginx:1.25', readinessProbe: { httpGet: { port: 80 } } }],
  });
  await node.waitUntil('web', (pod) => pod?.status?.phase === 'Running');
  await node.restart();
  await node.advance(30);
  assert.equal(isReady(await node.get('web')), false);
});

test('a container that was created and never started is replaced and does not start later', async () => {
  await using node = await startTestNode();
  const { startContainer } = node.runtime;
  const late: (() => Promise<void>)[] = [];
  Object.assign(node.runtime, {
    startContainer: (request: { containerId: string }) => {
      late.push(() => startContainer(request));
      return new Promise(() => {});
    },
  });
  await node.create({});
  await node.advance(5);
  Object.assign(node.runtime, { startContainer });
  await node.restart();
  await node.waitUntil('web', isReady);
  await assert.rejects(late[0]!());
  const { containers } = await node.runtime.listContainers({});
  assert.deepEqual(
    containers.map(({ state, metadata }) => [state, metadata.attempt]),
    [['CONTAINER_RUNNING', 1]],
  );
});

test('a sandbox created for a deleted Pod is removed', async () => {
  await using node = await startTestNode();
  await node.create({ annotations: { 'sim.kruise.io/sandbox-latency': '30s' } });
  await node.advance(2);
  const { runPodSandbox } = node.runtime;
  void runPodSandbox(
    {
      config: {
        metadata: { name: 'web', namespace: 'default', uid: 'gone', attempt: 0 },
        labels: { 'io.kubernetes.pod.uid': 'gone' },
      },
    },
    {},
  );
  await node.server.client.delete(podKind, { name: 'web', namespace: 'default' });
  await node.advance(60);
  assert.deepEqual((await node.runtime.listPodSandbox({})).items, []);
});

for (const [name, annotations, isReached] of [
  ['a running container', {}, isReady],
  [
    'a container in backoff after its third exit',
    { 'sim.kruise.io/run-for': '1s' },
    (pod: Pod | undefined) => {
      const status = pod?.status?.containerStatuses?.[0];
      return status?.restartCount === 2 && status.state?.waiting != null;
    },
  ],
] as const) {
  test(`the restart count of ${name} continues without runtime state`, async () => {
    await using node = await startTestNode();
    await node.create({ annotations });
    const before = await node.waitUntil('web', isReached);
    await node.stop();
    for (const { id } of (await node.runtime.listPodSandbox({})).items) {
      await node.runtime.removePodSandbox({ podSandboxId: id });
    }
    await node.restart();
    const count = before!.status!.containerStatuses![0]!.restartCount;
    await node.waitUntil('web', (pod) => pod?.status?.containerStatuses?.[0]?.state?.running != null);
    const after = (await node.get('web')).status!;
    assert.equal(after.containerStatuses?.[0]?.restartCount, count + 1);
    assert.equal(after.startTime, before!.status!.startTime);
    const counted = node.history.map(({ status }) => status?.containerStatuses?.[0]?.restartCount ?? 0);
    assert.deepEqual(
      counted,
      counted.toSorted((a, b) => a - b),
    );
    const phases = node.history.map(({ status }) => status?.phase);
    assert.ok(!phases.slice(phases.indexOf('Running')).includes('Pending'), phases.join());
  });
}

const counts: readonly (readonly [name: string, status: ContainerStatus, count: number])[] = [
  ['a container that never ran', statusOf('c', 'waiting'), 0],
  ['an exited container', statusOf('c', 'exit 1', { restartCount: 2 }), 3],
  [
    'a container in backoff',
    statusOf('c', 'waiting', { restartCount: 2, lastState: { terminated: { exitCode: 1, containerID: 'x://1' } } }),
    3,
  ],
  ['a lost container, which is already counted', statusOf('c', 'waiting after 137', { restartCount: 3 }), 3],
];
for (const [name, status, count] of counts) {
  test(`the next restart count of ${name} is ${count}`, () => assert.equal(nextRestartCount(status), count));
}
