import assert from 'node:assert/strict';
import { test } from 'node:test';
import { node } from '@kruise/api/core/node';
import { pod } from '@kruise/api/core/pod';
import { type Cluster, startCluster } from '../../testing/cluster.ts';

async function startCollecting(settings = {}): Promise<Cluster> {
  const cluster = await startCluster();
  await cluster.client.create(node, { metadata: { name: 'n' } });
  await cluster.run(['pod-garbage-collector-controller'], settings);
  return cluster;
}

const place = (name: string) => ({ name, namespace: 'default' });

async function make(
  { client }: Cluster,
  name: string,
  { nodeName = '', finalizers = [] as string[], phase = '' } = {},
) {
  const containers = [{ name: 'c', image: 'i' }];
  const metadata = { ...place(name), finalizers };
  const made = await client.create(pod, { metadata, spec: { containers, ...(nodeName ? { nodeName } : {}) } });
  if (phase)
    await client.update(pod, { ...made, status: { ...made.status, phase } as never }, { subresource: 'status' });
}

const present = async ({ client }: Cluster) =>
  (await client.list(pod)).items.map(({ metadata, status }) => `${metadata.name} ${status?.phase}`).join(', ');

test('Pods of a deleted node are deleted after the quarantine', async () => {
  await using cluster = await startCollecting();
  await make(cluster, 'a', { nodeName: 'n' });
  await make(cluster, 'held', { nodeName: 'n', finalizers: ['example.com/hold'] });
  await make(cluster, 'waiting');
  await cluster.advance(1);
  await cluster.client.delete(node, { name: 'n' });
  await cluster.advance(39);
  assert.equal(await present(cluster), 'a Pending, held Pending, waiting Pending');
  await cluster.advance(2);
  assert.equal(await present(cluster), 'held Failed, waiting Pending');
  const { status } = await cluster.client.get(pod, place('held'));
  const target = status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  assert.deepEqual([target?.reason, target?.message], ['DeletionByPodGC', 'PodGC: node no longer exists']);
  assert.deepEqual(cluster.warnings, []);
});

test('Pods of a node that is back in time are kept', async () => {
  await using cluster = await startCollecting();
  await make(cluster, 'a', { nodeName: 'n' });
  await cluster.client.delete(node, { name: 'n' });
  await cluster.advance(30);
  await cluster.client.create(node, { metadata: { name: 'n' } });
  await cluster.advance(60);
  assert.equal(await present(cluster), 'a Pending');
});

test('an unscheduled terminating Pod is failed and deleted once its finalizers are removed', async () => {
  await using cluster = await startCollecting();
  const { client } = cluster;
  await make(cluster, 'a', { finalizers: ['example.com/hold'] });
  await client.delete(pod, place('a'));
  await cluster.advance(1);
  assert.equal(await present(cluster), 'a Failed');
  const { metadata } = await client.get(pod, place('a'));
  await cluster.advance(60);
  assert.equal(
    (await client.get(pod, place('a'))).metadata.resourceVersion,
    metadata.resourceVersion,
    'the Pod is deleted once',
  );
  await client.patch(pod, place('a'), { metadata: { finalizers: null } }, { type: 'merge' });
  assert.equal(await present(cluster), '');
});

test('terminating Pods are deleted from an out-of-service node', async () => {
  await using cluster = await startCollecting();
  const { client } = cluster;
  await make(cluster, 'a', { nodeName: 'n' });
  await make(cluster, 'stays', { nodeName: 'n' });
  await client.delete(pod, place('a'));
  await cluster.advance(1);
  assert.equal(await present(cluster), 'a Pending, stays Pending');
  const taints = [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }];
  await client.patch(node, { name: 'n' }, { spec: { taints } }, { type: 'merge' });
  await cluster.advance(1);
  assert.equal(await present(cluster), 'stays Pending');
  assert.deepEqual(cluster.warnings, []);
});

test('terminated Pods are kept up to the threshold', async () => {
  await using cluster = await startCollecting({ terminatedPodThreshold: 2 });
  for (const name of ['a', 'b', 'c', 'd']) {
    await make(cluster, name, { nodeName: 'n', phase: 'Succeeded' });
    await cluster.advance(1);
  }
  await make(cluster, 'runs', { nodeName: 'n' });
  await cluster.advance(20);
  assert.equal(await present(cluster), 'c Succeeded, d Succeeded, runs Pending');
  assert.deepEqual(cluster.warnings, []);
});
