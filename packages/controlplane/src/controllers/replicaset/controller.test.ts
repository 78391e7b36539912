import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replicaSet } from '@kruise/api/apps/replicaset';
import { event } from '@kruise/api/core/event';
import { type Pod, pod } from '@kruise/api/core/pod';
import { replicationController } from '@kruise/api/core/replicationcontroller';
import { resourceQuota } from '@kruise/api/core/resourcequota';
import { formatTime } from '@kruise/values/time';
import { type Cluster, startCluster } from '../../testing/cluster.ts';

const metadata = { name: 'web', namespace: 'default' };
const labels = { app: 'web' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } };

async function podsOf({ client }: Cluster): Promise<readonly Pod[]> {
  return (await client.list(pod, { namespace: 'default' })).items;
}

async function makeReady({ client, clock }: Cluster, each: Pod): Promise<void> {
  const lastTransitionTime = formatTime(clock.now());
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime }];
  await client.update(pod, { ...each, status: { phase: 'Running', conditions } }, { subresource: 'status' });
}

test('a ReplicaSet maintains its Pods, with the permissions of its ServiceAccount', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['replicaset-controller']);
  await client.create(replicaSet, {
    metadata,
    spec: { replicas: 3, minReadySeconds: 5, selector: { matchLabels: labels }, template },
  });
  await cluster.advance(1);
  const made = await podsOf(cluster);
  assert.equal(made.length, 3);
  assert.match(made[0]?.metadata.name ?? '', /^web-[bcdf-hj-np-tv-xz2456789]{5}$/);

  for (const each of made) await makeReady(cluster, each);
  await cluster.advance(1);
  const statusOf = async () => (await client.get(replicaSet, metadata)).status;
  const counts = { replicas: 3, fullyLabeledReplicas: 3, readyReplicas: 3, observedGeneration: 1 };
  assert.deepEqual(await statusOf(), counts);
  await cluster.advance(5);
  assert.deepEqual(await statusOf(), { ...counts, availableReplicas: 3 });

  await client.delete(pod, { namespace: 'default', name: made[0]!.metadata.name! });
  await cluster.advance(1);
  assert.equal((await podsOf(cluster)).filter(({ metadata: each }) => !each.deletionTimestamp).length, 3);

  await client.patch(replicaSet, metadata, { spec: { replicas: 1 } }, { type: 'merge' });
  await cluster.advance(1);
  const kept = (await podsOf(cluster)).filter(({ metadata: each }) => !each.deletionTimestamp);
  assert.equal(kept.length, 1);
  assert.equal(kept[0]?.status?.phase, 'Running');

  const { items } = await client.list(event, { namespace: 'default' });
  const events = items.map(({ reason, count = 1, source }) => [reason, source?.component, count]);
  assert.equal(events.filter(([reason]) => reason === 'SuccessfulCreate').length, 4);
  assert.equal(events.filter(([reason]) => reason === 'SuccessfulDelete').length, 2);
  assert.ok(events.every(([, component]) => component === 'replicaset-controller'));
  assert.deepEqual(cluster.warnings, []);
});

test('an orphaned Pod is adopted, and released when its labels change', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['replicaset-controller']);
  const orphan = { namespace: 'default', name: 'orphan' };
  await client.create(pod, { metadata: { ...orphan, labels }, spec: template.spec });
  await client.create(replicaSet, { metadata, spec: { replicas: 1, selector: { matchLabels: labels }, template } });
  await cluster.advance(1);
  const [only, ...others] = await podsOf(cluster);
  assert.equal(only?.metadata.ownerReferences?.[0]?.name, 'web');
  assert.deepEqual(others, []);

  await client.patch(pod, orphan, { metadata: { labels: { app: 'db' } } }, { type: 'merge' });
  await cluster.advance(1);
  assert.equal((await client.get(pod, orphan)).metadata.ownerReferences, undefined);
  assert.equal((await podsOf(cluster)).length, 2);
  assert.deepEqual(cluster.warnings, []);
});

test('a creation rejected by a quota is retried with backoff, regardless of other events', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['replicaset-controller']);
  await client.create(replicaSet, { metadata, spec: { replicas: 1, selector: { matchLabels: labels }, template } });
  await cluster.advance(1);
  const hard = { pods: '1' };
  const quota = await client.create(resourceQuota, {
    metadata: { name: 'one', namespace: 'default' },
    spec: { hard },
  });
  await client.update(resourceQuota, { ...quota, status: { hard, used: hard } }, { subresource: 'status' });
  await client.patch(replicaSet, metadata, { spec: { replicas: 3 } }, { type: 'merge' });
  const [only] = await podsOf(cluster);
  for (let second = 0; second < 60; second++) {
    const annotations = { second: String(second) };
    const reference = { namespace: 'default', name: only?.metadata.name ?? '' };
    await client.patch(pod, reference, { metadata: { annotations } }, { type: 'merge' });
    await cluster.advance(1);
  }
  const { items } = await client.list(event, { namespace: 'default' });
  const failures = items.filter(({ reason }) => reason === 'FailedCreate').map(({ count = 1 }) => count);
  assert.equal(
    failures.reduce((sum, each) => sum + each, 0),
    6,
  );

  // A lower number of replicas is a new spec: no creation is rejected any more.
  await client.patch(replicaSet, metadata, { spec: { replicas: 1 } }, { type: 'merge' });
  await cluster.advance(1);
  assert.equal((await client.get(replicaSet, metadata)).status?.conditions, undefined);
});

test('a ReplicaSet reports why it cannot create its Pods, and recovers', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['replicaset-controller']);
  const quota = await client.create(resourceQuota, {
    metadata: { name: 'none', namespace: 'default' },
    spec: { hard: { pods: '0' } },
  });
  await client.update(
    resourceQuota,
    { ...quota, status: { hard: { pods: '0' }, used: { pods: '0' } } },
    { subresource: 'status' },
  );
  await client.create(replicaSet, { metadata, spec: { replicas: 2, selector: { matchLabels: labels }, template } });
  await cluster.advance(1);
  const [condition] = (await client.get(replicaSet, metadata)).status?.conditions ?? [];
  assert.equal(condition?.reason, 'FailedCreate');
  assert.match(condition?.message ?? '', /exceeded quota: none/);

  await client.delete(resourceQuota, { namespace: 'default', name: 'none' });
  await cluster.advance(60);
  assert.equal((await podsOf(cluster)).length, 2);
  assert.equal((await client.get(replicaSet, metadata)).status?.conditions, undefined);
});

test('a ReplicationController maintains its Pods in the same way', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['replicationcontroller-controller']);
  await client.create(replicationController, { metadata, spec: { replicas: 2, template } });
  await cluster.advance(1);
  const made = await podsOf(cluster);
  assert.deepEqual(
    made.map(({ metadata: each }) => each.ownerReferences?.[0]?.kind),
    ['ReplicationController', 'ReplicationController'],
  );
  for (const each of made) await makeReady(cluster, each);
  await client.patch(replicationController, metadata, { spec: { replicas: 1 } }, { type: 'merge' });
  await cluster.advance(1);
  assert.deepEqual((await client.get(replicationController, metadata)).status, {
    replicas: 1,
    fullyLabeledReplicas: 1,
    readyReplicas: 1,
    availableReplicas: 1,
    observedGeneration: 2,
  });
  const { items } = await client.list(event, { namespace: 'default' });
  assert.ok(items.every(({ source }) => source?.component === 'replication-controller'));
  assert.deepEqual(cluster.warnings, []);
});
