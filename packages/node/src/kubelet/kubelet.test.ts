import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lease } from '@kruise/api/coordination/lease';
import { configMap } from '@kruise/api/core/configmap';
import { node as nodeKind } from '@kruise/api/core/node';
import { type ContainerStatus, type Pod, pod as podKind } from '@kruise/api/core/pod';
import { GrpcError } from '@kruise/client/grpc/status';
import { bind } from '@kruise/client/subresources';
import { findCondition } from '@kruise/machinery/conditions';
import { isPodReady } from '@kruise/machinery/pods';
import { parseTime } from '@kruise/values/time';
import { startTestNode, type TestNode } from './testing/test-node.ts';

const reference = { name: 'web', namespace: 'default' };
const isReady = (pod: Pod | undefined) => pod !== undefined && isPodReady(pod);
const isGone = (pod: Pod | undefined) => pod === undefined;
const hasPhase = (phase: string) => (pod: Pod | undefined) => pod?.status?.phase === phase;

function containerOf(pod: Pod | undefined, name = 'c'): ContainerStatus | undefined {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = pod?.status ?? {};
  return [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses].find(
    (each) => each.name === name,
  );
}

const isWaiting =
  (reason: string, name = 'c') =>
  (pod: Pod | undefined) =>
    containerOf(pod, name)?.state?.waiting?.reason === reason;
const hasRestarted =
  (count: number, name = 'c') =>
  (pod: Pod | undefined) => {
    const status = containerOf(pod, name);
    return (status?.restartCount ?? 0) >= count && status?.state?.running != null;
  };

function conditionOf(pod: Pod | undefined, type: string) {
  const { status, reason, message } = findCondition(pod?.status?.conditions, type) ?? {};
  return [status, reason, message].filter((each) => each !== undefined).join(' ');
}

/** Checks the invariants that every watcher of a Pod relies on. */
function checkHistory(history: readonly Pod[]): void {
  let before: Pod | undefined;
  for (const pod of history) {
    const { phase, startTime } = pod.status ?? {};
    if (phase === 'Succeeded' || phase === 'Failed') assert.equal(isPodReady(pod), false, 'over and ready');
    if (before && before.metadata.uid === pod.metadata.uid) {
      const was = before.status?.phase;
      if (was === 'Succeeded' || was === 'Failed') assert.equal(phase, was, 'a final phase was left');
      if (before.status?.startTime) assert.equal(startTime, before.status.startTime, 'startTime changed');
      for (const status of pod.status?.containerStatuses ?? []) {
        const last = containerOf(before, status.name);
        assert.ok(status.restartCount >= (last?.restartCount ?? 0), 'restartCount went down');
        if (last?.containerID && status.containerID && last.containerID !== status.containerID) {
          assert.ok(status.restartCount > last.restartCount, 'another container without a restart');
        }
      }
    }
    before = pod;
  }
}

async function patchImage(node: TestNode, container: string, image: string): Promise<void> {
  const patch = { spec: { containers: [{ name: container, image }] } };
  await node.server.client.patch(podKind, reference, patch, { type: 'strategic' });
}

test('a Pod bound to a node runs, becomes ready, and is removed when it is deleted', async () => {
  await using node = await startTestNode();
  await node.create({});
  const ready = await node.waitUntil('web', isReady);
  assert.equal(ready?.status?.phase, 'Running');
  await node.server.client.delete(podKind, reference);
  await node.waitUntil('web', isGone);
  assert.deepEqual(await node.events('web'), [
    'Normal Pulled: Container image "nginx:1.25" already present on machine',
    'Normal Created: Created container: c',
    'Normal Started: Started container c',
    'Normal Killing: Stopping container c',
  ]);
  assert.deepEqual(node.kubelet.workers(), []);
  assert.deepEqual((await node.runtime.listPodSandbox({})).items, []);
  checkHistory(node.history);
});

test('a missing image is pulled before the container starts', async () => {
  await using node = await startTestNode();
  await node.create({
    containers: [{ name: 'c', image: 'redis:7' }],
    annotations: { 'sim.kruise.io/pull-latency': '3s' },
  });
  await node.waitUntil('web', isReady);
  const events = await node.events('web');
  assert.equal(events[0], 'Normal Pulling: Pulling image "redis:7"');
  assert.match(
    events[1]!,
    /^Normal Pulled: Successfully pulled image "redis:7" in 3s \(3s including waiting\)\. Image size: \d+ bytes\.$/,
  );
});

test('a container that exits repeatedly restarts after 0, 10, 20, 40 … 300 seconds', async () => {
  await using node = await startTestNode();
  await node.create({ annotations: { 'sim.kruise.io/run-for': '1s' } });
  await node.waitUntil('web', hasRestarted(8));
  checkHistory(node.history);
  const spans = new Map<number, { started: number; finished: number }>();
  for (const pod of node.history) {
    const status = containerOf(pod);
    const ended = status?.state?.terminated ?? status?.lastState?.terminated;
    if (!ended?.containerID || !status) continue;
    const isLast = status.state?.terminated == null && status.state?.waiting == null;
    const attempt = isLast ? status.restartCount - 1 : status.restartCount;
    spans.set(attempt, { started: parseTime(ended.startedAt!), finished: parseTime(ended.finishedAt!) });
  }
  const waits = [1, 2, 3, 4, 5, 6, 7].map(
    (attempt) => (spans.get(attempt)!.started - spans.get(attempt - 1)!.finished) / 1000,
  );
  assert.deepEqual(waits, [0, 10, 20, 40, 80, 160, 300]);
});

