/** ImagePullJobs, ImageListPullJobs and NodeImages together on a real API server, with simulated daemons. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namespace } from '@kruise/api/core/namespace';
import { node } from '@kruise/api/core/node';
import { secret } from '@kruise/api/core/secret';
import { imageListPullJob } from '@kruise/api/kruise/imagelistpulljob';
import { imagePullJob } from '@kruise/api/kruise/imagepulljob';
import { type ImageTagStatus, type NodeImage, nodeImage } from '@kruise/api/kruise/nodeimage';
import type { Client } from '@kruise/client/client';
import { updateWithRetry } from '@kruise/client/update-with-retry';
import { formatTime } from '@kruise/values/time';
import { startTestCluster, type TestCluster } from '../testing/test-cluster.ts';

const names = ['a', 'b', 'c'];

/** Starts a cluster with three nodes that have been ready for a minute. */
async function startNodes(): Promise<TestCluster> {
  const cluster = await startTestCluster();
  const { client, clock } = cluster;
  await client.create(namespace, { metadata: { name: 'kruise-daemon-config' } });
  for (const name of names) {
    const ready = { type: 'Ready', status: 'True', lastTransitionTime: formatTime(clock.now()) };
    const made = await client.create(node, { metadata: { name, labels: { name } } });
    await client.update(node, { ...made, status: { conditions: [ready] } }, { subresource: 'status' });
  }
  await cluster.pass(60);
  return cluster;
}

/** Returns the desired images of each node. */
async function wanted(client: Client): Promise<readonly string[]> {
  const { items } = await client.list(nodeImage);
  return items.flatMap(({ metadata, spec }) =>
    Object.entries(spec.images ?? {}).flatMap(([name, { tags }]) =>
      tags.map(({ tag }) => `${metadata.name} ${name}:${tag}`),
    ),
  );
}

/** Reports a phase for all desired images of a node. */
async function reportPhase(
  { client, clock }: TestCluster,
  name: string,
  phase: ImageTagStatus['phase'],
): Promise<void> {
  const statusOf = ({ spec }: NodeImage) => {
    const images = Object.entries(spec.images ?? {}).map(([image, { tags }]) => {
      const reported = tags.map(({ tag, version = 0 }) => ({
        tag,
        version,
        phase,
        completionTime: formatTime(clock.now()),
      }));
      return [image, { tags: reported }];
    });
    return { desired: 1, succeeded: 1, failed: 0, pulling: 0, waiting: 0, imageStatuses: Object.fromEntries(images) };
  };
  const change = (found: NodeImage) => ({ ...found, status: statusOf(found) });
  await updateWithRetry(client, nodeImage, { name }, change, { subresource: 'status' });
}

const pull = { metadata: { name: 'pull', namespace: 'default' } };

test('a job pulls on one node after the other, and its deletion removes the tags', async () => {
  await using cluster = await startNodes();
  const { client, pass } = cluster;
  const spec = { image: 'app:v1', parallelism: 2, completionPolicy: { ttlSecondsAfterFinished: 20 } };
  await client.create(imagePullJob, { ...pull, spec });
  await pass(1);
  assert.deepEqual(await wanted(client), ['a app:v1', 'b app:v1']);
  await reportPhase(cluster, 'a', 'Succeeded');
  await pass(1);
  assert.deepEqual(await wanted(client), ['a app:v1', 'b app:v1', 'c app:v1']);
  await reportPhase(cluster, 'b', 'Failed');
  await reportPhase(cluster, 'c', 'Succeeded');
  await pass(1);
  const { status, metadata } = await client.get(imagePullJob, { name: 'pull', namespace: 'default' });
  assert.deepEqual(
    { message: status?.message, failedNodes: status?.failedNodes, finalizers: metadata.finalizers ?? [] },
    { message: 'job has completed', failedNodes: ['b'], finalizers: [] },
  );
  await pass(25);
  assert.deepEqual((await client.list(imagePullJob)).items, []);
  assert.deepEqual(await wanted(client), []);
});

test('pull secrets are copied while the job runs, and follow their source', async () => {
  await using cluster = await startNodes();
  const { client, pass } = cluster;
  const reference = { name: 'key', namespace: 'default' };
  await client.create(imagePullJob, {
    ...pull,
    spec: { image: 'app:v1', parallelism: 9, pullSecrets: ['key'], completionPolicy: { type: 'Never' } },
  });
  await pass(1);
  const copies = async () => (await client.list(secret, { namespace: 'kruise-daemon-config' })).items;
  const secretsOf = async () => (await client.get(nodeImage, { name: 'a' })).spec.images?.['app']?.pullSecrets;
  assert.deepEqual([await copies(), await secretsOf()], [[], undefined]);
  await client.create(secret, { metadata: reference, data: { a: 'Yg==' } });
  await pass(1);
  const [copy] = await copies();
  assert.deepEqual(copy?.data, { a: 'Yg==' });
  assert.deepEqual(await secretsOf(), [
    { namespace: 'kruise-daemon-config', name: copy?.metadata.name, mode: 'batch' },
  ]);
  await client.patch(secret, reference, { data: { a: 'Yw==' } }, { type: 'merge' });
  await pass(1);
  assert.deepEqual((await copies())[0]?.data, { a: 'Yw==' });
  await client.delete(imagePullJob, { name: 'pull', namespace: 'default' });
  await pass(1);
  assert.deepEqual([await copies(), await wanted(client)], [[], []]);
});

test('a list has a job for every image, and completes with the last one', async () => {
  await using cluster = await startNodes();
  const { client, pass } = cluster;
  await client.create(imageListPullJob, {
    metadata: { name: 'list', namespace: 'default' },
    spec: { images: ['app:v1', 'side:v1'], parallelism: 9, completionPolicy: {} },
  });
  await pass(1);
  assert.deepEqual((await client.list(imagePullJob)).items.map(({ spec }) => spec.image).sort(), ['app:v1', 'side:v1']);
  for (const name of names) await reportPhase(cluster, name, 'Succeeded');
  await pass(1);
  const { status } = await client.get(imageListPullJob, { name: 'list', namespace: 'default' });
  assert.deepEqual(
    { succeeded: status?.succeeded, isOver: status?.completionTime !== undefined },
    { succeeded: 2, isOver: true },
  );
});

test('the NodeImage of a deleted node is deleted', async () => {
  await using cluster = await startNodes();
  const { client, pass } = cluster;
  await client.delete(node, { name: 'b' });
  await pass(1);
  assert.deepEqual(
    (await client.list(nodeImage)).items.map(({ metadata }) => metadata.name),
    ['a', 'c'],
  );
});

test('a node that does not respond for ten minutes has failed', async () => {
  await using cluster = await startNodes();
  const { client, pass } = cluster;
  await client.create(imagePullJob, { ...pull, spec: { image: 'app:v1', parallelism: 9, completionPolicy: {} } });
  await pass(590);
  const get = async () => (await client.get(imagePullJob, { name: 'pull', namespace: 'default' })).status;
  assert.equal((await get())?.active, 3);
  await pass(20);
  assert.deepEqual((await get())?.failedNodes, names);
});
