/** What people read of a Pod's way, word for word and in order (kubelet.md §4, §5, §6, §9, §15). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { event as eventKind } from '@kruise/api/core/event';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { runtimeClass } from '@kruise/api/node/runtimeclass';
import { GrpcError } from '@kruise/client/grpc/status';
import { isPodReady } from '@kruise/machinery/pods';
import { startTestNode, type TestNode, type TestPod } from './testing/test-node.ts';

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
  /** Done once it has come to that; then it is waited for what `finally` says. */
  readonly next?: (node: TestNode) => Promise<unknown>;
  readonly finally?: (pod: Pod | undefined) => boolean;
  readonly says: readonly (string | RegExp)[];
};

const remove = (node: TestNode) => node.server.client.delete(podKind, reference);
const change = (image: string) => (node: TestNode) =>
  node.server.client.patch(podKind, reference, { spec: { containers: [{ name: 'c', image }] } }, { type: 'strategic' });

const rows: readonly Row[] = [
  {
    name: 'a Pod whose image is not there comes up and goes',
    pod: { containers: [{ name: 'c', image: 'redis:7' }] },
    until: isReady,
    next: remove,
    finally: isGone,
    says: [
      'Normal Pulling: Pulling image "redis:7"',
      /^Normal Pulled: Successfully pulled image "redis:7" in \d+m?s \(\d+m?s including waiting\)\. Image size: \d+ bytes\.$/,
      ...started,
      'Normal Killing: Stopping container c',
    ],
  },
  {
    name: 'containers that prepare come first, one after the other, then sidecars’ Pod',
    pod: {
      initContainers: [
        { name: 'i', image: 'busybox:1.36', command: ['true'] },
        { name: 's', image: 'nginx:1.25', restartPolicy: 'Always' },
      ],
      containers: [web],
    },
    until: isReady,
    says: [
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
    name: 'another image',
    pod: {},
    until: isReady,
    next: change('redis:7'),
    finally: restarted,
    says: [
      present,
      ...started,
      'Normal Killing: Container c definition changed, will be restarted',
      'Normal Pulling: Pulling image "redis:7"',
      /^Normal Pulled: Successfully pulled image "redis:7" in /,
      // The same again is counted, not told twice.
    ],
  },
  {
    name: 'an image that cannot be had',
    pod: { containers: [{ name: 'c', image: 'docker.io/library/no-such-image:1' }] },
    until: waits('ImagePullBackOff'),
    says: [
      'Normal Pulling: Pulling image "docker.io/library/no-such-image:1"',
      /^Warning Failed: Failed to pull image "docker\.io\/library\/no-such-image:1": .*pull access denied/,
      'Warning Failed: Error: ErrImagePull',
      'Normal BackOff: Back-off pulling image "docker.io/library/no-such-image:1"',
      'Warning Failed: Error: ImagePullBackOff',
    ],
  },
  {
    name: 'an image that must be there already',
    pod: { containers: [{ name: 'c', image: 'redis:7', imagePullPolicy: 'Never' }] },
    until: waits('ErrImageNeverPull'),
    says: [
      'Warning ErrImageNeverPull: Container image "redis:7" is not present with pull policy of Never',
      'Warning Failed: Error: ErrImageNeverPull',
    ],
  },
  {
    name: 'a registry that is not to be reached',
    pod: {
      annotations: { 'sim.kruise.io/pull-error': 'RegistryUnavailable: no route' },
      containers: [{ name: 'c', image: 'redis:7' }],
    },
    until: waits('ImagePullBackOff'),
    says: [
      'Normal Pulling: Pulling image "redis:7"',
      'Warning Failed: Failed to pull image "redis:7": RegistryUnavailable: no route',
      'Warning Failed: Error: RegistryUnavailable',
      'Normal BackOff: Back-off pulling image "redis:7"',
      'Warning Failed: Error: ImagePullBackOff',
    ],
  },
  {
    name: 'a ConfigMap that is missing',
    pod: { containers: [{ ...web, envFrom: [{ configMapRef: { name: 'settings' } }] }] },
    until: waits('CreateContainerConfigError'),
    says: [present, 'Warning Failed: Error: configmap "settings" not found'],
  },
  {
    name: 'a container that cannot be made',
    pod: { annotations: { 'sim.kruise.io/create-error': 'no room' } },
    until: waits('CreateContainerError'),
    says: [present, 'Warning Failed: Error: no room'],
  },
  {
    name: 'a container that cannot be started',
    pod: { annotations: { 'sim.kruise.io/start-error': 'no such device' } },
    until: waits('CrashLoopBackOff'),
    says: [
      present,
      'Normal Created: Created container: c',
      'Warning Failed: Error: no such device',
      /^Warning BackOff: Back-off restarting failed container c in pod web_default\(/,
    ],
  },
  {
    name: 'a container that does not live',
    pod: {
      annotations: { 'sim.kruise.io/answers': '500' },
      containers: [{ ...web, livenessProbe: { httpGet: { port: 80 }, periodSeconds: 1, failureThreshold: 2 } }],
    },
    until: restarted,
    says: [
      present,
      ...started,
      'Warning Unhealthy: Liveness probe failed: HTTP probe failed with statuscode: 500',
      'Normal Killing: Container c failed liveness probe, will be restarted',
    ],
  },
  {
    name: 'a container that does not start up',
    pod: {
      annotations: { 'sim.kruise.io/answers': 'refuse' },
      containers: [{ ...web, startupProbe: { tcpSocket: { port: 80 }, periodSeconds: 1, failureThreshold: 2 } }],
    },
    until: (pod) => (pod?.status?.containerStatuses?.[0]?.restartCount ?? 0) > 0,
    says: [
      present,
      ...started,
      /^Warning Unhealthy: Startup probe failed: dial tcp 10\.244\.0\.\d+:80: connect: connection refused$/,
      'Normal Killing: Container c failed startup probe, will be restarted',
    ],
  },
  {
    name: 'a probe that cannot be made',
    pod: {
      containers: [{ ...web, readinessProbe: { exec: { command: ['no-such-command'] }, periodSeconds: 1 } }],
    },
    until: 5,
    says: [
      present,
      ...started,
      /^Warning Unhealthy: Readiness probe errored and resulted in unknown state: rpc error: /,
    ],
  },
  {
    name: 'a hook before the end that fails',
    pod: { containers: [{ ...web, lifecycle: { preStop: { exec: { command: ['false'] } } } }] },
    until: isReady,
    next: remove,
    finally: isGone,
    says: [
      present,
      ...started,
      'Normal Killing: Stopping container c',
      'Warning FailedPreStopHook: PreStopHook failed',
    ],
  },
  {
    name: 'a hook after the start that fails',
    pod: { containers: [{ ...web, lifecycle: { postStart: { exec: { command: ['false'] } } } }] },
    until: waits('CrashLoopBackOff'),
    says: [
      present,
      ...started,
      'Warning FailedPostStartHook: PostStartHook failed',
      'Normal Killing: FailedPostStartHook',
      /^Warning BackOff: Back-off restarting failed container c in pod web_default\(/,
    ],
  },
  {
    name: 'a sandbox that cannot be made',
    pod: { annotations: { 'sim.kruise.io/sandbox-error': 'no addresses left', 'sim.kruise.io/sandbox-failures': '1' } },
    until: isReady,
    says: ['Warning FailedCreatePodSandBox: Failed to create pod sandbox: no addresses left', present, ...started],
  },
  {
    name: 'a class of runtimes that does not exist',
    pod: { runtimeClassName: 'none' },
    until: 1,
    says: ['Warning FailedCreatePodSandBox: Failed to create pod sandbox: runtimeclass.node.k8s.io "none" not found'],
  },
  {
    name: 'secrets for pulling that are missing',
    pod: { imagePullSecrets: [{ name: 'one' }, { name: 'two' }] },
    until: isReady,
    says: [
      'Warning FailedToRetrieveImagePullSecret: Unable to retrieve some image pull secrets (one, two); attempting to pull the image may not succeed.',
      present,
      ...started,
    ],
  },
  {
    name: 'a limit of time',
    pod: { activeDeadlineSeconds: 5 },
    until: (pod) => pod?.status?.phase === 'Failed',
    says: [
      present,
      ...started,
      'Normal DeadlineExceeded: Pod was active on the node longer than the specified deadline',
      'Normal Killing: Stopping container c',
    ],
  },
];

for (const { name, pod, until, next, finally: last, says } of rows) {
  test(`of ${name}`, async () => {
    await using node = await startTestNode();
    if (pod.runtimeClassName) await bare(node, pod);
    else await node.create(pod);
    if (typeof until === 'number') await node.pass(until);
    else await node.until('web', until);
    await next?.(node);
    if (last) await node.until('web', last);
    const events = await node.events('web');
    assert.equal(events.length, says.length, events.join('\n'));
    for (const [index, said] of says.entries()) {
      if (typeof said === 'string') assert.equal(events[index], said);
      else assert.match(events[index]!, said);
    }
  });
}

/** A class that is gone was there when the Pod came. */
async function bare(node: TestNode, pod: TestPod): Promise<void> {
  const metadata = { name: pod.runtimeClassName! };
  await node.server.client.create(runtimeClass, { metadata, handler: 'x' });
  await node.stop();
  await node.create(pod);
  await node.server.client.delete(runtimeClass, metadata);
  await node.restart();
}

test('of a class of runtimes that the node has no handler for', async () => {
  await using node = await startTestNode();
  await node.server.client.create(runtimeClass, { metadata: { name: 'strong' }, handler: 'kata' });
  await node.create({ runtimeClassName: 'strong' });
  await node.pass(1);
  assert.deepEqual(await node.events('web'), [
    'Warning FailedCreatePodSandBox: Failed to create pod sandbox: failed to get sandbox runtime: no runtime for "kata" is configured',
  ]);
});

test('an event tells whose it is and who says so', async () => {
  await using node = await startTestNode();
  await node.create({
    initContainers: [{ name: 'i', image: 'busybox:1.36', command: ['true'] }],
    containers: [web],
  });
  const pod = await node.until('web', isReady);
  await node.pass(1);
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

test('what keeps a runtime from answering is told', async () => {
  await using node = await startTestNode();
  await node.create({});
  await node.until('web', isReady);
  const { podSandboxStatus } = node.runtime;
  Object.assign(node.runtime, {
    podSandboxStatus: () => Promise.reject(new GrpcError('UNAVAILABLE', 'restarting', { wasSent: true })),
  });
  const image = [{ op: 'replace', path: '/spec/containers/0/image', value: 'nginx:1.26' }];
  await node.server.client.patch(podKind, reference, image, { type: 'json' });
  await node.pass(1);
  Object.assign(node.runtime, { podSandboxStatus });
  const said = 'Warning FailedSync: error determining status: rpc error: code = Unavailable desc = restarting';
  assert.ok((await node.events('web')).includes(said));
});

test('a sandbox of which nothing can be learnt is told', async () => {
  await using node = await startTestNode();
  const { podSandboxStatus } = node.runtime;
  Object.assign(node.runtime, {
    podSandboxStatus: () => Promise.reject(new GrpcError('UNAVAILABLE', 'restarting', { wasSent: true })),
  });
  await node.create({});
  await node.pass(1);
  Object.assign(node.runtime, { podSandboxStatus });
  const [first] = await node.events('web');
  assert.equal(
    first,
    'Warning FailedPodSandBoxStatus: Unable to get pod sandbox status: rpc error: code = Unavailable desc = restarting',
  );
  await node.until('web', isReady);
});

test('a network that is not there yet is told', async () => {
  await using node = await startTestNode({ runtime: { podCidr: '' } });
  await node.create({});
  await node.create({ name: 'host', hostNetwork: true });
  await node.until('host', isReady);
  const [first] = await node.events('web');
  assert.match(
    first!,
    /^Warning NetworkNotReady: network is not ready: container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:/,
  );
});