test('a container in backoff reports CrashLoopBackOff with its last state', async () => {
  await using node = await startTestNode();
  const { metadata } = await node.create({
    annotations: { 'sim.kruise.io/run-for': '1s', 'sim.kruise.io/exit-code': '3' },
  });
  const pod = await node.waitUntil(
    'web',
    (found) => isWaiting('CrashLoopBackOff')(found) && (containerOf(found)?.restartCount ?? 0) >= 2,
  );
  const status = containerOf(pod);
  assert.equal(pod?.status?.phase, 'Running');
  assert.equal(
    status?.state?.waiting?.message,
    `back-off 20s restarting failed container=c pod=web_default(${metadata.uid})`,
  );
  assert.equal(status?.lastState?.terminated?.exitCode, 3);
  assert.equal(status?.lastState?.terminated?.reason, 'Error');
  assert.equal(conditionOf(pod, 'Ready'), 'False ContainersNotReady containers with unready status: [c]');
  const events = await node.events('web');
  assert.ok(
    events.includes(`Warning BackOff: Back-off restarting failed container c in pod web_default(${metadata.uid})`),
  );
});

test('a new image starts at once despite the backoff of the old one', async () => {
  await using node = await startTestNode();
  await node.create({ annotations: { 'sim.kruise.io/run-for': '1s' } });
  await node.waitUntil(
    'web',
    (pod) => isWaiting('CrashLoopBackOff')(pod) && (containerOf(pod)?.restartCount ?? 0) >= 6,
  );
  const before = containerOf(await node.get('web'))!.restartCount;
  const at = node.clock.now();
  await patchImage(node, 'c', 'nginx:1.26');
  const pod = await node.waitUntil('web', hasRestarted(before + 1));
  assert.equal(containerOf(pod)?.restartCount, before + 1);
  assert.ok(node.clock.now() - at < 2000);
});

test('a new image restarts only its container', async () => {
  await using node = await startTestNode();
  await node.create({
    containers: [
      { name: 'a', image: 'nginx:1.25' },
      { name: 'b', image: 'nginx:1.25' },
    ],
  });
  const before = await node.waitUntil('web', isReady);
  await node.advance(5);
  await patchImage(node, 'a', 'nginx:1.26');
  const after = await node.waitUntil('web', (pod) => isReady(pod) && hasRestarted(1, 'a')(pod));
  const [a, b] = ['a', 'b'].map((name) => [containerOf(before, name)!, containerOf(after, name)!] as const);
  assert.notEqual(a![0].containerID, a![1].containerID);
  assert.notEqual(a![0].imageID, a![1].imageID);
  assert.equal(a![1].restartCount, 1);
  assert.equal(a![1].image, 'docker.io/library/nginx:1.26');
  assert.equal(a![1].lastState?.terminated?.containerID, a![0].containerID);
  assert.deepEqual(b![0], b![1]);
  assert.equal(after?.status?.podIP, before?.status?.podIP);
  assert.equal(after?.status?.startTime, before?.status?.startTime);
  const events = await node.events('web');
  assert.deepEqual(events.slice(-2), [
    'Normal Killing: Container a definition changed, will be restarted',
    'Normal Pulled: Container image "nginx:1.26" already present on machine',
  ]);
  checkHistory(node.history);
});

test('the last state of a container is kept while the next instance runs', async () => {
  await using node = await startTestNode();
  await node.create({});
  await node.waitUntil('web', isReady);
  await patchImage(node, 'c', 'nginx:1.26');
  await node.waitUntil('web', hasRestarted(1));
  await node.advance(60);
  const found = await node.server.client.get(podKind, reference);
  assert.notEqual(containerOf(found)?.lastState?.terminated, undefined);
  // Only one dead instance is kept.
  await patchImage(node, 'c', 'nginx:1.27');
  await node.waitUntil('web', hasRestarted(2));
  await node.advance(60);
  assert.equal((await node.runtime.listContainers({})).containers.length, 2);
});

test('an image that cannot be pulled keeps its container waiting with backoff', async () => {
  await using node = await startTestNode();
  await node.create({ containers: [{ name: 'c', image: 'docker.io/library/no-such-image:1' }] });
  const failed = await node.waitUntil('web', isWaiting('ErrImagePull'));
  assert.equal(failed?.status?.phase, 'Pending');
  const waiting = await node.waitUntil('web', isWaiting('ImagePullBackOff'));
  assert.match(
    containerOf(waiting)?.state?.waiting?.message ?? '',
    /^Back-off pulling image "docker\.io\/library\/no-such-image:1": ErrImagePull: .*pull access denied/,
  );
  const events = await node.events('web');
  assert.deepEqual(
    events.map((each) => each.slice(0, 36)),
    [
      'Normal Pulling: Pulling image "docke',
      'Warning Failed: Failed to pull image',
      'Warning Failed: Error: ErrImagePull',
      'Normal BackOff: Back-off pulling ima',
      'Warning Failed: Error: ImagePullBack',
    ],
  );
});

