import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { isPodReady } from '@kruise/machinery/pods';
import type { CreateContainerRequest, RunPodSandboxRequest } from '../../cri/runtime.ts';
import { startTestNode, type TestNode } from '../testing/test-node.ts';

const isReady = (pod: Pod | undefined) => pod !== undefined && isPodReady(pod);
const spec = {
  hostUsers: false,
  volumes: [{ name: 'data', emptyDir: {} }],
  containers: [{ name: 'c', image: 'nginx:1.25', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
};

/** Records the requests to the runtime. */
function recorded(node: TestNode) {
  const { runPodSandbox, createContainer } = node.runtime;
  const [sandboxes, containers]: [RunPodSandboxRequest[], CreateContainerRequest[]] = [[], []];
  Object.assign(node.runtime, {
    runPodSandbox(request: RunPodSandboxRequest, options?: object) {
      sandboxes.push(request);
      return runPodSandbox(request, options);
    },
    createContainer(request: CreateContainerRequest, options?: object) {
      containers.push(request);
      return createContainer(request, options);
    },
  });
  return { sandboxes, containers };
}

const rangeAt = (hostId: number) => [{ hostId, containerId: 0, length: 65_536 }];

test('a Pod with a user namespace has it in its sandbox, its containers and its volumes', async () => {
  await using node = await startTestNode();
  const { sandboxes, containers } = recorded(node);
  await node.create(spec);
  await node.waitUntil('web', isReady);
  const wanted = { mode: 'POD', uids: rangeAt(65_536), gids: rangeAt(65_536) };
  assert.deepEqual(sandboxes[0]!.config.linux?.securityContext?.namespaceOptions?.usernsOptions, wanted);
  const { linux, mounts = [] } = containers[0]!.config;
  assert.deepEqual(linux?.securityContext?.namespaceOptions?.usernsOptions, wanted);
  const data = mounts.find(({ containerPath }) => containerPath === '/data');
  assert.deepEqual([data?.uidMappings, data?.gidMappings], [rangeAt(65_536), rangeAt(65_536)]);
});

test('a Pod with the node’s users has no mappings in its configuration', async () => {
  await using node = await startTestNode();
  const { sandboxes, containers } = recorded(node);
  await node.create({ ...spec, hostUsers: true });
  await node.waitUntil('web', isReady);
  assert.equal(sandboxes[0]!.config.linux?.securityContext?.namespaceOptions?.usernsOptions, undefined);
  assert.equal(
    containers[0]!.config.mounts?.some(({ uidMappings }) => uidMappings),
    false,
  );
});

test('no two Pods share a range of users, and a range outlives the kubelet until its Pod is deleted', async () => {
  await using node = await startTestNode();
  const { sandboxes } = recorded(node);
  const ranges = () =>
    sandboxes.map(({ config }) => config.linux?.securityContext?.namespaceOptions?.usernsOptions?.uids?.[0]?.hostId);
  await Promise.all(['a', 'b'].map((name) => node.create({ ...spec, name })));
  await Promise.all(['a', 'b'].map((name) => node.waitUntil(name, isReady)));
  assert.deepEqual(new Set(ranges()), new Set([65_536, 131_072]));
  await node.restart();
  await node.create({ ...spec, name: 'c' });
  await node.waitUntil('c', isReady);
  assert.equal(ranges().at(-1), 3 * 65_536);
  await node.server.client.delete(podKind, { name: 'a', namespace: 'default' });
  await node.waitUntil('a', (pod) => pod === undefined);
  const freed = ranges()[sandboxes.findIndex(({ config }) => config.metadata.name === 'a')];
  await node.create({ ...spec, name: 'd' });
  await node.waitUntil('d', isReady);
  assert.equal(ranges().at(-1), freed);
});

test('a Pod with a user namespace does not run on a runtime without support', async () => {
  await using node = await startTestNode();
  const { sandboxes } = recorded(node);
  const { status } = node.runtime;
  Object.assign(node.runtime, { status: async () => ({ ...(await status({})), runtimeHandlers: [] }) });
  await node.advance(60);
  await node.create(spec);
  await node.advance(30);
  const [event] = await node.events('web');
  assert.equal(
    event,
    "Warning FailedCreatePodSandBox: Failed to create pod sandbox: can't set `spec.hostUsers: false`, runtime does not support user namespaces",
  );
  const pod = await node.get('web');
  assert.equal(pod.status?.phase, 'Pending');
  const condition = pod.status?.conditions?.find(({ type }) => type === 'PodReadyToStartContainers');
  assert.equal(condition?.status, 'False');
  assert.deepEqual(sandboxes, []);
});
