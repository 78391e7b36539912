import assert from 'node:assert/strict';
import { test } from 'node:test';
import { event } from '@kruise/api/core/event';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { type Pod, pod } from '@kruise/api/core/pod';
import { type StatefulSet, statefulSet, statefulSetV1alpha1 } from '@kruise/api/kruise/statefulset';
import { startTestCluster, type TestCluster } from '../testing/test-cluster.ts';

const reference = { namespace: 'default', name: 'web' };

function webOf(spec: Partial<StatefulSet['spec']> = {}) {
  return {
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: {
          containers: [{ name: 'main', image: 'app:v1' }],
          readinessGates: [{ conditionType: 'InPlaceUpdateReady' }],
          terminationGracePeriodSeconds: 0,
        },
      },
      ...spec,
    },
  };
}

async function podsOf({ client }: TestCluster): Promise<readonly Pod[]> {
  return (await client.list(pod, { namespace: 'default' })).items;
}

async function settle(cluster: TestCluster): Promise<void> {
  for (let turn = 0; turn < 16; turn++) await cluster.runPods();
}

test('a StatefulSet creates its Pods one after the other, with their PVCs', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  const claim = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  await client.create(statefulSet, webOf({ volumeClaimTemplates: [claim as never] }));
  await cluster.pass(1);
  assert.deepEqual(
    (await podsOf(cluster)).map(({ metadata }) => metadata.name),
    ['web-0'],
  );
  await settle(cluster);
  assert.deepEqual(
    (await podsOf(cluster)).map(({ metadata }) => metadata.name),
    ['web-0', 'web-1', 'web-2'],
  );
  const claims = (await client.list(persistentVolumeClaim, { namespace: 'default' })).items;
  assert.deepEqual(
    claims.map(({ metadata }) => metadata.name),
    ['data-web-0', 'data-web-1', 'data-web-2'],
  );
  const { status } = await client.get(statefulSet, reference);
  assert.deepEqual([status?.availableReplicas, status?.currentRevision], [3, status?.updateRevision]);
});

test('a new image updates the existing Pods, and a partition keeps some', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  const rollingUpdate = { podUpdatePolicy: 'InPlaceIfPossible', partition: 1 } as const;
  await client.create(statefulSet, webOf({ updateStrategy: { rollingUpdate } }));
  await settle(cluster);
  const before = (await podsOf(cluster)).map(({ metadata }) => metadata.uid);
  const containers = [{ name: 'main', image: 'app:v2' }];
  await client.patch(statefulSet, reference, { spec: { template: { spec: { containers } } } }, { type: 'merge' });
  await settle(cluster);
  const after = await podsOf(cluster);
  assert.deepEqual(
    after.map(({ metadata }) => metadata.uid),
    before,
  );
  assert.deepEqual(
    after.map(({ spec }) => spec?.containers[0]?.image),
    ['app:v1', 'app:v2', 'app:v2'],
  );
  const { items } = await client.list(event, { namespace: 'default' });
  assert.equal(items.filter(({ reason }) => reason === 'SuccessfulUpdatePodInPlace').length, 2);
});

test('a v1alpha1 StatefulSet is the same object', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  const { metadata, spec } = webOf({ podManagementPolicy: 'Parallel' });
  await client.create(statefulSetV1alpha1, { metadata, spec });
  await cluster.pass(1);
  assert.equal((await podsOf(cluster)).length, 3);
  const older = await client.get(statefulSetV1alpha1, reference);
  assert.deepEqual([older.spec.updateStrategy?.type, older.status?.replicas], ['RollingUpdate', 3]);
});
