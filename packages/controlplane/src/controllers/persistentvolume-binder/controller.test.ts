import assert from 'node:assert/strict';
import { test } from 'node:test';
import { event } from '@kruise/api/core/event';
import { node } from '@kruise/api/core/node';
import { persistentVolume } from '@kruise/api/core/persistentvolume';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { pod } from '@kruise/api/core/pod';
import { storageClass } from '@kruise/api/storage/storageclass';
import { isNotFound } from '@kruise/machinery/status';
import { type Cluster, startCluster } from '../../testing/cluster.ts';

const accessModes = ['ReadWriteOnce'] as const;
const data = { name: 'data', namespace: 'default' };
const wanted = (more = {}) => ({
  metadata: data,
  spec: { accessModes, resources: { requests: { storage: '5Gi' } }, ...more },
});
const disk = (more = {}) => ({
  metadata: { name: 'disk' },
  spec: { accessModes, capacity: { storage: '10Gi' }, hostPath: { path: '/tmp/disk' }, ...more },
});
const phaseOf = async ({ client }: Cluster) => ({
  claim: (await client.get(persistentVolumeClaim, data)).status?.phase,
  volume: (await client.get(persistentVolume, { name: 'disk' })).status?.phase,
});

test('a PVC binds to a volume that is created later, and the volume is released with it', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['persistentvolume-binder-controller', 'persistentvolume-protection-controller']);
  await client.create(persistentVolumeClaim, wanted({ storageClassName: '' }));
  await cluster.advance(1);
  await client.create(persistentVolume, disk({ persistentVolumeReclaimPolicy: 'Delete' }));
  await cluster.advance(1);
  assert.deepEqual(await phaseOf(cluster), { claim: 'Bound', volume: 'Bound' });
  const bound = await client.get(persistentVolumeClaim, data);
  assert.deepEqual(bound.status?.capacity, { storage: '10Gi' });
  assert.equal(bound.spec?.volumeName, 'disk');

  const { items } = await client.list(event, { namespace: 'default' });
  assert.deepEqual(
    items.map(({ reason, source }) => `${reason} ${source?.component}`),
    ['FailedBinding persistentvolume-controller'],
  );

  // The PVC protection controller does not run here, so the PVC is deleted at once.
  await client.patch(persistentVolumeClaim, data, { metadata: { finalizers: null } }, { type: 'merge' });
  await client.delete(persistentVolumeClaim, data);
  await cluster.advance(1);
  await assert.rejects(client.get(persistentVolume, { name: 'disk' }), isNotFound);
  assert.deepEqual(cluster.warnings, []);
});

test('a PVC without a class gets the default class once it exists, and is provisioned', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['persistentvolume-binder-controller']);
  await client.create(persistentVolumeClaim, wanted());
  await cluster.advance(1);
  await client.create(storageClass, {
    metadata: { name: 'fast', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: 'example.com/disks',
  });
  await cluster.advance(1);
  const { metadata, spec, status } = await client.get(persistentVolumeClaim, data);
  assert.equal(spec?.storageClassName, 'fast');
  assert.equal(metadata.annotations?.['volume.kubernetes.io/storage-provisioner'], 'example.com/disks');
  assert.equal(status?.phase, 'Pending');

  // Simulates the provisioner.
  const claimRef = { ...data, uid: metadata.uid ?? '' };
  await client.create(persistentVolume, disk({ storageClassName: 'fast', claimRef }));
  await cluster.advance(1);
  assert.deepEqual(await phaseOf(cluster), { claim: 'Bound', volume: 'Bound' });
  assert.deepEqual(cluster.warnings, []);
});

test('a PVC whose volume is deleted is lost', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['persistentvolume-binder-controller']);
  await client.create(persistentVolume, disk());
  await client.create(persistentVolumeClaim, wanted({ storageClassName: '' }));
  await cluster.advance(1);
  await client.patch(persistentVolume, { name: 'disk' }, { metadata: { finalizers: null } }, { type: 'merge' });
  await client.delete(persistentVolume, { name: 'disk' });
  await cluster.advance(1);
  const { status } = await client.get(persistentVolumeClaim, data);
  assert.deepEqual(status, { phase: 'Lost' });
  assert.deepEqual(cluster.warnings, []);
});

test('ten PVCs bind to ten volumes', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['persistentvolume-binder-controller']);
  const numbers = Array.from({ length: 10 }, (_, index) => index);
  for (const number of numbers) {
    await client.create(persistentVolume, { ...disk(), metadata: { name: `disk-${number}` } });
    const metadata = { name: `data-${number}`, namespace: 'default' };
    await client.create(persistentVolumeClaim, { ...wanted({ storageClassName: '' }), metadata });
  }
  await cluster.advance(20);
  const { items } = await client.list(persistentVolumeClaim, { namespace: 'default' });
  assert.equal(items.filter(({ status }) => status?.phase === 'Bound').length, 10);
  assert.equal(new Set(items.map(({ spec }) => spec?.volumeName)).size, 10);
  assert.deepEqual(cluster.warnings, []);
});

test("a PVC of a scheduled Pod gets the Pod's node as selected node, if the node exists", async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['persistentvolume-binder-controller']);
  await client.create(storageClass, {
    metadata: { name: 'slow' },
    provisioner: 'example.com/disks',
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  await client.create(persistentVolumeClaim, wanted({ storageClassName: 'slow' }));
  await client.create(pod, {
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      nodeName: 'node-1',
      containers: [{ name: 'main', image: 'app' }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    },
  });
  const annotations = async () => (await client.get(persistentVolumeClaim, data)).metadata.annotations ?? {};
  await cluster.advance(20);
  assert.deepEqual(await annotations(), {});
  await client.create(node, { metadata: { name: 'node-1' } });
  await cluster.advance(20);
  const {
    'volume.kubernetes.io/selected-node': selectedNode,
    'volume.kubernetes.io/storage-provisioner': provisioner,
  } = await annotations();
  assert.deepEqual([selectedNode, provisioner], ['node-1', 'example.com/disks']);
  assert.deepEqual(cluster.warnings, []);
});