test('a missing image with pull policy Never is an error', async () => {
  await using node = await startTestNode();
  await node.create({ containers: [{ name: 'c', image: 'redis:7', imagePullPolicy: 'Never' }] });
  await node.waitUntil('web', isWaiting('ErrImageNeverPull'));
  assert.deepEqual(await node.events('web'), [
    'Warning ErrImageNeverPull: Container image "redis:7" is not present with pull policy of Never',
    'Warning Failed: Error: ErrImageNeverPull',
  ]);
});

test('an invalid image name is an error', async () => {
  await using node = await startTestNode();
  await node.create({ containers: [{ name: 'c', image: 'Not A Name' }] });
  await node.waitUntil('web', isWaiting('InvalidImageName'));
});

test('a readiness gate without its condition keeps the Pod unready, but not its containers', async () => {
  await using node = await startTestNode();
  await node.create({ readinessGates: [{ conditionType: 'example.com/served' }] });
  const pod = await node.waitUntil('web', (found) => conditionOf(found, 'ContainersReady') === 'True');
  assert.equal(
    conditionOf(pod, 'Ready'),
    'False ReadinessGatesNotReady corresponding condition of pod readiness gate "example.com/served" does not exist.',
  );
  const patch = { status: { conditions: [{ type: 'example.com/served', status: 'True' }] } };
  await node.server.client.patch(podKind, reference, patch, { type: 'strategic', subresource: 'status' });
  const ready = await node.waitUntil('web', isReady);
  assert.equal(conditionOf(ready, 'example.com/served'), 'True');
});

test('a container becomes ready when its readiness probe succeeds', async () => {
  await using node = await startTestNode();
  await node.create({
    annotations: { 'sim.kruise.io/answers': '503 for 25s, 200' },
    containers: [
      {
        name: 'c',
        image: 'nginx:1.25',
        ports: [{ name: 'http', containerPort: 80 }],
        readinessProbe: { httpGet: { port: 'http' }, periodSeconds: 5 },
      },
    ],
  });
  const running = await node.waitUntil('web', hasPhase('Running'));
  assert.deepEqual([containerOf(running)?.started, containerOf(running)?.ready], [true, false]);
  const ready = await node.waitUntil('web', isReady);
  const since = parseTime(findCondition(ready?.status?.conditions, 'Ready')!.lastTransitionTime!);
  assert.equal(since - parseTime(containerOf(ready)!.state!.running!.startedAt!), 25_000);
  assert.ok(
    (await node.events('web')).includes(
      'Warning Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 503',
    ),
  );
});

test('a container whose startup probe fails is restarted', async () => {
  await using node = await startTestNode();
  await node.create({
    annotations: { 'sim.kruise.io/answers': 'refuse' },
    containers: [
      {
        name: 'c',
        image: 'nginx:1.25',
        startupProbe: { tcpSocket: { port: 80 }, periodSeconds: 2, failureThreshold: 3 },
        livenessProbe: { tcpSocket: { port: 80 } },
      },
    ],
  });
  const pod = await node.waitUntil('web', hasRestarted(1));
  assert.equal(containerOf(pod)?.started, false);
  const events = await node.events('web');
  assert.ok(events.includes('Normal Killing: Container c failed startup probe, will be restarted'));
  assert.ok(events.some((each) => each.startsWith('Warning Unhealthy: Startup probe failed: dial tcp 10.244.0.')));
  assert.ok(!events.some((each) => each.includes('Liveness')));
});

test('a container whose liveness probe fails is killed and not restarted with restartPolicy Never', async () => {
  await using node = await startTestNode();
  await node.create({
    restartPolicy: 'Never',
    annotations: { 'sim.kruise.io/exec': '0 for 20s, 1' },
    containers: [{ name: 'c', image: 'nginx:1.25', livenessProbe: { exec: { command: ['check'] }, periodSeconds: 5 } }],
  });
  const pod = await node.waitUntil('web', (found) => ['Failed', 'Succeeded'].includes(found?.status?.phase ?? ''));
  assert.equal(containerOf(pod)?.restartCount, 0);
  assert.notEqual(containerOf(pod)?.state?.terminated, undefined);
  checkHistory(node.history);
});

test('an init container that fails with restartPolicy Never fails the Pod', async () => {
  await using node = await startTestNode();
  await node.create({
    restartPolicy: 'Never',
    initContainers: [{ name: 'init', image: 'busybox:1.36', command: ['sh', '-c', 'exit 1'] }],
  });
  const pod = await node.waitUntil('web', hasPhase('Failed'));
  assert.equal(containerOf(pod, 'init')?.state?.terminated?.exitCode, 1);
  assert.equal(containerOf(pod)?.state?.waiting?.reason, 'PodInitializing');
  assert.equal(
    conditionOf(pod, 'Initialized'),
    'False ContainersNotInitialized containers with incomplete status: [init]',
  );
});

