/** Lifecycle hooks of every kind, and gRPC probes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { isPodReady } from '@kruise/machinery/pods';
import { parseTime } from '@kruise/values/time';
import { startTestNode, type TestNode } from '../testing/test-node.ts';

const reference = { name: 'web', namespace: 'default' };
const isReady = (pod: Pod | undefined) => pod !== undefined && isPodReady(pod);
const agnhost = 'registry.k8s.io/e2e-test-images/agnhost:2.53';

/** Starts a server that hooks can call, and records its requests. */
async function listener(node: TestNode) {
  await node.create({
    name: 'ear',
    containers: [{ name: 'c', image: agnhost, args: ['netexec', '--http-port=8080'] }],
  });
  const pod = await node.waitUntil('ear', isReady);
  const { containers } = await node.runtime.listContainers({});
  return {
    host: pod!.status!.podIP!,
    async heard(): Promise<string> {
      const chunks: Uint8Array[] = [];
      for await (const { content } of node.runtime.logs.read({ containerId: containers[0]!.id })) chunks.push(content);
      return Buffer.concat(chunks).toString();
    },
  };
}

test('a postStart hook calls an HTTP server', async () => {
  await using node = await startTestNode();
  const { host, heard } = await listener(node);
  const postStart = { httpGet: { host, port: 8080, path: '/echo?msg=hello' } };
  await node.create({ containers: [{ name: 'c', image: 'nginx:1.25', lifecycle: { postStart } }] });
  await node.waitUntil('web', isReady);
  assert.match(await heard(), /GET \/echo\?msg=hello/);
});

test('a preStop hook calls an HTTP server', async () => {
  await using node = await startTestNode();
  const { host, heard } = await listener(node);
  const preStop = { httpGet: { host, port: 8080, path: '/echo?msg=bye' } };
  await node.create({ containers: [{ name: 'c', image: 'nginx:1.25', lifecycle: { preStop } }] });
  await node.waitUntil('web', isReady);
  assert.doesNotMatch(await heard(), /bye/);
  await node.server.client.delete(podKind, reference);
  await node.waitUntil('web', (pod) => pod === undefined);
  assert.match(await heard(), /GET \/echo\?msg=bye/);
});

test('a preStop sleep delays the stop of the container', async () => {
  await using node = await startTestNode();
  const preStop = { sleep: { seconds: 7 } };
  await node.create({ containers: [{ name: 'c', image: 'nginx:1.25', lifecycle: { preStop } }] });
  await node.waitUntil('web', isReady);
  const askedAt = node.clock.now();
  await node.server.client.delete(podKind, reference);
  await node.waitUntil('web', (pod) => pod === undefined);
  const { finishedAt } = node.history.at(-1)!.status!.containerStatuses![0]!.state!.terminated!;
  assert.equal(Math.round((parseTime(finishedAt!) - askedAt) / 1000), 7);
});

test('a preStop hook runs a command in the container', async () => {
  await using node = await startTestNode();
  await node.create({
    volumes: [{ name: 'v', hostPath: { path: '/srv' } }],
    containers: [
      {
        name: 'c',
        image: 'busybox:1.36',
        command: ['sleep', 'infinity'],
        volumeMounts: [{ name: 'v', mountPath: '/v' }],
        lifecycle: { preStop: { exec: { command: ['touch', '/v/was-here'] } } },
      },
    ],
    terminationGracePeriodSeconds: 2,
  });
  await node.waitUntil('web', isReady);
  await node.server.client.delete(podKind, reference);
  await node.waitUntil('web', (pod) => pod === undefined);
  assert.ok(await node.runtime.files.stat('/srv/was-here'));
});

test('a gRPC readiness probe makes a container ready', async () => {
  await using node = await startTestNode();
  await node.create({
    containers: [
      {
        name: 'c',
        image: agnhost,
        args: ['grpc-health-checking', '--port=5000'],
        readinessProbe: { grpc: { port: 5000 }, periodSeconds: 1 },
      },
    ],
  });
  await node.waitUntil('web', isReady);
});

test('a container without a gRPC server is not ready, and an event says why', async () => {
  await using node = await startTestNode();
  await node.create({
    containers: [{ name: 'c', image: 'nginx:1.25', readinessProbe: { grpc: { port: 5000 }, periodSeconds: 1 } }],
  });
  await node.advance(5);
  assert.equal(isReady(await node.get('web')), false);
  const unhealthy = (await node.events('web')).find((event) => event.includes('Unhealthy'));
  assert.match(unhealthy!, /^Warning Unhealthy: Readiness probe failed: /);
});
