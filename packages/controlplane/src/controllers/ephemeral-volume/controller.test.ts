import assert from 'node:assert/strict';
import { test } from 'node:test';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { pod } from '@kruise/api/core/pod';
import { startCluster } from '../../testing/cluster.ts';

test('an ephemeral volume gets its PVC, and again when it is deleted', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['ephemeral-volume-controller']);
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } as const;
  await client.create(pod, {
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      containers: [{ name: 'main', image: 'web' }],
      volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate: { spec } } }],
    },
  });
  await cluster.advance(1);
  const name = { name: 'web-scratch', namespace: 'default' };
  const first = await client.get(persistentVolumeClaim, name);
  assert.equal(first.metadata.ownerReferences?.[0]?.name, 'web');

  await client.patch(persistentVolumeClaim, name, { metadata: { finalizers: null } }, { type: 'merge' });
  await client.delete(persistentVolumeClaim, name);
  await cluster.advance(1);
  assert.notEqual((await client.get(persistentVolumeClaim, name)).metadata.uid, first.metadata.uid);
  assert.deepEqual(cluster.warnings, []);
});