test('init containers run in order before regular containers', async () => {
  await using node = await startTestNode();
  await node.create({
    initContainers: ['one', 'two'].map((name) => ({ name, image: 'busybox:1.36', command: ['sh', '-c', 'sleep 2'] })),
  });
  const first = await node.waitUntil('web', (pod) => containerOf(pod, 'one')?.state?.running != null);
  assert.equal(
    conditionOf(first, 'Initialized'),
    'False ContainersNotInitialized containers with incomplete status: [one two]',
  );
  const pod = await node.waitUntil('web', isReady);
  const one = containerOf(pod, 'one')!.state!.terminated!;
  const two = containerOf(pod, 'two')!.state!.terminated!;
  assert.deepEqual([one.reason, two.reason], ['Completed', 'Completed']);
  assert.ok(parseTime(two.startedAt!) >= parseTime(one.finishedAt!));
  assert.ok(parseTime(containerOf(pod)!.state!.running!.startedAt!) >= parseTime(two.finishedAt!));
});

test('a sidecar terminates after the regular containers, and its exit code does not matter', async () => {
  await using node = await startTestNode();
  await node.create({
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 5,
    annotations: { 'side.sim.kruise.io/stop-latency': 'never' },
    initContainers: [{ name: 'side', image: 'nginx:1.25', restartPolicy: 'Always' }],
    containers: [{ name: 'c', image: 'busybox:1.36', command: ['sh', '-c', 'sleep 3'] }],
  });
  const pod = await node.waitUntil('web', hasPhase('Succeeded'));
  assert.equal(containerOf(pod, 'side')?.state?.terminated?.exitCode, 137);
  assert.equal(conditionOf(pod, 'Ready'), 'False PodCompleted');
  assert.equal(conditionOf(pod, 'Initialized'), 'True PodCompleted');
  checkHistory(node.history);
});

test('a slow preStop hook leaves its container two seconds', async () => {
  await using node = await startTestNode();
  const stops: { at: number; timeout: number | undefined }[] = [];
  const { stopContainer } = node.runtime;
  Object.assign(node.runtime, {
    stopContainer: (request: { containerId: string; timeout?: number }, options?: object) => {
      stops.push({ at: node.clock.now(), timeout: request.timeout });
      return stopContainer(request, options);
    },
  });
  await node.create({
    annotations: { 'sim.kruise.io/exec': '0', 'sim.kruise.io/exec-latency': '60s' },
    containers: [{ name: 'c', image: 'nginx:1.25', lifecycle: { preStop: { exec: { command: ['drain'] } } } }],
    terminationGracePeriodSeconds: 30,
  });
  await node.waitUntil('web', isReady);
  const at = node.clock.now();
  await node.server.client.delete(podKind, reference);
  await node.waitUntil('web', isGone);
  assert.deepEqual(stops, [{ at: at + 30_000, timeout: 2 }]);
});

test('a terminating Pod stays ready until its containers stop', async () => {
  await using node = await startTestNode();
  await node.create({ annotations: { 'sim.kruise.io/stop-latency': '4s' } });
  await node.waitUntil('web', isReady);
  await node.server.client.delete(podKind, reference);
  await node.advance(3);
  const stopping = await node.get('web');
  assert.equal(isPodReady(stopping), true);
  assert.equal(stopping.status?.phase, 'Running');
  await node.waitUntil('web', isGone);
  const last = node.history.at(-1);
  assert.ok(['Succeeded', 'Failed'].includes(last?.status?.phase ?? ''));
  assert.notEqual(containerOf(last)?.state?.terminated, undefined);
  checkHistory(node.history);
});

test('a shorter grace period replaces a longer one', async () => {
  await using node = await startTestNode();
  await node.create({ annotations: { 'sim.kruise.io/stop-latency': 'never' }, terminationGracePeriodSeconds: 300 });
  await node.waitUntil('web', isReady);
  const at = node.clock.now();
  await node.server.client.delete(podKind, reference);
  await node.advance(5);
  await node.server.client.delete(podKind, reference, { gracePeriodSeconds: 3 });
  await node.waitUntil('web', isGone);
  assert.ok(node.clock.now() - at < 15_000);
});

test('a force-deleted Pod is killed on its node', async () => {
  await using node = await startTestNode();
  await node.create({});
  await node.waitUntil('web', isReady);
  await node.server.client.delete(podKind, reference, { gracePeriodSeconds: 0 });
  await node.advance(10);
  assert.deepEqual((await node.runtime.listPodSandbox({})).items, []);
});

test('a container waits for a ConfigMap and starts when it exists', async () => {
  await using node = await startTestNode();
  await node.create({
    containers: [{ name: 'c', image: 'nginx:1.25', envFrom: [{ configMapRef: { name: 'settings' } }] }],
  });
  const waiting = await node.waitUntil('web', isWaiting('CreateContainerConfigError'));
  assert.equal(containerOf(waiting)?.state?.waiting?.message, 'configmap "settings" not found');
  assert.ok((await node.events('web')).includes('Warning Failed: Error: configmap "settings" not found'));
  await node.server.client.create(configMap, {
    metadata: { name: 'settings', namespace: 'default' },
    data: { COLOUR: 'red' },
  });
  await node.waitUntil('web', isReady);
});

