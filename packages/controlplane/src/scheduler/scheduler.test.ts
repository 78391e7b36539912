import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { node as nodeKind } from '@kruise/api/core/node';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { event as eventKind } from '@kruise/api/events/event';
import { startTestServer, type TestServer } from '@kruise/apiserver/testing/test-server';
import { systemClock, systemRandom } from '@kruise/values/system';
import { runScheduler } from './scheduler.ts';

const scheduler = { username: 'system:kube-scheduler', groups: ['system:authenticated'] };

/** A server with a scheduler, both of which go with the test. */
async function startCluster(t: TestContext): Promise<TestServer> {
  const server = await startTestServer();
  await server.client.create(serviceAccount, { metadata: { name: 'default', namespace: 'default' } });
  const stop = new AbortController();
  const done = runScheduler(
    { client: server.clientOf(scheduler), clock: systemClock, random: systemRandom, host: 'here' },
    stop.signal,
  );
  t.after(async () => {
    stop.abort();
    await done;
    await server.close();
  });
  return server;
}

async function createNode({ client }: TestServer, name: string, more: object = {}): Promise<void> {
  const created = await client.create(nodeKind, {
    metadata: { name, labels: { 'kubernetes.io/hostname': name } },
    ...more,
  });
  // The server puts a taint on new nodes, which is taken off once they are ready.
  const ready = await client.update(nodeKind, { ...created, spec: { ...created.spec, taints: [] } });
  const allocatable = { cpu: '4', memory: '8Gi', pods: '110' };
  const status = { ...ready.status, allocatable, capacity: allocatable };
  await client.update(nodeKind, { ...ready, status }, { subresource: 'status' });
}

function podOf(name: string, spec: object = {}): Partial<Pod> {
  const containers = [{ name: 'c', image: 'app:1', resources: { requests: { cpu: '1', memory: '1Gi' } } }];
  return { metadata: { name, namespace: 'default' }, spec: { containers, ...spec } as Pod['spec'] & object };
}

/** The Pod, as soon as something holds for it. */
async function until(server: TestServer, name: string, holds: (pod: Pod) => boolean): Promise<Pod> {
  const watch = server.client.watch(podKind, {
    namespace: 'default',
    fieldSelector: `metadata.name=${name}`,
  });
  for await (const { type, object } of watch) if (type !== 'DELETED' && holds(object)) return object;
  throw new Error('the watch ended');
}

const scheduledCondition = ({ status }: Pod) => status?.conditions?.find(({ type }) => type === 'PodScheduled');
const isPlaced = ({ spec }: Pod) => Boolean(spec?.nodeName);
const isUnschedulable = (pod: Pod) => scheduledCondition(pod)?.reason === 'Unschedulable';

test('a Pod is bound to a node with room, and an event tells of it', async (t) => {
  const server = await startCluster(t);
  await createNode(server, 'n1');
  await server.client.create(podKind, podOf('web'));
  const placed = await until(server, 'web', isPlaced);

  assert.equal(placed.spec?.nodeName, 'n1');
  assert.equal(scheduledCondition(placed)?.status, 'True');
  for await (const { object } of server.client.watch(eventKind, { namespace: 'default', resourceVersion: '0' })) {
    const { reason, action, note, reportingController, reportingInstance, type, regarding } = object;
    assert.deepEqual(
      { reason, action, note, reportingController, reportingInstance, type, regarding: regarding?.name },
      {
        reason: 'Scheduled',
        action: 'Binding',
        note: 'Successfully assigned default/web to n1',
        reportingController: 'default-scheduler',
        reportingInstance: 'default-scheduler-here',
        type: 'Normal',
        regarding: 'web',
      },
    );
    break;
  }
});

test('a Pod that fits nowhere is told why, and bound when a node comes that it fits', async (t) => {
  const server = await startCluster(t);
  await createNode(server, 'n1');
  await server.client.create(podKind, podOf('web', { nodeSelector: { disk: 'ssd' } }));
  const rejected = await until(server, 'web', isUnschedulable);
  assert.equal(
    scheduledCondition(rejected)?.message,
    "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. " +
      'preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
  );
  await server.client.patch(nodeKind, { name: 'n1' }, { metadata: { labels: { disk: 'ssd' } } }, { type: 'merge' });
  assert.equal((await until(server, 'web', isPlaced)).spec?.nodeName, 'n1');
});
