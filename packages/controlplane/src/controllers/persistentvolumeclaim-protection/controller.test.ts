import assert from 'node:assert/strict';
import { test } from 'node:test';
import { node } from '@kruise/api/core/node';
import { persistentVolume } from '@kruise/api/core/persistentvolume';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { pod } from '@kruise/api/core/pod';
import { isNotFound } from '@kruise/machinery/status';
import { startCluster } from '../../testing/cluster.ts';

test('a PVC and its volume are kept until the Pod that uses them is gone', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run([
    'persistentvolume-binder-controller',
    'persistentvolume-protection-controller',
    'persistentvolumeclaim-protection-controller',
  ]);
  const data = { name: 'data', namespace: 'default' };
  const web = { name: 'web', namespace: 'default' };
  const accessModes = ['ReadWriteOnce'] as const;
  await client.create(node, { metadata: { name: 'node-1' } });
  await client.create(persistentVolume, {
    metadata: { name: 'disk' },
    spec: { accessModes, capacity: { storage: '1Gi' }, hostPath: { path: '/disk' } },
  });
  await client.create(persistentVolumeClaim, {
    metadata: data,
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
  await client.delete(persistentVolumeClaim, data);
  await client.delete(persistentVolume, { name: 'disk' });
  await cluster.advance(60);
  assert.ok((await client.get(persistentVolumeClaim, data)).metadata.deletionTimestamp);
  assert.ok((await client.get(persistentVolume, { name: 'disk' })).metadata.deletionTimestamp);

  await client.delete(pod, web, { gracePeriodSeconds: 0 });
  await cluster.advance(1);
  await assert.rejects(client.get(persistentVolumeClaim, data), isNotFound);
  await assert.rejects(client.get(persistentVolume, { name: 'disk' }), isNotFound);
  assert.deepEqual(cluster.warnings, []);
});
