/** Status of a simple Pod, step by step and field by field, as a watcher sees it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { bind } from '@kruise/client/subresources';
import { startTestNode } from '../testing/test-node.ts';

const reference = { name: 'web', namespace: 'default' };

/** Summarizes a status without the fields that stay constant. */
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

/** Returns the distinct steps of a Pod's history. */
function stepsOf(history: readonly Pod[]) {
  const steps: ReturnType<typeof shown>[] = [];
  for (const pod of history) {
    const step = shown(pod);
    if (JSON.stringify(step) !== JSON.stringify(steps.at(-1))) steps.push(step);
  }
  return steps;
}

const unready = 'ContainersNotReady containers with unready status: [c]';

test('a Pod goes from Pending to Running and terminates when it is deleted', async () => {
  await using node = await startTestNode();
  const { client } = node.server;
  await client.create(podKind, {
    metadata: { ...reference, annotations: { 'sim.kruise.io/pull-latency': '2s', 'sim.kruise.io/stop-latency': '2s' } },
    spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'redis:7' }] },
  });
  await bind(client, reference, 'node-1');
  await node.waitUntil('web', (pod) => pod?.status?.phase === 'Running');
  await client.delete(podKind, reference);
  await node.waitUntil('web', (pod) => pod === undefined);

  // The API server writes the last state of a deleted object.
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

test('a Pod with an init container reports the progress of initialization', async () => {
  await using node = await startTestNode();
  await node.create({
    annotations: { 'sim.kruise.io/sandbox-latency': '2s', 'sim.kruise.io/pull-latency': '2s' },
    initContainers: [{ name: 'init', image: 'busybox:1.36', command: ['sleep', '2'] }],
    restartPolicy: 'Never',
    containers: [{ name: 'c', image: 'redis:7', command: ['sleep', '2'] }],
  });
  await node.waitUntil('web', (pod) => pod?.status?.phase === 'Succeeded');
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

test('simultaneous changes are reported at once: a Pod is running and ready', async () => {
  await using node = await startTestNode();
  const readinessProbe = { httpGet: { port: 80 } };
  await node.create({
    containers: [
      { name: 'c', image: 'nginx:1.25', startupProbe: readinessProbe, readinessProbe },
      { name: 'd', image: 'nginx:1.25', readinessProbe },
    ],
  });
  await node.waitUntil('web', (pod) => pod?.status?.phase === 'Running');
  assert.deepEqual(
    stepsOf(node.history).map(({ phase, containers }) => [phase, ...containers]),
    [['Pending'], ['Running', ...['c', 'd'].map((name) => `${name}, running, started, ready, id, imageID`)]],
  );
});

test('a failed first probe is reported without waiting for the next', async () => {
  await using node = await startTestNode();
  await node.create({
    annotations: { 'c.sim.kruise.io/answers': '503 for 30s, 200' },
    containers: [{ name: 'c', image: 'nginx:1.25', readinessProbe: { httpGet: { port: 80 } } }],
  });
  const startedAt = node.clock.now();
  await node.waitUntil('web', (pod) => pod?.status?.phase === 'Running');
  assert.ok(node.clock.now() - startedAt <= 100);
  assert.deepEqual(stepsOf(node.history).at(-1)?.containers, ['c, running, started, id, imageID']);
});

test('a crashing container is reported as terminated and in backoff', async () => {
  await using node = await startTestNode();
  await node.create({ containers: [{ name: 'c', image: 'busybox:1.36', command: ['sh', '-c', 'sleep 1; exit 2'] }] });
  await node.waitUntil('web', (pod) => pod?.status?.containerStatuses?.[0]?.restartCount === 2);
  const phases = new Set(node.history.slice(2).map(({ status }) => status?.phase));
  assert.deepEqual(
    [...phases].filter((phase) => phase !== 'Pending'),
    ['Running'],
  );
  const containers = stepsOf(node.history).flatMap(({ containers: [first] }) => first ?? []);
  const waiting = containers.find((each) => each.includes('CrashLoopBackOff'));
  assert.equal(waiting, 'c, waiting CrashLoopBackOff, after Error 2, restarts 1, id, imageID');
});

/**
 * Returns whole statuses, with placeholders for values that differ between runs: times, IPs and IDs, in order of
 * appearance.
 */
function normalizedStatuses() {
  const ids = new Map<string, string>();
  return ({ status }: Pod): object =>
    JSON.parse(JSON.stringify(status), (key, value) => {
      if (typeof value !== 'string') return value;
      if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value)) return 'TIME';
      if (/^10\.244\.0\.\d+$/.test(value)) return 'ADDRESS';
      if (key === 'imageID') return value.replace(/@sha256:\w{64}$/, '@DIGEST');
      if (key !== 'containerID') return value;
      ids.set(value, ids.get(value) ?? `simulated://${ids.size}`);
      return ids.get(value);
    });
}

