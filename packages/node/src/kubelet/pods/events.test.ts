/** Events of a Pod, verbatim and in order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { event as eventKind } from '@kruise/api/core/event';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { runtimeClass } from '@kruise/api/node/runtimeclass';
import { GrpcError } from '@kruise/client/grpc/status';
import { isPodReady } from '@kruise/machinery/pods';
import { startTestNode, type TestNode, type TestPod } from '../testing/test-node.ts';

const reference = { name: 'web', namespace: 'default' };
const isReady = (pod: Pod | undefined) => pod !== undefined && isPodReady(pod);
const isGone = (pod: Pod | undefined) => pod === undefined;
const waits = (reason: string) => (pod: Pod | undefined) =>
  pod?.status?.containerStatuses?.[0]?.state?.waiting?.reason === reason;
const restarted = (pod: Pod | undefined) =>
  (pod?.status?.containerStatuses?.[0]?.restartCount ?? 0) > 0 && isReady(pod);
const web = { name: 'c', image: 'nginx:1.25' };
const present = 'Normal Pulled: Container image "nginx:1.25" already present on machine';
const started = ['Normal Created: Created container: c', 'Normal Started: Started container c'];

type Row = {
  readonly name: string;
  readonly pod: TestPod;
  readonly until: ((pod: Pod | undefined) => boolean) | number;
  /** Runs after the first condition holds; then the test waits for `finally`. */
  readonly next?: (node: TestNode) => Promise<unknown>;
  readonly finally?: (pod: Pod | undefined) => boolean;
  readonly expectedEvents: readonly (string | RegExp)[];
};

const remove = (node: TestNode) => node.server.client.delete(podKind, reference);
const change = (image: string) => (node: TestNode) =>
  node.server.client.patch(podKind, reference, { spec: { containers: [{ name: 'c', image }] } }, { type: 'strategic' });