test('a Pod that exceeds its active deadline fails', async () => {
  await using node = await startTestNode();
  await node.create({ activeDeadlineSeconds: 20 });
  await node.waitUntil('web', isReady);
  const pod = await node.waitUntil('web', hasPhase('Failed'));
  assert.deepEqual(
    [pod?.status?.reason, pod?.status?.message],
    ['DeadlineExceeded', 'Pod was active on the node longer than the specified deadline'],
  );
  assert.notEqual(containerOf(pod)?.state?.terminated, undefined);
  const events = await node.events('web');
  assert.deepEqual(events.slice(-2).sort(), [
    'Normal DeadlineExceeded: Pod was active on the node longer than the specified deadline',
    'Normal Killing: Stopping container c',
  ]);
  checkHistory(node.history);
});

test('a Pod that does not fit is rejected', async () => {
  await using node = await startTestNode();
  await node.create({ containers: [{ name: 'c', image: 'nginx:1.25', resources: { requests: { cpu: '5' } } }] });
  const pod = await node.waitUntil('web', hasPhase('Failed'));
  const message = "Node didn't have enough resource: cpu, requested: 5000, used: 0, capacity: 4000";
  assert.deepEqual([pod?.status?.reason, pod?.status?.message], ['OutOfcpu', `Pod was rejected: ${message}`]);
  assert.deepEqual(await node.events('web'), [`Warning OutOfcpu: ${message}`]);
  await node.server.client.delete(podKind, reference);
  await node.waitUntil('web', isGone);
});

test('resources of a removed Pod are available to the next one', async () => {
  await using node = await startTestNode();
  const greedy = [{ name: 'c', image: 'nginx:1.25', resources: { requests: { cpu: '3' } } }];
  await node.create({ name: 'first', containers: greedy });
  await node.waitUntil('first', isReady);
  await node.create({ name: 'second', containers: greedy });
  await node.waitUntil('second', hasPhase('Failed'));
  await node.server.client.delete(podKind, { name: 'first', namespace: 'default' });
  await node.waitUntil('first', isGone);
  await node.create({ name: 'third', containers: greedy });
  await node.waitUntil('third', isReady);
});

test('a dead sandbox is replaced, and all containers restart', async () => {
  await using node = await startTestNode();
  await node.create({ initContainers: [{ name: 'init', image: 'busybox:1.36', command: ['true'] }] });
  const before = await node.waitUntil('web', isReady);
  const { items } = await node.runtime.listPodSandbox({});
  await node.runtime.stopPodSandbox({ podSandboxId: items[0]!.id });
  const after = await node.waitUntil('web', (pod) => isReady(pod) && hasRestarted(1)(pod));
  assert.equal(containerOf(after, 'init')?.restartCount, 1);
  assert.equal(containerOf(after)?.lastState?.terminated?.containerID, containerOf(before)?.containerID);
  assert.ok(
    (await node.events('web')).includes(
      'Normal SandboxChanged: Pod sandbox changed, it will be killed and re-created.',
    ),
  );
});

test('restart counts continue from the log files', async () => {
  await using node = await startTestNode();
  const { client } = node.server;
  const created = await client.create(podKind, {
    metadata: reference,
    spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'nginx:1.25' }] },
  });
  const folder = `/var/log/pods/default_web_${created.metadata.uid}/c`;
  await node.runtime.files.makeDirectory(folder);
  await node.runtime.files.writeFile(`${folder}/3.log`, '');
  await bind(client, reference, 'node-1');
  const pod = await node.waitUntil('web', isReady);
  assert.equal(containerOf(pod)?.restartCount, 4);
});

test('a terminal phase set by another client is kept, and the Pod terminates', async () => {
  await using node = await startTestNode();
  await node.create({});
  const pod = await node.waitUntil('web', isReady);
  await node.server.client.update(
    podKind,
    { ...pod!, status: { ...pod!.status, phase: 'Failed', reason: 'Test' } },
    { subresource: 'status' },
  );
  await node.advance(60);
  const after = await node.get('web');
  assert.deepEqual([after.status?.phase, after.status?.reason], ['Failed', 'Test']);
  assert.equal(conditionOf(after, 'Ready'), 'False PodFailed');
  assert.notEqual(containerOf(after)?.state?.terminated, undefined);
});

test('extended resources in the node capacity are kept and allocatable', async () => {
  await using node = await startTestNode();
  const patch = { status: { capacity: { 'example.com/gpu': '2' } } };
  await node.server.client.patch(nodeKind, { name: 'node-1' }, patch, { type: 'strategic', subresource: 'status' });
  await node.advance(400);
  const found = await node.server.client.get(nodeKind, { name: 'node-1' });
  assert.equal(found.status?.capacity?.['example.com/gpu'], '2');
  assert.equal(found.status?.allocatable?.['example.com/gpu'], '2');
});

test('a restarted kubelet continues without changes', async () => {
  await using node = await startTestNode();
  await node.create({});
  const before = await node.waitUntil('web', isReady);
  await node.restart();
  await node.advance(30);
  const after = await node.get('web');
  assert.deepEqual(after.status, before?.status);
  await node.server.client.delete(podKind, reference);
  await node.waitUntil('web', isGone);
});

