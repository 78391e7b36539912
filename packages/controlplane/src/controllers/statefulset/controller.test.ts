import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controllerRevision } from '@kruise/api/apps/controllerrevision';
import { type StatefulSet, statefulSet } from '@kruise/api/apps/statefulset';
import { event } from '@kruise/api/core/event';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { type Pod, pod } from '@kruise/api/core/pod';
import { formatTime } from '@kruise/values/time';
import { type Cluster, startCluster } from '../../testing/cluster.ts';

const metadata = { name: 'web', namespace: 'default' };
const templateOf = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image }] },
});
const spec = {
  replicas: 3,
  serviceName: 'web',
  selector: { matchLabels: { app: 'web' } },
  template: templateOf('v1'),
} satisfies StatefulSet['spec'];
const claimTemplate = {
  metadata: { name: 'www' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
} as unknown as NonNullable<StatefulSet['spec']>['volumeClaimTemplates'];

const podsOf = async ({ client }: Cluster) => (await client.list(pod, { namespace: 'default' })).items;
const namesOf = async (cluster: Cluster) => (await podsOf(cluster)).map(({ metadata }) => metadata.name).sort();

async function makeReady({ client, clock }: Cluster, each: Pod): Promise<void> {
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: formatTime(clock.now()) }];
  await client.update(pod, { ...each, status: { phase: 'Running', conditions } }, { subresource: 'status' });
}

/** Makes every Pod ready a second after its creation, until nothing changes any more. */
async function settle(cluster: Cluster): Promise<void> {
  for (let second = 0; second < 60; second++) {
    await cluster.advance(1);
    const waiting = (await podsOf(cluster)).filter(({ status }) => status?.phase === 'Pending');
    if (waiting.length === 0) return;
    for (const each of waiting) await makeReady(cluster, each);
  }
  assert.fail('there is always another Pod to come');
}

test('a StatefulSet creates its Pods in order, updates them, and rolls back, with the permissions of its ServiceAccount', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['statefulset-controller']);
  await client.create(statefulSet, { metadata, spec: { ...spec, volumeClaimTemplates: [claimTemplate] as never } });
  await cluster.advance(1);
  assert.deepEqual(await namesOf(cluster), ['web-0']);
  await settle(cluster);
  assert.deepEqual(await namesOf(cluster), ['web-0', 'web-1', 'web-2']);
  const claims = (await client.list(persistentVolumeClaim, { namespace: 'default' })).items;
  assert.deepEqual(claims.map((each) => each.metadata.name).sort(), ['www-web-0', 'www-web-1', 'www-web-2']);
  const statusOf = async () => (await client.get(statefulSet, metadata)).status!;
  const first = (await statusOf()).currentRevision!;
  assert.deepEqual(await statusOf(), {
    observedGeneration: 1,
    replicas: 3,
    readyReplicas: 3,
    currentReplicas: 3,
    updatedReplicas: 3,
    currentRevision: first,
    updateRevision: first,
    collisionCount: 0,
    availableReplicas: 3,
  });

  await client.patch(statefulSet, metadata, { spec: { template: templateOf('v2') } }, { type: 'merge' });
  await settle(cluster);
  const second = (await statusOf()).currentRevision!;
  assert.notEqual(second, first);
  const images = async () => (await podsOf(cluster)).map((each) => each.spec?.containers?.[0]?.image);
  assert.deepEqual(await images(), ['v2', 'v2', 'v2']);

  await client.patch(statefulSet, metadata, { spec: { template: templateOf('v1') } }, { type: 'merge' });
  await settle(cluster);
  assert.deepEqual(await images(), ['v1', 'v1', 'v1']);
  const revisions = (await client.list(controllerRevision, { namespace: 'default' })).items;
  assert.deepEqual(
    revisions.map((each) => [each.metadata.name, each.revision]).sort(),
    [
      [first, 3],
      [second, 2],
    ].sort(),
  );

  await client.patch(statefulSet, metadata, { spec: { replicas: 1 } }, { type: 'merge' });
  await settle(cluster);
  assert.deepEqual(await namesOf(cluster), ['web-0']);
  const { items: events } = await client.list(event, { namespace: 'default' });
  assert.ok(events.every(({ source }) => source?.component === 'statefulset-controller'));
  assert.ok(events.some(({ message }) => message === 'delete Pod web-2 in StatefulSet web successful'));
  assert.deepEqual(cluster.warnings, []);

  const before = await cluster.core.store.currentRevision();
  await cluster.advance(600);
  assert.equal(await cluster.core.store.currentRevision(), before);
});

