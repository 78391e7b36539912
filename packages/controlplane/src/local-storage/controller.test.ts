import assert from 'node:assert/strict';
import { test } from 'node:test';
import { event } from '@kruise/api/core/event';
import { node } from '@kruise/api/core/node';
import { persistentVolume } from '@kruise/api/core/persistentvolume';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { runControllers } from '@kruise/client/manager';
import { seededRandom } from '@kruise/values/random';
import { startCluster } from '../testing/cluster.ts';
import { localStorageControllers } from './controller.ts';
import { installLocalStorage, localStorageAccount } from './manifests.ts';

test('a PVC gets a directory on its selected node, is expanded, and is deleted with its files', async () => {
  await using cluster = await startCluster();
  const { client, clock } = cluster;
  const removed: string[] = [];
  const stop = new AbortController();
  await installLocalStorage(client);
  await installLocalStorage(client);
  const storage = localStorageControllers({
    removeDirectory: async ({ node: name, path }) => void removed.push(`${name} ${path.replace(/pvc-[^_]*/, 'pvc')}`),
  });
  const own = { client: cluster.clientOfAccount(localStorageAccount), clock, random: seededRandom('storage') };
  const running = runControllers(storage, own, stop.signal);
  await cluster.run([
    'persistentvolume-binder-controller',
    'persistentvolume-expander-controller',
    'persistentvolume-protection-controller',
    'persistentvolumeclaim-protection-controller',
  ]);
  await client.create(node, { metadata: { name: 'node-1', labels: { 'kubernetes.io/hostname': 'node-1' } } });
  const data = { name: 'data', namespace: 'default' };
  await client.create(persistentVolumeClaim, {
    metadata: data,
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
  await cluster.advance(1);
  const found = () => client.get(persistentVolumeClaim, data);
  assert.equal((await found()).spec?.storageClassName, 'standard');
  assert.equal((await found()).status?.phase, 'Pending');

  // Simulates the scheduler.
  const annotations = { 'volume.kubernetes.io/selected-node': 'node-1' };
  await client.patch(persistentVolumeClaim, data, { metadata: { annotations } }, { type: 'merge' });
  await cluster.advance(1);
  const bound = await found();
  assert.deepEqual([bound.status?.phase, bound.status?.capacity], ['Bound', { storage: '1Gi' }]);
  assert.equal(bound.spec?.volumeName, `pvc-${bound.metadata.uid}`);

  const wanted = { spec: { resources: { requests: { storage: '2Gi' } } } };
  await client.patch(persistentVolumeClaim, data, wanted, { type: 'merge' });
  await cluster.advance(1);
  const grown = await found();
  assert.deepEqual([grown.status?.capacity, grown.status?.conditions ?? []], [{ storage: '2Gi' }, []]);
  const { items: volumes } = await client.list(persistentVolume);
  assert.deepEqual(volumes[0]?.spec?.capacity, { storage: '2Gi' });

  await client.delete(persistentVolumeClaim, data);
  await cluster.advance(1);
  assert.deepEqual((await client.list(persistentVolume)).items, []);
  assert.equal(removed[0], 'node-1 /var/lib/kruise/volumes/pvc_default_data');

  const { items: events } = await client.list(event, { namespace: 'default' });
  const reasons = new Set(events.map(({ reason }) => reason));
  const expected = [
    'WaitForFirstConsumer',
    'ExternalProvisioning',
    'Provisioning',
    'ProvisioningSucceeded',
    'ExternalExpanding',
    'Resizing',
    'VolumeResizeSuccessful',
  ];
  assert.deepEqual(
    expected.filter((reason) => !reasons.has(reason)),
    [],
  );
  assert.deepEqual(cluster.warnings, []);
  stop.abort();
  await cluster.advance(1);
  await running;
});
