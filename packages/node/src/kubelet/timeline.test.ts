/** What anyone who watches a simple Pod sees of it, step by step and field by field (kubelet.md §18). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { bind } from '@kruise/client/subresources';
import { startTestNode } from './testing/test-node.ts';

const reference = { name: 'web', namespace: 'default' };

/** A status in a few lines: what is left out is what does not change from step to step. */
function shown({ status = {}, metadata }: Pod) {
  const conditions = (status.conditions ?? []).map(({ type, status: value, reason, message }) =>
    [`${type}=${value}`, reason, message].filter((each) => each !== undefined).join(' '),
  );
  const containers = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].map((each) => {
    const { waiting, running, terminated } = each.state ?? {};
    const last = each.lastState?.terminated;
    return [
      each.name,
      waiting
        ? `waiting ${waiting.reason}`
        : running
          ? 'running'
          : `terminated ${terminated?.reason} ${terminated?.exitCode}`,
      ...(last ? [`after ${last.reason} ${last.exitCode}`] : []),
      ...(each.started ? ['started'] : []),
      ...(each.ready ? ['ready'] : []),
      ...(each.restartCount > 0 ? [`restarts ${each.restartCount}`] : []),
      ...(each.containerID ? ['id'] : []),
      ...(each.imageID ? ['imageID'] : []),
    ].join(', ');
  });
  return {
    phase: status.phase,
    ...(metadata.deletionTimestamp == null ? {} : { deleting: metadata.deletionGracePeriodSeconds }),
    ...(status.podIP ? { podIP: status.podIP.startsWith('10.244.0.') } : {}),
    conditions,
    containers,
  };
}

/** The steps anyone saw, each once. */
function stepsOf(history: readonly Pod[]) {
  const steps: ReturnType<typeof shown>[] = [];
  for (const pod of history) {
    const step = shown(pod);
    if (JSON.stringify(step) !== JSON.stringify(steps.at(-1))) steps.push(step);
  }
  return steps;
}

const unready = 'ContainersNotReady containers with unready status: [c]';

test('a Pod goes from pending to running and, when it is deleted, to its end', async () => {
  await using node = await startTestNode();
  const { client } = node.server;
  await client.create(podKind, {
    metadata: { ...reference, annotations: { 'sim.kruise.io/pull-latency': '2s', 'sim.kruise.io/stop-latency': '2s' } },
    spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'redis:7' }] },
  });
  await bind(client, reference, 'node-1');
  await node.until('web', (pod) => pod?.status?.phase === 'Running');
  await client.delete(podKind, reference);
  await node.until('web', (pod) => pod === undefined);

  // The last word on an object that goes is the API server's.
  assert.deepEqual(
    stepsOf(node.history).filter(({ deleting }) => deleting !== 0),
    [
      { phase: 'Pending', conditions: [], containers: [] },
      { phase: 'Pending', conditions: ['PodScheduled=True'], containers: [] },
      {
        phase: 'Pending',
        conditions: [
          'PodReadyToStartContainers=False',
          'Initialized=True',
          `Ready=False ${unready}`,
          `ContainersReady=False ${unready}`,
          'PodScheduled=True',
        ],
        containers: ['c, waiting ContainerCreating'],
      },
      {
        phase: 'Pending',
        podIP: true,
        conditions: [
          'PodReadyToStartContainers=True',
          'Initialized=True',
          `Ready=False ${unready}`,
          `ContainersReady=False ${unready}`,
          'PodScheduled=True',
        ],
        containers: ['c, waiting ContainerCreating'],
      },
      {
        phase: 'Running',
        podIP: true,
        conditions: [
          'PodReadyToStartContainers=True',
          'Initialized=True',
          'Ready=True',
          'ContainersReady=True',
          'PodScheduled=True',
        ],
        containers: ['c, running, started, ready, id, imageID'],
      },
      {
        phase: 'Running',
        deleting: 30,
        podIP: true,
        conditions: [
          'PodReadyToStartContainers=True',
          'Initialized=True',
          'Ready=True',
          'ContainersReady=True',
          'PodScheduled=True',
        ],
        containers: ['c, running, started, ready, id, imageID'],
      },
      {
        phase: 'Succeeded',
        deleting: 30,
        podIP: true,
        conditions: [
          'PodReadyToStartContainers=False',
          'Initialized=True PodCompleted',
          'Ready=False PodCompleted',
          'ContainersReady=False PodCompleted',
          'PodScheduled=True',
        ],
        containers: ['c, terminated Completed 0, id, imageID'],
      },
    ],
  );
});

test('a Pod with an init container shows how far that is', async () => {
  await using node = await startTestNode();
  await node.create({
    initContainers: [{ name: 'init', image: 'busybox:1.36', command: ['sleep', '2'] }],
    restartPolicy: 'Never',
    containers: [{ name: 'c', image: 'busybox:1.36', command: ['sleep', '2'] }],
  });
  await node.until('web', (pod) => pod?.status?.phase === 'Succeeded');
  const notThrough = 'Initialized=False ContainersNotInitialized containers with incomplete status: [init]';
  const steps = stepsOf(node.history).map(({ phase, conditions, containers }) => [
    phase,
    conditions.find((each) => each.startsWith('Initialized')) ?? '',
    ...containers,
  ]);
  assert.deepEqual(steps, [
    ['Pending', ''],
    ['Pending', notThrough, 'init, waiting PodInitializing', 'c, waiting PodInitializing'],
    ['Pending', notThrough, 'init, running, started, id, imageID', 'c, waiting PodInitializing'],
    ['Pending', 'Initialized=True', 'init, terminated Completed 0, ready, id, imageID', 'c, waiting PodInitializing'],
    [
      'Running',
      'Initialized=True',
      'init, terminated Completed 0, ready, id, imageID',
      'c, running, started, ready, id, imageID',
    ],
    [
      'Succeeded',
      'Initialized=True PodCompleted',
      'init, terminated Completed 0, ready, id, imageID',
      'c, terminated Completed 0, id, imageID',
    ],
  ]);
});

test('a container that crashes is seen to, and to wait', async () => {
  await using node = await startTestNode();
  await node.create({ containers: [{ name: 'c', image: 'busybox:1.36', command: ['sh', '-c', 'sleep 1; exit 2'] }] });
  await node.until('web', (pod) => pod?.status?.containerStatuses?.[0]?.restartCount === 2);
  const phases = new Set(node.history.slice(2).map(({ status }) => status?.phase));
  assert.deepEqual(
    [...phases].filter((phase) => phase !== 'Pending'),
    ['Running'],
  );
  const containers = stepsOf(node.history).flatMap(({ containers: [first] }) => first ?? []);
  const waiting = containers.find((each) => each.includes('CrashLoopBackOff'));
  assert.equal(waiting, 'c, waiting CrashLoopBackOff, after Error 2, restarts 1, id, imageID');
});
