import assert from 'node:assert/strict';
import { test } from 'node:test';
import { node } from '@kruise/api/core/node';
import { persistentVolume } from '@kruise/api/core/persistentvolume';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { pod } from '@kruise/api/core/pod';
import { volumeAttachment } from '@kruise/api/storage/volumeattachment';
import { startCluster } from '../../testing/cluster.ts';

test('a volume is attached for a Pod, reported, and detached after it', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['persistentvolume-attach-detach-controller', 'persistentvolume-binder-controller']);
  const annotations = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' };
  await client.create(node, { metadata: { name: 'node-1', annotations } });
  const accessModes = ['ReadWriteOnce'] as const;
  const csi = { driver: 'disks.example.com', volumeHandle: 'h1' };
  const web = { name: 'web', namespace: 'default' };
  await client.create(persistentVolume, {
    metadata: { name: 'disk' },
    spec: { accessModes, capacity: { storage: '1Gi' }, csi },
  });
  await client.create(persistentVolumeClaim, {
    metadata: { name: 'data', namespace: 'default' },
    spec: { accessModes, storageClassName: '', resources: { requests: { storage: '1Gi' } } },
  });
  await client.create(pod, {
    metadata: web,
    spec: {
      nodeName: 'node-1',
      containers: [{ name: 'main', image: 'web' }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    },
  });
  await cluster.advance(1);
  const [made] = (await client.list(volumeAttachment)).items;
  assert.equal(made?.spec.source.persistentVolumeName, 'disk');

  // Simulates the CSI driver.
  await client.update(volumeAttachment, { ...made, status: { attached: true } }, { subresource: 'status' });
  await cluster.advance(1);
  const reported = async () => (await client.get(node, { name: 'node-1' })).status?.volumesAttached ?? [];
  assert.deepEqual(await reported(), [{ name: 'kubernetes.io/csi/disks.example.com^h1', devicePath: '' }]);

  await client.delete(pod, web, { gracePeriodSeconds: 0 });
  await cluster.advance(1);
  assert.deepEqual((await client.list(volumeAttachment)).items, []);
  assert.deepEqual(await reported(), []);
  assert.deepEqual(cluster.warnings, []);
});