test('an ephemeral container joins a running Pod', async () => {
  await using node = await startTestNode();
  const { client } = node.server;
  await node.create({});
  const pod = await node.waitUntil('web', isReady);
  const debug = { name: 'debug', image: 'busybox:1.36', command: ['sleep', '5'] };
  await client.update(
    podKind,
    { ...pod!, spec: { ...pod!.spec!, ephemeralContainers: [debug] } },
    { subresource: 'ephemeralcontainers' },
  );
  await node.waitUntil('web', (found) => containerOf(found, 'debug')?.state?.running != null);
  const ended = await node.waitUntil('web', (found) => containerOf(found, 'debug')?.state?.terminated != null);
  assert.equal(ended?.status?.phase, 'Running');
  assert.equal(isReady(ended), true);
});

test('a failed postStart hook kills the container', async () => {
  await using node = await startTestNode();
  await node.create({
    annotations: { 'sim.kruise.io/exec': '1' },
    containers: [{ name: 'c', image: 'nginx:1.25', lifecycle: { postStart: { exec: { command: ['warm-up'] } } } }],
  });
  await node.waitUntil('web', isWaiting('CrashLoopBackOff'));
  const events = await node.events('web');
  assert.deepEqual(events.slice(2, 5), [
    'Normal Started: Started container c',
    'Warning FailedPostStartHook: PostStartHook failed',
    'Normal Killing: FailedPostStartHook',
  ]);
});

test('a container is reported as running after its postStart hook, on every start', async () => {
  await using node = await startTestNode();
  await node.create({
    annotations: { 'sim.kruise.io/exec': '0', 'sim.kruise.io/exec-latency': '20s', 'sim.kruise.io/run-for': '60s' },
    containers: [{ name: 'c', image: 'nginx:1.25', lifecycle: { postStart: { exec: { command: ['warm-up'] } } } }],
  });
  const running = async () =>
    (await node.runtime.listContainers({ filter: { state: 'CONTAINER_RUNNING' } })).containers.length;
  await node.advance(5);
  assert.equal(await running(), 1);
  const first = containerOf(await node.get('web'));
  assert.deepEqual([first?.state, first?.ready], [{ waiting: { reason: 'ContainerCreating' } }, false]);
  await node.waitUntil('web', isReady);
  await node.waitUntil('web', (pod) => containerOf(pod)?.state?.terminated != null);
  await node.advance(5);
  assert.equal(await running(), 1);
  const again = containerOf(await node.get('web'));
  assert.deepEqual([again?.state?.terminated?.exitCode, again?.ready, again?.restartCount], [0, false, 0]);
  const restarted = await node.waitUntil('web', isReady);
  assert.equal(containerOf(restarted)?.restartCount, 1);
  checkHistory(node.history);
});

test('an image update that cannot be pulled leaves the Pod running with the terminated state of the old container', async () => {
  await using node = await startTestNode();
  await node.create({});
  const before = await node.waitUntil('web', isReady);
  await patchImage(node, 'c', 'docker.io/library/no-such-image:1');
  const after = await node.waitUntil('web', isWaiting('ImagePullBackOff'));
  assert.equal(after?.status?.phase, 'Running');
  assert.equal(containerOf(after)?.lastState?.terminated?.containerID, containerOf(before)?.containerID);
  await patchImage(node, 'c', 'nginx:1.26');
  const healed = await node.waitUntil('web', isReady);
  assert.equal(containerOf(healed)?.restartCount, 1);
  checkHistory(node.history);
});

test('a host-network Pod has the IPs of its node', async () => {
  await using node = await startTestNode();
  await node.create({ hostNetwork: true });
  const pod = await node.waitUntil('web', isReady);
  assert.deepEqual([pod?.status?.podIP, pod?.status?.hostIP], ['172.18.0.2', '172.18.0.2']);
});

test('a sidecar restarts even in a Pod with restartPolicy Never', async () => {
  await using node = await startTestNode();
  await node.create({
    restartPolicy: 'Never',
    initContainers: [{ name: 'side', image: 'busybox:1.36', restartPolicy: 'Always', command: ['sleep', '3'] }],
  });
  const pod = await node.waitUntil('web', hasRestarted(1, 'side'));
  assert.equal(pod?.status?.phase, 'Running');
  assert.equal(containerOf(pod)?.restartCount, 0);
});

test('a sidecar terminates after the containers it serves', async () => {
  await using node = await startTestNode();
  await node.create({
    annotations: { 'c.sim.kruise.io/stop-latency': '5s' },
    initContainers: [{ name: 'side', image: 'nginx:1.25', restartPolicy: 'Always' }],
  });
  await node.waitUntil('web', isReady);
  await node.server.client.delete(podKind, reference);
  await node.waitUntil('web', isGone);
  const last = node.history.at(-1);
  const end = (name: string) => parseTime(containerOf(last, name)!.state!.terminated!.finishedAt!);
  assert.ok(end('side') >= end('c'));
  assert.equal(end('c') - parseTime(containerOf(last)!.state!.terminated!.startedAt!) >= 5000, true);
});

test('a label change restarts nothing', async () => {
  await using node = await startTestNode();
  await node.create({});
  const before = await node.waitUntil('web', isReady);
  await node.server.client.patch(
    podKind,
    reference,
    { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } } },
    { type: 'merge' },
  );
  await node.advance(5);
  assert.deepEqual((await node.get('web')).status, before?.status);
});

