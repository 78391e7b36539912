import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pod } from '@kruise/api/core/pod';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { startTestCluster } from '../../testing/test-cluster.ts';

const web = {
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'main', image: 'app:v1' }], terminationGracePeriodSeconds: 0 },
    },
  },
};

test('a CloneSet makes its Pods and says so', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  await client.create(cloneSet, web);
  await cluster.pass(1);
  const { items } = await client.list(pod, { namespace: 'default' });
  assert.equal(items.length, 3);
  assert.deepEqual(items[0]?.metadata.labels?.['controller-revision-hash'], '5fc4cdb54f');
  const { status } = await client.get(cloneSet, { namespace: 'default', name: 'web' });
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
});
