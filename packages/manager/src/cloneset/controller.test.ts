import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controllerRevision } from '@kruise/api/apps/controllerrevision';
import { event } from '@kruise/api/core/event';
import { type Pod, pod } from '@kruise/api/core/pod';
import { resourceQuota } from '@kruise/api/core/resourcequota';
import { type CloneSet, cloneSet, cloneSetV1alpha1 } from '@kruise/api/kruise/cloneset';
import { startTestCluster, type TestCluster } from '../testing/test-cluster.ts';

const reference = { namespace: 'default', name: 'web' };

function webOf(spec: Partial<CloneSet['spec']> = {}) {
  return {
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'main', image: 'app:v1' }], terminationGracePeriodSeconds: 0 },
      },
      ...spec,
    },
  };
}

async function podsOf({ client }: TestCluster): Promise<readonly Pod[]> {
  return (await client.list(pod, { namespace: 'default' })).items;
}

async function setImage({ client }: TestCluster, image: string): Promise<void> {
  const spec = { template: { spec: { containers: [{ name: 'main', image }] } } };
  await client.patch(cloneSet, reference, { spec }, { type: 'merge' });
}

/** Runs kubelets and the manager until neither changes anything any more. */
async function settle(cluster: TestCluster): Promise<void> {
  for (let turn = 0; turn < 12; turn++) await cluster.runPods();
}

test('a CloneSet creates its Pods and reports them', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  await client.create(cloneSet, webOf());
  await cluster.pass(1);
  const items = await podsOf(cluster);
  assert.deepEqual(
    items.map(({ metadata }) => metadata.labels?.['controller-revision-hash']),
    ['5fc4cdb54f', '5fc4cdb54f', '5fc4cdb54f'],
  );
  const { status } = await client.get(cloneSet, reference);
  assert.deepEqual(status, {
    observedGeneration: 1,
    replicas: 3,
    readyReplicas: 0,
    availableReplicas: 0,
    updatedReplicas: 3,
    updatedReadyReplicas: 0,
    expectedUpdatedReplicas: 3,
    updateRevision: 'web-5fc4cdb54f',
    currentRevision: 'web-5fc4cdb54f',
    collisionCount: 0,
    labelSelector: 'app=web',
  });
  await cluster.runPods();
  await settle(cluster);
  assert.equal((await client.get(cloneSet, reference)).status?.availableReplicas, 3);
});

test('a new image updates the existing Pods in place', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  await client.create(
    cloneSet,
    webOf({ updateStrategy: { rollingUpdate: { podUpdatePolicy: 'InPlaceIfPossible', maxUnavailable: 1 } } }),
  );
  await cluster.pass(1);
  await settle(cluster);
  const before = (await podsOf(cluster)).map(({ metadata }) => metadata.uid);
  await setImage(cluster, 'app:v2');
  await settle(cluster);
  const after = await podsOf(cluster);
  assert.deepEqual(after.map(({ metadata }) => metadata.uid).sort(), before.sort());
  assert.deepEqual(
    after.map(({ spec }) => spec?.containers[0]?.image),
    ['app:v2', 'app:v2', 'app:v2'],
  );
  const { status } = await client.get(cloneSet, reference);
  assert.deepEqual([status?.updatedAvailableReplicas, status?.currentRevision === status?.updateRevision], [3, true]);
  assert.equal((await client.list(controllerRevision, { namespace: 'default' })).items.length, 2);
  const { items } = await client.list(event, { namespace: 'default' });
  assert.equal(items.filter(({ reason }) => reason === 'SuccessfulUpdatePodInPlace').length, 3);
});

test('a change that cannot be applied in place recreates the Pods', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  await client.create(
    cloneSet,
    webOf({ updateStrategy: { rollingUpdate: { podUpdatePolicy: 'InPlaceIfPossible', maxUnavailable: 2 } } }),
  );
  await cluster.pass(1);
  await settle(cluster);
  const before = new Set((await podsOf(cluster)).map(({ metadata }) => metadata.uid));
  const containers = [{ name: 'main', image: 'app:v1', env: [{ name: 'A', value: '1' }] }];
  await client.patch(cloneSet, reference, { spec: { template: { spec: { containers } } } }, { type: 'merge' });
  await settle(cluster);
  const after = await podsOf(cluster);
  assert.deepEqual([after.length, after.some(({ metadata }) => before.has(metadata.uid))], [3, false]);
});

test('a v1alpha1 CloneSet is the same object', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  const { metadata, spec: wanted } = webOf();
  const { replicas, selector, template } = wanted;
  await client.create(cloneSetV1alpha1, { metadata, spec: { replicas, selector, template } });
  await cluster.pass(1);
  assert.equal((await podsOf(cluster)).length, 3);
  const older = await client.get(cloneSetV1alpha1, reference);
  assert.deepEqual([older.spec.updateStrategy?.type, older.status?.replicas], ['ReCreate', 3]);
  const { spec } = await client.get(cloneSet, reference);
  assert.deepEqual(spec.scaleStrategy, { enablePVCReuse: true });
});

test('Pods that cannot be created do not block updates of other Pods', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  await client.create(
    cloneSet,
    webOf({ updateStrategy: { rollingUpdate: { podUpdatePolicy: 'InPlaceIfPossible', maxUnavailable: 3 } } }),
  );
  await cluster.pass(1);
  await settle(cluster);
  const quota = {
    metadata: { name: 'pods', namespace: 'default' },
    spec: { hard: { pods: '3' } },
    status: { hard: { pods: '3' }, used: { pods: '3' } },
  };
  await client.create(resourceQuota, quota);
  await client.update(
    resourceQuota,
    { ...(await client.get(resourceQuota, { namespace: 'default', name: 'pods' })), status: quota.status },
    { subresource: 'status' },
  );
  await client.patch(cloneSet, reference, { spec: { replicas: 5 } }, { type: 'merge' });
  await setImage(cluster, 'app:v2');
  await settle(cluster);
  assert.deepEqual(
    (await podsOf(cluster)).map(({ spec }) => spec?.containers[0]?.image),
    ['app:v2', 'app:v2', 'app:v2'],
  );
  const { status } = await client.get(cloneSet, reference);
  assert.match(status?.conditions?.find(({ type }) => type === 'FailedScale')?.message ?? '', /exceeded quota/);
});
