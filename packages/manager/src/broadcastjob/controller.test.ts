/** BroadcastJobs on a real API server, with nodes that join and leave. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { node } from '@kruise/api/core/node';
import { pod } from '@kruise/api/core/pod';
import { type BroadcastJob, broadcastJob } from '@kruise/api/kruise/broadcastjob';
import { updateWithRetry } from '@kruise/client/update-with-retry';
import { isNotFound } from '@kruise/machinery/status';
import { startTestCluster, type TestCluster } from '../testing/test-cluster.ts';
import { jobOf } from './fixtures.ts';

const reference = { name: 'job', namespace: 'default' };

async function addNode({ client, pass }: TestCluster, name: string): Promise<void> {
  const made = await client.create(node, { metadata: { name } });
  // A new node has a taint until it is ready.
  const ready = await client.update(node, { ...made, spec: {} });
  await client.update(node, { ...ready, status: { allocatable: { cpu: '1', pods: '10' } } }, { subresource: 'status' });
  await pass(1);
}

async function start(cluster: TestCluster, spec: Partial<BroadcastJob['spec']> = {}): Promise<void> {
  for (const name of ['a', 'b', 'c']) await addNode(cluster, name);
  const { uid: _, ...metadata } = jobOf().metadata;
  await cluster.client.create(broadcastJob, { ...jobOf(spec), metadata });
  await cluster.pass(1);
}

async function end({ client, pass }: TestCluster, phase: 'Succeeded' | 'Failed'): Promise<void> {
  for (const { metadata, status } of (await client.list(pod, { namespace: 'default' })).items) {
    if (status?.phase === 'Succeeded' || status?.phase === 'Failed') continue;
    const found = { name: metadata.name!, namespace: 'default' };
    await updateWithRetry(client, pod, found, (each) => ({ ...each, status: { ...each.status, phase } }), {
      subresource: 'status',
    });
  }
  await pass(1);
}

const figuresOf = async ({ client }: TestCluster) => {
  const { status } = await client.get(broadcastJob, reference);
  return `${status?.phase}: ${status?.active} of ${status?.desired}, ${status?.succeeded} ok, ${status?.failed} failed`;
};

test('a job runs on all nodes, including a node that joins while the job runs', async () => {
  await using cluster = await startTestCluster();
  await start(cluster);
  assert.equal(await figuresOf(cluster), 'running: 3 of 3, 0 ok, 0 failed');
  await addNode(cluster, 'd');
  assert.equal(await figuresOf(cluster), 'running: 4 of 4, 0 ok, 0 failed');
  await end(cluster, 'Succeeded');
  assert.equal(await figuresOf(cluster), 'completed: 0 of 4, 4 ok, 0 failed');
  await addNode(cluster, 'e');
  assert.equal(await figuresOf(cluster), 'completed: 0 of 4, 4 ok, 0 failed');
});

test('a job respects parallelism, and is deleted after its TTL', async () => {
  await using cluster = await startTestCluster();
  await start(cluster, { parallelism: 2, completionPolicy: { type: 'Always', ttlSecondsAfterFinished: 10 } });
  assert.equal(await figuresOf(cluster), 'running: 2 of 3, 0 ok, 0 failed');
  await end(cluster, 'Succeeded');
  assert.equal(await figuresOf(cluster), 'running: 1 of 3, 2 ok, 0 failed');
  await end(cluster, 'Succeeded');
  await cluster.pass(12);
  await assert.rejects(cluster.client.get(broadcastJob, reference), isNotFound);
});

test('a failed job deletes its active Pods', async () => {
  await using cluster = await startTestCluster();
  await start(cluster, { parallelism: 1, completionPolicy: { type: 'Always', activeDeadlineSeconds: 60 } });
  await end(cluster, 'Succeeded');
  await cluster.pass(60);
  assert.equal(await figuresOf(cluster), 'failed: 0 of 3, 1 ok, 1 failed');
});