const since = { lastProbeTime: null, lastTransitionTime: 'TIME' };
type ConditionReason = { readonly reason?: string; readonly message?: string };
type ConditionSummary = { readonly status: 'True' | 'False' } & ConditionReason;
const yes = (reason?: string): ConditionSummary => ({ status: 'True', ...(reason ? { reason } : {}) });
const no = (reason?: string, message?: string): ConditionSummary => ({
  status: 'False',
  ...(reason ? { reason } : {}),
  ...(message ? { message } : {}),
});
const notReady = no('ContainersNotReady', 'containers with unready status: [c]');
const conditionsOf = (sandbox: ConditionSummary, initialized: ConditionSummary, ready: ConditionSummary) =>
  Object.entries({
    PodReadyToStartContainers: sandbox,
    Initialized: initialized,
    Ready: ready,
    ContainersReady: ready,
    PodScheduled: yes(),
  }).map(([type, summary]) => ({ type, ...summary, ...since }));

test('every status field is correct at each step of a Pod', async () => {
  await using node = await startTestNode();
  const { client } = node.server;
  const whole = normalizedStatuses();
  const { metadata } = await client.create(podKind, {
    metadata: {
      ...reference,
      annotations: {
        'sim.kruise.io/sandbox-latency': '2s',
        'c.sim.kruise.io/pull-latency': '2s',
        'c.sim.kruise.io/answers': '200 for 10s, 503 for 10s, 200',
        'c.sim.kruise.io/run-for': '40s',
        'c.sim.kruise.io/exit-code': '3',
      },
    },
    spec: {
      automountServiceAccountToken: false,
      initContainers: [{ name: 'i', image: 'busybox:1.36', command: ['sleep', '2'] }],
      containers: [
        {
          name: 'c',
          image: 'redis:7',
          resources: { requests: { cpu: '100m' }, limits: { cpu: '200m' } },
          readinessProbe: { httpGet: { port: 6379 }, periodSeconds: 2, failureThreshold: 1 },
        },
      ],
    },
  });
  const step = async (what: (pod: Pod) => boolean) =>
    whole((await node.waitUntil('web', (found) => found !== undefined && what(found)))!);
  const initOf = ({ status }: Pod) => status?.initContainerStatuses?.[0];
  const mainOf = ({ status }: Pod) => status?.containerStatuses?.[0];
  const isReady = ({ status }: Pod) =>
    status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True');

  const host = { hostIP: '172.18.0.2', hostIPs: [{ ip: '172.18.0.2' }] };
  const address = { podIP: 'ADDRESS', podIPs: [{ ip: 'ADDRESS' }] };
  const always = { qosClass: 'Burstable', startTime: 'TIME', ...host };
  const known = { resources: {}, user: { linux: { uid: 0, gid: 0, supplementalGroups: [0] } } };
  const running = { running: { startedAt: 'TIME' } };
  const ended = (id: number, exitCode: number) => ({
    terminated: {
      exitCode,
      reason: exitCode === 0 ? 'Completed' : 'Error',
      startedAt: 'TIME',
      finishedAt: 'TIME',
      containerID: `simulated://${id}`,
    },
  });
  const waits = {
    state: { waiting: { reason: 'PodInitializing' } },
    lastState: {},
    ready: false,
    started: false,
    restartCount: 0,
    imageID: '',
  };
  const newInit = { ...waits, name: 'i', image: 'busybox:1.36' };
  const init = {
    ...newInit,
    ...known,
    containerID: 'simulated://0',
    image: 'docker.io/library/busybox:1.36',
    imageID: 'docker.io/library/busybox@DIGEST',
    state: running,
    started: true,
  };
  const through = { ...init, state: ended(0, 0), started: false, ready: true };
  const newMain = { ...waits, name: 'c', image: 'redis:7' };
  const main = {
    ...newMain,
    ...known,
    containerID: 'simulated://1',
    image: 'docker.io/library/redis:7',
    imageID: 'docker.io/library/redis@DIGEST',
    allocatedResources: { cpu: '100m' },
    resources: { requests: { cpu: '100m' }, limits: { cpu: '200m' } },
    state: running,
    started: true,
    ready: true,
  };

  assert.deepEqual(await step(() => true), { phase: 'Pending', qosClass: 'Burstable' });

  await bind(client, reference, 'node-1');
  const notThrough = no('ContainersNotInitialized', 'containers with incomplete status: [i]');
  assert.deepEqual(await step(({ status }) => status?.startTime != null), {
    ...always,
    phase: 'Pending',
    conditions: conditionsOf(no(), notThrough, notReady),
    initContainerStatuses: [newInit],
    containerStatuses: [newMain],
  });

  assert.deepEqual(await step((pod) => initOf(pod)?.state?.running != null), {
    ...always,
    ...address,
    phase: 'Pending',
    conditions: conditionsOf(yes(), notThrough, notReady),
    initContainerStatuses: [init],
    containerStatuses: [newMain],
  });

  const up = { ...always, ...address, initContainerStatuses: [through] };
  assert.deepEqual(await step((pod) => initOf(pod)?.state?.terminated != null), {
    ...up,
    phase: 'Pending',
    conditions: conditionsOf(yes(), yes(), notReady),
    containerStatuses: [newMain],
  });

  const ready = {
    ...up,
    phase: 'Running',
    conditions: conditionsOf(yes(), yes(), yes()),
    containerStatuses: [main],
  };
  assert.deepEqual(await step((pod) => Boolean(isReady(pod))), ready);

  assert.deepEqual(await step((pod) => !isReady(pod)), {
    ...ready,
    conditions: conditionsOf(yes(), yes(), notReady),
    containerStatuses: [{ ...main, ready: false }],
  });
  assert.deepEqual(await step((pod) => Boolean(isReady(pod))), ready);

  // The first crash restarts at once; from the second on the container backs off.
  assert.deepEqual(await step((pod) => mainOf(pod)?.state?.waiting != null), {
    ...ready,
    conditions: conditionsOf(yes(), yes(), notReady),
    containerStatuses: [
      {
        ...main,
        containerID: 'simulated://2',
        ready: false,
        started: false,
        restartCount: 1,
        state: {
          waiting: {
            reason: 'CrashLoopBackOff',
            message: `back-off 10s restarting failed container=c pod=web_default(${metadata.uid})`,
          },
        },
        lastState: ended(2, 3),
      },
    ],
  });
  const again = { ...main, containerID: 'simulated://3', restartCount: 2, lastState: ended(2, 3) };
  assert.deepEqual(await step((pod) => Boolean(isReady(pod))), { ...ready, containerStatuses: [again] });

  await client.delete(podKind, reference);
  await node.waitUntil('web', (pod) => pod === undefined);
  const last = node.history.findLast((each) => each.metadata.deletionGracePeriodSeconds === 30)!;
  assert.deepEqual(whole(last), {
    ...up,
    phase: 'Succeeded',
    conditions: conditionsOf(no(), yes('PodCompleted'), no('PodCompleted')),
    containerStatuses: [{ ...again, state: ended(3, 0), ready: false, started: false }],
  });
});