test('PVCs are deleted with their Pods, and a Pod waits until the PVC of its predecessor is gone', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['statefulset-controller']);
  const retention = { whenDeleted: 'Delete', whenScaled: 'Delete' };
  await client.create(statefulSet, {
    metadata,
    spec: {
      ...spec,
      replicas: 1,
      podManagementPolicy: 'Parallel',
      persistentVolumeClaimRetentionPolicy: retention,
      volumeClaimTemplates: [claimTemplate] as never,
    },
  });
  await settle(cluster);
  const claimReference = { namespace: 'default', name: 'www-web-0' };
  const ownerOf = async () => (await client.get(persistentVolumeClaim, claimReference)).metadata.ownerReferences?.[0];
  assert.equal((await ownerOf())?.kind, 'StatefulSet');

  await client.patch(statefulSet, metadata, { spec: { replicas: 0 } }, { type: 'merge' });
  await settle(cluster);
  assert.equal((await ownerOf())?.kind, 'Pod');

  await client.patch(statefulSet, metadata, { spec: { replicas: 1 } }, { type: 'merge' });
  await settle(cluster);
  assert.deepEqual(await namesOf(cluster), []);
  // Neither the garbage collector nor the PVC protection controller runs here.
  await client.patch(persistentVolumeClaim, claimReference, { metadata: { finalizers: null } }, { type: 'merge' });
  await client.delete(persistentVolumeClaim, claimReference);
  await settle(cluster);
  assert.deepEqual(await namesOf(cluster), ['web-0']);
  assert.equal((await ownerOf())?.kind, 'StatefulSet');
  assert.deepEqual(cluster.warnings, []);
});

test('a released Pod is replaced once it is deleted', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['statefulset-controller']);
  await client.create(statefulSet, { metadata, spec: { ...spec, replicas: 2 } });
  await settle(cluster);
  const releasedPod = { namespace: 'default', name: 'web-1' };
  await client.patch(pod, releasedPod, { metadata: { labels: { app: 'db' } } }, { type: 'merge' });
  await settle(cluster);
  assert.equal((await client.get(pod, releasedPod)).metadata.ownerReferences, undefined);
  assert.equal((await client.get(statefulSet, metadata)).status?.replicas, 1);

  await client.delete(pod, releasedPod);
  await settle(cluster);
  assert.equal((await client.get(pod, releasedPod)).metadata.ownerReferences?.[0]?.name, 'web');
  assert.equal((await client.get(statefulSet, metadata)).status?.readyReplicas, 2);
  assert.deepEqual(cluster.warnings, []);
});

test('a Pod that its node rejects repeatedly is recreated once per second', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['statefulset-controller']);
  await client.create(statefulSet, { metadata, spec: { ...spec, replicas: 1 } });
  let made = 0;
  for (let tenths = 0; tenths < 100; tenths++) {
    for (const each of await podsOf(cluster)) {
      if (each.status?.phase !== 'Pending') continue;
      made++;
      await client.update(
        pod,
        { ...each, status: { phase: 'Failed', reason: 'NodePorts' } },
        { subresource: 'status' },
      );
    }
    await cluster.advance(0.1);
  }
  assert.ok(made >= 5 && made <= 10, `${made} in ten seconds`);
  assert.deepEqual(cluster.warnings, []);
});
