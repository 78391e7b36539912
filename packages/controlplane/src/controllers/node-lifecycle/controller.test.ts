import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lease } from '@kruise/api/coordination/lease';
import { event } from '@kruise/api/core/event';
import { namespace } from '@kruise/api/core/namespace';
import { type Node, node } from '@kruise/api/core/node';
import { pod } from '@kruise/api/core/pod';
import { formatMicroTime, formatTime } from '@kruise/values/time';
import { type Cluster, startCluster } from '../../testing/cluster.ts';

const controllers = ['node-lifecycle-controller', 'taint-eviction-controller'];

async function addNode({ client, clock }: Cluster, name: string, labels: Record<string, string> = {}): Promise<void> {
  await client.create(node, { metadata: { name, labels } });
  const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: formatTime(clock.now()) }];
  await client.patch(node, { name }, { status: { conditions } }, { type: 'merge', subresource: 'status' });
}

async function addPod({ client }: Cluster, name: string, nodeName: string, tolerationSeconds?: number): Promise<void> {
  const reference = { namespace: 'default', name };
  const toleration = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' } as const;
  const tolerations = tolerationSeconds === undefined ? [] : [{ ...toleration, tolerationSeconds }];
  await client.create(pod, {
    metadata: reference,
    spec: { containers: [{ name: 'main', image: 'example.com/main' }], nodeName, tolerations },
  });
  const conditions = [{ type: 'Ready', status: 'True' }];
  await client.patch(
    pod,
    reference,
    { status: { phase: 'Running', conditions } },
    { type: 'merge', subresource: 'status' },
  );
}

/** Advances the clock while some nodes renew their leases. */
async function passWith(cluster: Cluster, alive: readonly string[], seconds: number): Promise<void> {
  const { client, clock } = cluster;
  for (let passed = 0; passed < seconds; passed += 10) {
    for (const name of alive) {
      const spec = { renewTime: formatMicroTime(clock.now()) };
      const reference = { namespace: 'kube-node-lease', name };
      await client
        .patch(lease, reference, { spec }, { type: 'merge' })
        .catch(() => client.create(lease, { metadata: reference, spec }));
    }
    await cluster.advance(Math.min(10, seconds - passed));
  }
}