test('status changes of other clients cause no runtime calls', async () => {
  await using node = await startTestNode();
  await node.create({ readinessGates: [{ conditionType: 'example.com/served' }] });
  await node.waitUntil('web', (found) => conditionOf(found, 'ContainersReady') === 'True');
  await node.advance(5);
  Object.assign(node.runtime, { podSandboxStatus: () => assert.fail('it is asked') });
  const { client } = node.server;
  await client.patch(podKind, reference, { metadata: { labels: { a: 'b' } } }, { type: 'merge' });
  const patch = { status: { conditions: [{ type: 'example.com/served', status: 'True' }] } };
  await client.patch(podKind, reference, patch, { type: 'strategic', subresource: 'status' });
  await node.waitUntil('web', isReady);
  await node.advance(5);
  assert.ok(!(await node.events('web')).some((each) => each.includes('FailedSync')));
});

test('a node whose runtime fails is not ready until the runtime recovers', async () => {
  await using node = await startTestNode();
  const { status } = node.runtime;
  const readiness = async () => {
    const { conditions } = (await node.server.client.get(nodeKind, { name: 'node-1' })).status ?? {};
    const { status: value, reason, message } = findCondition(conditions, 'Ready')!;
    return [value, reason, message];
  };
  Object.assign(node.runtime, { status: () => Promise.reject(new Error('gone')) });
  await node.advance(40);
  assert.deepEqual(await readiness(), ['False', 'KubeletNotReady', 'container runtime is down']);
  Object.assign(node.runtime, { status });
  await node.advance(10);
  assert.deepEqual(await readiness(), ['True', 'KubeletReady', 'kubelet is posting ready status']);
});

test('a node renews its lease every ten seconds', async () => {
  await using node = await startTestNode();
  const leaseOf = () => node.server.client.get(lease, { name: 'node-1', namespace: 'kube-node-lease' });
  const first = await leaseOf();
  assert.deepEqual([first.spec?.holderIdentity, first.spec?.leaseDurationSeconds], ['node-1', 40]);
  assert.equal(first.metadata.ownerReferences?.[0]?.kind, 'Node');
  await node.advance(60);
  const renewals = Number((parseTime((await leaseOf()).spec!.renewTime!) - parseTime(first.spec!.renewTime!)) / 1000);
  assert.ok(renewals >= 50 && renewals <= 60);
});

test('a node shutdown terminates the Pods and rejects new ones', async () => {
  await using node = await startTestNode();
  await node.create({});
  await node.waitUntil('web', isReady);
  const down = node.kubelet.shutDown(10);
  await node.advance(30);
  await down;
  const { status } = await node.get('web');
  assert.deepEqual(
    [status?.phase, status?.reason, status?.message],
    ['Failed', 'Terminated', 'Pod was terminated in response to imminent node shutdown.'],
  );
  await node.create({ name: 'late' });
  const late = await node.waitUntil('late', hasPhase('Failed'));
  assert.equal(late?.status?.reason, 'NodeShutdown');
  const { conditions } = (await node.server.client.get(nodeKind, { name: 'node-1' })).status ?? {};
  assert.equal(findCondition(conditions, 'Ready')?.message, 'node is shutting down');
});

test('a runtime without events is relisted every second', async () => {
  const unimplemented = async function* () {
    yield* [];
    throw new GrpcError('UNIMPLEMENTED', 'no events', { wasSent: true });
  };
  await using node = await startTestNode();
  Object.assign(node.runtime, { getContainerEvents: unimplemented });
  await node.restart();
  await node.create({ annotations: { 'sim.kruise.io/run-for': '5s' } });
  await node.waitUntil('web', isReady);
  await node.waitUntil('web', hasRestarted(1));
});

test('a node without runtime events for minutes is not ready', async () => {
  await using node = await startTestNode();
  const { getContainerEvents } = node.runtime;
  const broken = async function* () {
    yield* [];
    throw new GrpcError('UNAVAILABLE', 'gone', { wasSent: true });
  };
  Object.assign(node.runtime, { getContainerEvents: broken });
  await node.restart();
  const readiness = async () => {
    const { conditions } = (await node.server.client.get(nodeKind, { name: 'node-1' })).status ?? {};
    const { status, message } = findCondition(conditions, 'Ready')!;
    return `${status}: ${message}`;
  };
  await node.advance(170);
  assert.equal(await readiness(), 'True: kubelet is posting ready status');
  await node.advance(20);
  assert.match(
    await readiness(),
    /^False: PLEG is not healthy: pleg was last seen active 3m\d+(\.\d+)?s ago; threshold is 3m0s$/,
  );
  Object.assign(node.runtime, { getContainerEvents });
  await node.advance(20);
  assert.equal(await readiness(), 'True: kubelet is posting ready status');
});

test('a node reports its status on changes and every five minutes', async () => {
  await using node = await startTestNode();
  const versionOf = async () => (await node.server.client.get(nodeKind, { name: 'node-1' })).metadata.resourceVersion;
  const first = await versionOf();
  await node.advance(280);
  assert.equal(await versionOf(), first);
  await node.advance(40);
  const second = await versionOf();
  assert.notEqual(second, first);
  await node.advance(200);
  assert.equal(await versionOf(), second);
});