const rows: readonly Row[] = [
  {
    name: 'a Pod whose image must be pulled starts and terminates',
    pod: { containers: [{ name: 'c', image: 'redis:7' }] },
    until: isReady,
    next: remove,
    finally: isGone,
    expectedEvents: [
      'Normal Pulling: Pulling image "redis:7"',
      /^Normal Pulled: Successfully pulled image "redis:7" in \d+m?s \(\d+m?s including waiting\)\. Image size: \d+ bytes\.$/,
      ...started,
      'Normal Killing: Stopping container c',
    ],
  },
  {
    name: 'init containers start in order before sidecars and regular containers',
    pod: {
      initContainers: [
        { name: 'i', image: 'busybox:1.36', command: ['true'] },
        { name: 's', image: 'nginx:1.25', restartPolicy: 'Always' },
      ],
      containers: [web],
    },
    until: isReady,
    expectedEvents: [
      'Normal Pulled: Container image "busybox:1.36" already present on machine',
      'Normal Created: Created container: i',
      'Normal Started: Started container i',
      present,
      'Normal Created: Created container: s',
      'Normal Started: Started container s',
      present,
      ...started,
    ],
  },
  {
    name: 'an image update',
    pod: {},
    until: isReady,
    next: change('redis:7'),
    finally: restarted,
    expectedEvents: [
      present,
      ...started,
      'Normal Killing: Container c definition changed, will be restarted',
      'Normal Pulling: Pulling image "redis:7"',
      /^Normal Pulled: Successfully pulled image "redis:7" in /,
      // Repeated events are aggregated.
    ],
  },
  {
    name: 'an image that cannot be pulled',
    pod: { containers: [{ name: 'c', image: 'docker.io/library/no-such-image:1' }] },
    until: waits('ImagePullBackOff'),
    expectedEvents: [
      'Normal Pulling: Pulling image "docker.io/library/no-such-image:1"',
      /^Warning Failed: Failed to pull image "docker\.io\/library\/no-such-image:1": .*pull access denied/,
      'Warning Failed: Error: ErrImagePull',
      'Normal BackOff: Back-off pulling image "docker.io/library/no-such-image:1"',
      'Warning Failed: Error: ImagePullBackOff',
    ],
  },
  {
    name: 'a missing image with pull policy Never',
    pod: { containers: [{ name: 'c', image: 'redis:7', imagePullPolicy: 'Never' }] },
    until: waits('ErrImageNeverPull'),
    expectedEvents: [
      'Warning ErrImageNeverPull: Container image "redis:7" is not present with pull policy of Never',
      'Warning Failed: Error: ErrImageNeverPull',
    ],
  },
  {
    name: 'an unreachable registry',
    pod: {
      annotations: { 'sim.kruise.io/pull-error': 'RegistryUnavailable: no route' },
      containers: [{ name: 'c', image: 'redis:7' }],
    },
    until: waits('ImagePullBackOff'),
    expectedEvents: [
      'Normal Pulling: Pulling image "redis:7"',
      'Warning Failed: Failed to pull image "redis:7": RegistryUnavailable: no route',
      'Warning Failed: Error: RegistryUnavailable',
      'Normal BackOff: Back-off pulling image "redis:7"',
      'Warning Failed: Error: ImagePullBackOff',
    ],
  },
  {
    name: 'a missing ConfigMap',
    pod: { containers: [{ ...web, envFrom: [{ configMapRef: { name: 'settings' } }] }] },
    until: waits('CreateContainerConfigError'),
    expectedEvents: [present, 'Warning Failed: Error: configmap "settings" not found'],
  },
  {
    name: 'a container that cannot be created',
    pod: { annotations: { 'sim.kruise.io/create-error': 'no room' } },
    until: waits('CreateContainerError'),
    expectedEvents: [present, 'Warning Failed: Error: no room'],
  },
  {
    name: 'a container that cannot be started',
    pod: { annotations: { 'sim.kruise.io/start-error': 'no such device' } },
    until: waits('CrashLoopBackOff'),
    expectedEvents: [
      present,
      'Normal Created: Created container: c',
      'Warning Failed: Error: no such device',
      /^Warning BackOff: Back-off restarting failed container c in pod web_default\(/,
    ],
  },
  {
    name: 'a failed liveness probe',
    pod: {
      annotations: { 'sim.kruise.io/answers': '500' },
      containers: [{ ...web, livenessProbe: { httpGet: { port: 80 }, periodSeconds: 1, failureThreshold: 2 } }],
    },
    until: restarted,
    expectedEvents: [
      present,
      ...started,
      'Warning Unhealthy: Liveness probe failed: HTTP probe failed with statuscode: 500',
      'Normal Killing: Container c failed liveness probe, will be restarted',
    ],
  },
  {
    name: 'a failed startup probe',
    pod: {
      annotations: { 'sim.kruise.io/answers': 'refuse' },
      containers: [{ ...web, startupProbe: { tcpSocket: { port: 80 }, periodSeconds: 1, failureThreshold: 2 } }],
    },
    until: (pod) => (pod?.status?.containerStatuses?.[0]?.restartCount ?? 0) > 0,
    expectedEvents: [
      present,
      ...started,
      /^Warning Unhealthy: Startup probe failed: dial tcp 10\.244\.0\.\d+:80: connect: connection refused$/,
      'Normal Killing: Container c failed startup probe, will be restarted',
    ],
  },
  {
    name: 'a probe that errors',
    pod: {
      containers: [{ ...web, readinessProbe: { exec: { command: ['no-such-command'] }, periodSeconds: 1 } }],
    },
    until: 5,
    expectedEvents: [
      present,
      ...started,
      /^Warning Unhealthy: Readiness probe errored and resulted in unknown state: rpc error: /,
    ],
  },
  {
    name: 'a failed preStop hook',
    pod: { containers: [{ ...web, lifecycle: { preStop: { exec: { command: ['false'] } } } }] },
    until: isReady,
    next: remove,
    finally: isGone,
    expectedEvents: [
      present,
      ...started,
      'Normal Killing: Stopping container c',
      'Warning FailedPreStopHook: PreStopHook failed',
    ],
  },
  {
    name: 'a failed postStart hook',
    pod: { containers: [{ ...web, lifecycle: { postStart: { exec: { command: ['false'] } } } }] },
    until: waits('CrashLoopBackOff'),
    expectedEvents: [
      present,
      ...started,
      'Warning FailedPostStartHook: PostStartHook failed',
      'Normal Killing: FailedPostStartHook',
      /^Warning BackOff: Back-off restarting failed container c in pod web_default\(/,
    ],
  },
  {
    name: 'a sandbox that cannot be created',
    pod: { annotations: { 'sim.kruise.io/sandbox-error': 'no addresses left', 'sim.kruise.io/sandbox-failures': '1' } },
    until: isReady,
    expectedEvents: [
      'Warning FailedCreatePodSandBox: Failed to create pod sandbox: no addresses left',
      present,
      ...started,
    ],
  },
  {
    name: 'a missing RuntimeClass',
    pod: { runtimeClassName: 'none' },
    until: 1,
    expectedEvents: [
      'Warning FailedCreatePodSandBox: Failed to create pod sandbox: runtimeclass.node.k8s.io "none" not found',
    ],
  },
  {
    name: 'missing image pull secrets',
    pod: { imagePullSecrets: [{ name: 'one' }, { name: 'two' }] },
    until: isReady,
    expectedEvents: [
      'Warning FailedToRetrieveImagePullSecret: Unable to retrieve some image pull secrets (one, two); attempting to pull the image may not succeed.',
      present,
      ...started,
    ],
  },
  {
    name: 'an active deadline',
    pod: { activeDeadlineSeconds: 5 },
    until: (pod) => pod?.status?.phase === 'Failed',
    expectedEvents: [
      present,
      ...started,
      'Normal DeadlineExceeded: Pod was active on the node longer than the specified deadline',
      'Normal Killing: Stopping container c',
    ],
  },
];

for (const { name, pod, until, next, finally: last, expectedEvents } of rows) {
  test(`events of ${name}`, async () => {
    await using node = await startTestNode();
    if (pod.runtimeClassName) await createWithoutRuntimeClass(node, pod);
    else await node.create(pod);
    if (typeof until === 'number') await node.advance(until);
    else await node.waitUntil('web', until);
    await next?.(node);
    if (last) await node.waitUntil('web', last);
    const events = await node.events('web');
    assert.equal(events.length, expectedEvents.length, events.join('\n'));
    for (const [index, expectedEvent] of expectedEvents.entries()) {
      if (typeof expectedEvent === 'string') assert.equal(events[index], expectedEvent);
      else assert.match(events[index]!, expectedEvent);
    }
  });
}

/** Creates the Pod while its RuntimeClass exists, then deletes the RuntimeClass. */
async function createWithoutRuntimeClass(node: TestNode, pod: TestPod): Promise<void> {
  const metadata = { name: pod.runtimeClassName! };
  await node.server.client.create(runtimeClass, { metadata, handler: 'x' });
  await node.stop();
  await node.create(pod);
  await node.server.client.delete(runtimeClass, metadata);
  await node.restart();
}

test('a RuntimeClass without a handler on the node is reported in an event', async () => {
  await using node = await startTestNode();
  await node.server.client.create(runtimeClass, { metadata: { name: 'strong' }, handler: 'kata' });
  await node.create({ runtimeClassName: 'strong' });
  await node.advance(1);
  assert.deepEqual(await node.events('web'), [
    'Warning FailedCreatePodSandBox: Failed to create pod sandbox: failed to get sandbox runtime: no runtime for "kata" is configured',
  ]);
});

test('an event has the involved object and the source', async () => {
  await using node = await startTestNode();
  await node.create({
    initContainers: [{ name: 'i', image: 'busybox:1.36', command: ['true'] }],
    containers: [web],
  });
  const pod = await node.waitUntil('web', isReady);
  await node.advance(1);
  const { items } = await node.server.client.list(eventKind, { namespace: 'default' });
  const created = items.filter(({ reason, involvedObject }) => reason === 'Created' && involvedObject.name === 'web');
  assert.deepEqual(created.map(({ involvedObject }) => involvedObject.fieldPath).sort(), [
    'spec.containers{c}',
    'spec.initContainers{i}',
  ]);
  const [first] = created;
  assert.deepEqual(first?.source, { component: 'kubelet', host: 'node-1' });
  assert.equal(first?.reportingComponent, 'kubelet');
  assert.equal(first?.involvedObject.uid, pod?.metadata.uid);
});

test('a failing runtime is reported in an event', async () => {
  await using node = await startTestNode();
  await node.create({});
  await node.waitUntil('web', isReady);
  const { podSandboxStatus } = node.runtime;
  Object.assign(node.runtime, {
    podSandboxStatus: () => Promise.reject(new GrpcError('UNAVAILABLE', 'restarting', { wasSent: true })),
  });
  const image = [{ op: 'replace', path: '/spec/containers/0/image', value: 'nginx:1.26' }];
  await node.server.client.patch(podKind, reference, image, { type: 'json' });
  await node.advance(1);
  Object.assign(node.runtime, { podSandboxStatus });
  const expectedEvent = 'Warning FailedSync: error determining status: rpc error: code = Unavailable desc = restarting';
  assert.ok((await node.events('web')).includes(expectedEvent));
});

test('a sandbox without status is reported in an event', async () => {
  await using node = await startTestNode();
  const { podSandboxStatus } = node.runtime;
  Object.assign(node.runtime, {
    podSandboxStatus: () => Promise.reject(new GrpcError('UNAVAILABLE', 'restarting', { wasSent: true })),
  });
  await node.create({});
  await node.advance(1);
  Object.assign(node.runtime, { podSandboxStatus });
  const [first] = await node.events('web');
  assert.equal(
    first,
    'Warning FailedPodSandBoxStatus: Unable to get pod sandbox status: rpc error: code = Unavailable desc = restarting',
  );
  await node.waitUntil('web', isReady);
});

test('a network that is not ready is reported in an event', async () => {
  await using node = await startTestNode({ runtime: { podCidr: '' } });
  await node.create({});
  await node.create({ name: 'host', hostNetwork: true });
  await node.waitUntil('host', isReady);
  const [first] = await node.events('web');
  assert.match(
    first!,
    /^Warning NetworkNotReady: network is not ready: container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:/,
  );
});