const taintsOf = ({ spec }: Node) =>
  spec?.taints?.map(({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`) ?? [];
const readinessOf = ({ status }: Node) => status?.conditions?.find(({ type }) => type === 'Ready')?.status;
const podsOf = async ({ client }: Cluster) => (await client.list(pod)).items.map(({ metadata }) => metadata.name);

async function eventsOf({ client }: Cluster, name: string): Promise<readonly string[]> {
  const { items } = await client.list(event);
  return items
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
}

async function startWithNodes(names: readonly string[]): Promise<Cluster> {
  const cluster = await startCluster();
  await cluster.client.create(namespace, { metadata: { name: 'kube-node-lease' } }).catch(() => {});
  await cluster.run(controllers);
  for (const name of names) await addNode(cluster, name);
  await passWith(cluster, names, 10);
  return cluster;
}

test('a node with an updated status loses its taint, without kubelet or lease', async () => {
  await using cluster = await startCluster();
  await cluster.run(controllers);
  await cluster.client.create(node, { metadata: { name: 'a' } });
  const conditions = [{ type: 'Ready', status: 'False' }];
  await cluster.client.patch(node, { name: 'a' }, { status: { conditions } }, { type: 'merge', subresource: 'status' });
  await cluster.advance(1);
  assert.deepEqual(taintsOf(await cluster.client.get(node, { name: 'a' })), ['not-ready:NoSchedule']);

  const ready = [{ type: 'Ready', status: 'True' }];
  await cluster.client.patch(
    node,
    { name: 'a' },
    { status: { conditions: ready } },
    { type: 'merge', subresource: 'status' },
  );
  await cluster.advance(1);
  assert.deepEqual(taintsOf(await cluster.client.get(node, { name: 'a' })), []);
  assert.deepEqual(cluster.warnings, []);
});

test('a node without heartbeats is tainted, and its Pods are evicted after their toleration time', async () => {
  await using cluster = await startWithNodes(['a', 'b']);
  await addPod(cluster, 'patient', 'a');
  await addPod(cluster, 'short', 'a', 20);
  await addPod(cluster, 'elsewhere', 'b');

  await passWith(cluster, ['b'], 60);
  const silent = await cluster.client.get(node, { name: 'a' });
  assert.equal(readinessOf(silent), 'Unknown');
  assert.deepEqual(taintsOf(silent), ['unreachable:NoSchedule', 'unreachable:NoExecute']);
  assert.equal(readinessOf(await cluster.client.get(node, { name: 'b' })), 'True');
  const patient = await cluster.client.get(pod, { namespace: 'default', name: 'patient' });
  assert.deepEqual(
    patient.status?.conditions?.map(({ type, status }) => `${type}=${status}`),
    ['Ready=False'],
  );
  assert.deepEqual(await eventsOf(cluster, 'patient'), ['Warning NodeNotReady: Node is not ready']);

  await passWith(cluster, ['b'], 30);
  const short = await cluster.client.get(pod, { namespace: 'default', name: 'short' });
  assert.ok(short.metadata.deletionTimestamp);
  assert.equal(
    short.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')?.reason,
    'DeletionByTaintManager',
  );
  assert.ok(
    (await eventsOf(cluster, 'short')).includes('Normal TaintManagerEviction: Marking for deletion Pod default/short'),
  );
  assert.equal(
    (await cluster.client.get(pod, { namespace: 'default', name: 'patient' })).metadata.deletionTimestamp,
    undefined,
  );

  await passWith(cluster, ['b'], 300);
  assert.ok((await cluster.client.get(pod, { namespace: 'default', name: 'patient' })).metadata.deletionTimestamp);
  assert.equal(
    (await cluster.client.get(pod, { namespace: 'default', name: 'elsewhere' })).metadata.deletionTimestamp,
    undefined,
  );
  assert.deepEqual(await eventsOf(cluster, 'a'), [
    'Normal RegisteredNode: Node a event: Registered Node a in Controller',
    'Normal NodeNotReady: Node a status is now: NodeNotReady',
  ]);
  assert.deepEqual(cluster.warnings, []);
});

test('a node that recovers in time keeps its Pods', async () => {
  await using cluster = await startWithNodes(['a', 'b']);
  await addPod(cluster, 'patient', 'a');
  await passWith(cluster, ['b'], 100);
  assert.deepEqual(taintsOf(await cluster.client.get(node, { name: 'a' })), [
    'unreachable:NoSchedule',
    'unreachable:NoExecute',
  ]);

  const conditions = [{ type: 'Ready', status: 'True' }];
  await cluster.client.patch(node, { name: 'a' }, { status: { conditions } }, { type: 'merge', subresource: 'status' });
  await passWith(cluster, ['a', 'b'], 400);
  assert.deepEqual(taintsOf(await cluster.client.get(node, { name: 'a' })), []);
  assert.deepEqual(await podsOf(cluster), ['patient']);
  assert.ok(
    (await eventsOf(cluster, 'patient')).includes(
      'Normal TaintManagerEviction: Cancelling deletion of Pod default/patient',
    ),
  );
});

test('a recreated Pod of the same name has its own eviction time', async () => {
  await using cluster = await startWithNodes(['a', 'b']);
  await addPod(cluster, 'web', 'a', 100);
  await passWith(cluster, ['b'], 120);
  const reference = { namespace: 'default', name: 'web' };
  await cluster.client.delete(pod, reference, { gracePeriodSeconds: 0 });
  await addPod(cluster, 'web', 'a', 100);
  await passWith(cluster, ['b'], 60);
  assert.equal((await cluster.client.get(pod, reference)).metadata.deletionTimestamp, undefined);
  await passWith(cluster, ['b'], 60);
  assert.ok((await cluster.client.get(pod, reference)).metadata.deletionTimestamp);
});

test('a Pod that appears on an unready node is marked as not ready', async () => {
  await using cluster = await startWithNodes(['a', 'b']);
  await passWith(cluster, ['b'], 70);
  await addPod(cluster, 'late', 'a');
  await passWith(cluster, ['b'], 10);
  const late = await cluster.client.get(pod, { namespace: 'default', name: 'late' });
  assert.equal(late.status?.conditions?.[0]?.status, 'False');
});

test('Pods of a node that was unready before the start are marked as not ready', async () => {
  await using cluster = await startCluster();
  await addNode(cluster, 'a');
  await addPod(cluster, 'untold', 'a');
  const conditions = [{ type: 'Ready', status: 'Unknown' }];
  await cluster.client.patch(node, { name: 'a' }, { status: { conditions } }, { type: 'merge', subresource: 'status' });
  await cluster.run(controllers);
  await cluster.advance(1);
  const untold = await cluster.client.get(pod, { namespace: 'default', name: 'untold' });
  assert.equal(untold.status?.conditions?.[0]?.status, 'False');
});

test('no Pod is evicted while every node is unready', async () => {
  await using cluster = await startWithNodes(['a', 'b']);
  await addPod(cluster, 'patient', 'a');
  await passWith(cluster, [], 1000);
  for (const name of ['a', 'b']) {
    assert.deepEqual(taintsOf(await cluster.client.get(node, { name })), ['unreachable:NoSchedule']);
  }
  assert.deepEqual(await podsOf(cluster), ['patient']);
});

test('nodes that fail together are tainted one every ten seconds', async () => {
  const names = Array.from({ length: 10 }, (_, index) => `node-${index}`);
  await using cluster = await startWithNodes(names);
  await passWith(cluster, names.slice(3), 50);
  const evicting = async () =>
    (await cluster.client.list(node)).items.filter((each) => taintsOf(each).includes('unreachable:NoExecute')).length;
  const counts: number[] = [];
  for (let round = 0; round < 5; round++) {
    await passWith(cluster, names.slice(3), 10);
    counts.push(await evicting());
  }
  assert.deepEqual(counts, [1, 2, 3, 3, 3]);
});

test('a deleted node is removed from the monitor', async () => {
  await using cluster = await startWithNodes(['a', 'b']);
  await cluster.client.delete(node, { name: 'a' });
  await passWith(cluster, ['b'], 10);
  assert.ok(
    (await eventsOf(cluster, 'a')).includes('Normal RemovingNode: Node a event: Removing Node a from Controller'),
  );
  assert.deepEqual(cluster.warnings, []);
});