test('the oldest Pods are admitted first after a kubelet restart', async () => {
  const resources = { requests: { cpu: '3' } };
  await using node = await startTestNode();
  await node.create({ name: 'first', containers: [{ name: 'c', image: 'nginx:1.25', resources }] });
  await node.waitUntil('first', isReady);
  await node.stop();
  await node.advance(2);
  await node.create({ name: 'a-second', containers: [{ name: 'c', image: 'nginx:1.25', resources }] });
  await node.restart();
  const refused = await node.waitUntil('a-second', hasPhase('Failed'));
  assert.equal(refused?.status?.reason, 'OutOfcpu');
  assert.equal(isReady(await node.get('first')), true);
});

test('one dead container per name is kept, and none of a removed Pod', async () => {
  await using node = await startTestNode();
  await node.create({ annotations: { 'sim.kruise.io/run-for': '1s' } });
  await node.waitUntil('web', hasRestarted(4));
  const states = async () => (await node.runtime.listContainers({})).containers.map(({ state }) => state).sort();
  assert.deepEqual(await states(), ['CONTAINER_EXITED', 'CONTAINER_RUNNING']);
  await node.server.client.delete(podKind, reference);
  await node.waitUntil('web', isGone);
  await node.advance(1);
  assert.deepEqual(await states(), []);
});

test('a deleted Node is registered again only after a kubelet restart', async () => {
  await using node = await startTestNode();
  const { client } = node.server;
  await client.delete(nodeKind, { name: 'node-1' });
  await node.advance(400);
  assert.deepEqual((await client.list(nodeKind)).items, []);
  await node.restart();
  assert.equal((await client.list(nodeKind)).items.length, 1);
});

test('a stopped kubelet leaves containers as they are for the next one', async () => {
  await using node = await startTestNode();
  await node.create({
    annotations: { 'sim.kruise.io/start-latency': '5s', 'sim.kruise.io/answers': '503 for 60s, 200' },
    containers: ['a', 'b'].map((name) => ({ name, image: 'nginx:1.25', readinessProbe: { httpGet: { port: 80 } } })),
  });
  await node.advance(7);
  await node.restart();
  const pod = await node.waitUntil('web', isReady);
  assert.equal(containerOf(pod, 'a')?.restartCount, 0);
  const { containers } = await node.runtime.listContainers({ filter: { state: 'CONTAINER_RUNNING' } });
  assert.deepEqual(containers.map(({ metadata }) => metadata.name).sort(), ['a', 'b']);
});

test('a quiet kubelet records only warnings', async () => {
  await using node = await startTestNode({ kubelet: { quiet: true } });
  await node.create({ annotations: { 'sim.kruise.io/run-for': '1s' } });
  await node.waitUntil('web', isWaiting('CrashLoopBackOff'));
  const events = await node.events('web');
  assert.ok(events.length > 0 && events.every((each) => each.startsWith('Warning')));
});

test('images pulled by other clients are reported', async () => {
  await using node = await startTestNode();
  void node.runtime.pullImage({ image: { image: 'redis:7' } });
  await node.advance(60);
  const { images } = (await node.server.client.get(nodeKind, { name: 'node-1' })).status ?? {};
  assert.ok(images?.some(({ names }) => names?.includes('docker.io/library/redis:7')));
});

test('a log file has a symlink with the names of its container', async () => {
  await using node = await startTestNode();
  const { files } = node.runtime;
  const { startContainer } = node.runtime;
  Object.assign(node.runtime, {
    // A runtime that keeps logs in files, as real ones do.
    async startContainer(request: { containerId: string }, options?: object) {
      await startContainer(request, options);
      const { status } = await node.runtime.containerStatus(request);
      await files.makeDirectory(status.logPath.slice(0, status.logPath.lastIndexOf('/')));
      await files.writeFile(status.logPath, 'hello');
    },
  });
  await node.create({});
  const pod = await node.waitUntil('web', isReady);
  const [link, ...others] = await files.list('/var/log/containers');
  assert.equal(link, `web_default_c-${containerOf(pod)!.containerID!.slice('simulated://'.length)}.log`);
  assert.deepEqual(others, []);
  const content = await files.readFile(`/var/log/containers/${link}`, { followsLinks: true });
  assert.equal(Buffer.from(content).toString(), 'hello');
  await node.server.client.delete(podKind, reference);
  await node.waitUntil('web', isGone);
  await node.advance(1);
  assert.deepEqual(await files.list('/var/log/containers'), []);
});

test('leftovers of Pods deleted while no kubelet ran are removed', async () => {
  await using node = await startTestNode();
  const { client } = node.server;
  await node.create({ volumes: [{ name: 'v', emptyDir: {} }] });
  await node.waitUntil('web', isReady);
  await node.stop();
  await client.delete(podKind, reference, { gracePeriodSeconds: 0 });
  await node.restart();
  await node.advance(1);
  assert.deepEqual((await node.runtime.listPodSandbox({})).items, []);
  assert.deepEqual(await node.runtime.files.list('/var/lib/kubelet/pods'), []);
  assert.deepEqual(await node.runtime.files.list('/var/log/pods'), []);
});
