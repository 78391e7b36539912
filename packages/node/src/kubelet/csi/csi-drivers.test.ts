/** CSI volumes with a driver on real sockets and the files of this machine; the driver mounts nothing. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { namespace } from '@kruise/api/core/namespace';
import { node as nodeKind } from '@kruise/api/core/node';
import { type PersistentVolume, persistentVolume } from '@kruise/api/core/persistentvolume';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import { secret } from '@kruise/api/core/secret';
import { csiDriver } from '@kruise/api/storage/csidriver';
import { csiNode } from '@kruise/api/storage/csinode';
import { volumeAttachment } from '@kruise/api/storage/volumeattachment';
import { startTestServer, type TestServer } from '@kruise/apiserver/testing/test-server';
import { silentLog } from '@kruise/client/log';
import { systemClock } from '@kruise/values/system';
import { machineFiles as files } from '../../cri/machine/files.ts';
import { startCsiDriver, type TestDriver } from '../testing/csi-driver.ts';
import { startCsiDrivers } from './csi-drivers.ts';
import type { CsiVolumes } from './csi-volumes.ts';

const driverName = 'files.csi.example.com';
const nodeName = 'node-1';
let base = '';
let server: TestServer;
let driver: TestDriver;
let volumes: CsiVolumes;
let stop: AbortController;
let events: string[];

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'kruise-csi-'));
  server = await startTestServer();
  stop = new AbortController();
  events = [];
  await server.client.create(nodeKind, { metadata: { name: nodeName } });
  await server.client.create(namespace, { metadata: { name: 'default' } }).catch(() => {});
  driver = await startDriver();
  volumes = await startKubelet();
});

afterEach(async () => {
  stop.abort();
  await driver.close();
  await server.close();
  await rm(base, { recursive: true });
});

const startDriver = () =>
  startCsiDriver({
    name: driverName,
    directory: join(base, 'driver'),
    registry: join(base, 'plugins_registry'),
    mounts: false,
    maxVolumes: 5,
    topology: { 'topology.example.com/rack': 'r1' },
  });

/** Starts the volumes of a kubelet; resolves when the driver has registered. */
async function startKubelet(): Promise<CsiVolumes> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { client } = server;
  let reported: readonly string[] = [];
  const started = startCsiDrivers(
    {
      client,
      clock: systemClock,
      log: silentLog,
      files,
      nodeName,
      rootDirectory: base,
      registered: async () => {},
      onRegister: resolve,
      // A status is reported a moment after it has changed.
      node: () => ({ apiVersion: 'v1', kind: 'Node', metadata: {}, status: { volumesInUse: [...reported] } }),
      onInUseChange: () => void queueMicrotask(() => (reported = started.inUse() ?? [])),
      token: async (_, { audience }) => ({
        text: `token for ${audience}`,
        refreshAt: 0,
        expiresAt: '2030-01-01T00:00:00Z',
      }),
      record: (_, type, reason, message) => void events.push(`${type} ${reason}: ${message}`),
    },
    stop.signal,
  );
  await promise;
  return started;
}

function podOf(uid: string, more: Partial<NonNullable<Pod['spec']>> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `pod-${uid}`, namespace: 'default', uid },
    spec: { containers: [{ name: 'c', image: 'busybox' }], ...more },
  };
}

const volumeOf = (more: Partial<NonNullable<PersistentVolume['spec']>> = {}): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'disk' },
  spec: {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    csi: { driver: driverName, volumeHandle: 'handle/../1', volumeAttributes: { colour: 'red' } },
    ...more,
  },
});

const claimOf = (storage: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'default' },
  spec: { accessModes: ['ReadWriteOnce' as const], resources: { requests: { storage } }, volumeName: 'disk' },
  status: { phase: 'Bound' as const, capacity: { storage } },
});

const createDriverObject = (spec: object) =>
  server.client.create(csiDriver, { metadata: { name: driverName }, spec: { attachRequired: false, ...spec } });

const methods = () =>
  driver.calls.map(({ method }) => method).filter((name) => /^Node(Un)?(stage|publish)/i.test(name));
const podPath = (uid: string) => join(base, 'pods', uid);

test('a driver that registers is on the CSINode and the Node, and is removed with its socket', async () => {
  const found = await server.client.get(csiNode, { name: nodeName });
  assert.deepEqual(found.spec.drivers, [
    {
      name: driverName,
      nodeID: `id-of-${driverName}`,
      topologyKeys: ['topology.example.com/rack'],
      allocatable: { count: 5 },
    },
  ]);
  const { metadata } = await server.client.get(nodeKind, { name: nodeName });
  assert.equal(metadata.labels?.['topology.example.com/rack'], 'r1');
  assert.equal(metadata.annotations?.['csi.volume.kubernetes.io/nodeid'], `{"${driverName}":"id-of-${driverName}"}`);
  await driver.close();
  for (let attempt = 0; attempt < 100; attempt++) {
    if (((await server.client.get(csiNode, { name: nodeName })).spec.drivers ?? []).length === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.deepEqual((await server.client.get(csiNode, { name: nodeName })).spec.drivers ?? [], []);
  driver = await startDriver();
});

test('a volume is staged once, published for each Pod, and unstaged after the last one', async () => {
  await createDriverObject({});
  const request = { volume: volumeOf(), claim: claimOf('1Gi'), isReadOnly: false };
  const first = await volumes.mountPersistent(podOf('a'), request);
  assert.equal(first.path, join(podPath('a'), 'volumes/kubernetes.io~csi/disk/mount'));
  assert.ok(existsSync(first.path));
  await volumes.mountPersistent(podOf('a'), request);
  await volumes.mountPersistent(podOf('b'), request);
  await volumes.release(podPath('a'));
  assert.ok(!existsSync(join(podPath('a'), 'volumes/kubernetes.io~csi/disk')));
  await volumes.release(podPath('b'));
  assert.deepEqual(methods(), [
    'NodeStageVolume',
    'NodePublishVolume',
    'NodePublishVolume',
    'NodeUnpublishVolume',
    'NodeUnpublishVolume',
    'NodeUnstageVolume',
  ]);
  assert.ok(existsSync(driver.dataOf('handle/../1')), 'the data of the volume are kept');
  const published = driver.calls.find(({ method }) => method === 'NodePublishVolume')?.request;
  assert.deepEqual(published?.['volumeContext'], { colour: 'red' });
  assert.match(
    String(published?.['stagingTargetPath']),
    /plugins\/kubernetes\.io\/csi\/files\.csi\.example\.com\/[0-9a-f]{64}\/globalmount$/,
  );
});

test('a restarted kubelet releases the volumes that an earlier one has mounted', async () => {
  await createDriverObject({});
  await volumes.mountPersistent(podOf('a'), { volume: volumeOf(), claim: claimOf('1Gi'), isReadOnly: false });
  stop.abort();
  stop = new AbortController();
  volumes = await startKubelet();
  await volumes.release(podPath('a'));
  assert.deepEqual(methods().slice(-2), ['NodeUnpublishVolume', 'NodeUnstageVolume']);
});

test('a volume that needs to be attached waits for its attachment, and is in use until it is released', async () => {
  const request = { volume: volumeOf(), claim: claimOf('1Gi'), isReadOnly: false };
  const waiting = { message: 'volume "disk" is not attached to the node yet' };
  await assert.rejects(volumes.mountPersistent(podOf('a'), request), waiting);
  assert.deepEqual(volumes.inUse(), [`kubernetes.io/csi/${driverName}^handle/../1`]);
  const name = `csi-${createHash('sha256').update(`handle/../1${driverName}${nodeName}`).digest('hex')}`;
  await server.client.create(volumeAttachment, {
    metadata: { name },
    spec: { attacher: driverName, nodeName, source: { persistentVolumeName: 'disk' } },
  });
  await assert.rejects(volumes.mountPersistent(podOf('a'), request), waiting);
  const status = { attached: true, attachmentMetadata: { device: 'vdb' } };
  await server.client.patch(volumeAttachment, { name }, { status }, { type: 'merge', subresource: 'status' });
  await volumes.mountPersistent(podOf('a'), request);
  const staged = driver.calls.find(({ method }) => method === 'NodeStageVolume')?.request;
  assert.deepEqual(staged?.['publishContext'], { device: 'vdb' });
  await volumes.release(podPath('a'));
  assert.deepEqual(volumes.inUse(), []);
});

test('a Pod that never got its volume attached holds it no longer after its release', async () => {
  const request = { volume: volumeOf(), claim: claimOf('1Gi'), isReadOnly: false };
  await assert.rejects(volumes.mountPersistent(podOf('a'), request));
  await volumes.release(podPath('a'));
  assert.deepEqual(volumes.inUse(), []);
});

test('an inline volume gets the Pod, its tokens and the Secret, and needs a driver that supports it', async () => {
  const inline = {
    name: 'scratch',
    csi: { driver: driverName, nodePublishSecretRef: { name: 'login' }, volumeAttributes: { size: '1' } },
  };
  await createDriverObject({});
  await assert.rejects(volumes.mountInline(podOf('a'), inline), {
    message: `volume mode "Ephemeral" not supported by driver ${driverName} (only supports ["Persistent"])`,
  });
  await server.client.delete(csiDriver, { name: driverName });
  await createDriverObject({
    volumeLifecycleModes: ['Ephemeral'],
    podInfoOnMount: true,
    tokenRequests: [{ audience: 'vault' }],
    requiresRepublish: true,
  });
  const data = { password: Buffer.from('hush').toString('base64') };
  await server.client.create(secret, { metadata: { name: 'login', namespace: 'default' }, data });
  await volumes.mountInline(podOf('a'), inline);
  await volumes.mountInline(podOf('a'), inline);
  assert.deepEqual(methods(), ['NodePublishVolume', 'NodePublishVolume']);
  const { request } = driver.calls.find(({ method }) => method === 'NodePublishVolume')!;
  assert.match(String(request['volumeId']), /^csi-[0-9a-f]{64}$/);
  assert.deepEqual(request['secrets'], { password: 'hush' });
  assert.deepEqual(request['volumeContext'], {
    size: '1',
    'csi.storage.k8s.io/pod.name': 'pod-a',
    'csi.storage.k8s.io/pod.namespace': 'default',
    'csi.storage.k8s.io/pod.uid': 'a',
    'csi.storage.k8s.io/serviceAccount.name': 'default',
    'csi.storage.k8s.io/ephemeral': 'true',
    'csi.storage.k8s.io/serviceAccount.tokens':
      '{"vault":{"token":"token for vault","expirationTimestamp":"2030-01-01T00:00:00Z"}}',
  });
  await volumes.release(podPath('a'));
  assert.deepEqual(methods().slice(2), ['NodeUnpublishVolume']);
});

test('an enlarged volume is expanded on the node, and its PVC reports the size', async () => {
  await createDriverObject({});
  await server.client.create(persistentVolume, volumeOf({ capacity: { storage: '2Gi' } }));
  const { status, ...wanted } = claimOf('1Gi');
  const made = await server.client.create(persistentVolumeClaim, wanted);
  const pending = [{ type: 'FileSystemResizePending', status: 'True' }];
  const claim = await server.client.patch(
    persistentVolumeClaim,
    { name: 'data', namespace: 'default' },
    { status: { ...status, conditions: pending } },
    { type: 'merge', subresource: 'status' },
  );
  assert.ok(made);
  const request = { volume: volumeOf({ capacity: { storage: '2Gi' } }), claim, isReadOnly: false };
  driver.fail('NodeExpandVolume', 'disk is busy');
  await volumes.mountPersistent(podOf('a'), request);
  assert.deepEqual(events.splice(0), [
    'Warning VolumeResizeFailed: MountVolume.NodeExpandVolume failed for volume "disk" : rpc error: code = Internal desc = disk is busy',
  ]);
  driver.fail('NodeExpandVolume', undefined);
  await volumes.mountPersistent(podOf('a'), request);
  const found = await server.client.get(persistentVolumeClaim, { name: 'data', namespace: 'default' });
  assert.deepEqual(found.status?.capacity, { storage: '2Gi' });
  assert.deepEqual(found.status?.conditions ?? [], []);
  assert.equal(
    events[0],
    'Normal FileSystemResizeSuccessful: MountVolume.NodeExpandVolume succeeded for volume "disk" node-1',
  );
});

test('an error of the driver is reported, and the volume is released afterwards', async () => {
  await createDriverObject({});
  driver.fail('NodeStageVolume', 'no such disk');
  const request = { volume: volumeOf(), claim: claimOf('1Gi'), isReadOnly: false };
  await assert.rejects(volumes.mountPersistent(podOf('a'), request), {
    message: 'rpc error: code = Internal desc = no such disk',
  });
  await volumes.release(podPath('a'));
  assert.deepEqual(methods().slice(-2), ['NodeUnpublishVolume', 'NodeUnstageVolume']);
});

test('the usage of a mounted volume is that of its driver', async () => {
  await createDriverObject({});
  const request = { volume: volumeOf(), claim: claimOf('1Gi'), isReadOnly: false };
  const { path } = await volumes.mountPersistent(podOf('a'), request);
  assert.deepEqual(await volumes.statsOf(path), {
    capacityBytes: 1000,
    availableBytes: 600,
    usedBytes: 400,
    inodes: 100,
    inodesFree: 93,
    inodesUsed: 7,
  });
  driver.fail('NodeGetVolumeStats', 'asleep');
  assert.equal(await volumes.statsOf(path), undefined);
  assert.equal(await volumes.statsOf('/srv/data'), undefined);
});

test('a block volume is rejected instead of mounted', async () => {
  await createDriverObject({});
  const request = { volume: volumeOf({ volumeMode: 'Block' }), claim: claimOf('1Gi'), isReadOnly: false };
  await assert.rejects(volumes.mountPersistent(podOf('a'), request), /block volumes/);
  assert.deepEqual(methods(), []);
});

test('an empty record of a volume, as a power cut may leave it, is passed over', async () => {
  await createDriverObject({});
  const directory = join(podPath('a'), 'volumes/kubernetes.io~csi/disk');
  await files.makeDirectory(directory);
  await writeFile(join(directory, 'vol_data.json'), '');
  await volumes.release(podPath('a'));
  assert.deepEqual(methods(), []);
});

test('a driver whose name is no name of a driver is rejected', async () => {
  await driver.close();
  driver = await startCsiDriver({
    name: 'a..b',
    directory: join(base, 'driver'),
    registry: join(base, 'plugins_registry'),
    mounts: false,
  });
  for (let attempt = 0; attempt < 100; attempt++) {
    if (driver.calls.some(({ method }) => method === 'NotifyRegistrationStatus')) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const notification = driver.calls.find(({ method }) => method === 'NotifyRegistrationStatus')?.request;
  assert.deepEqual(notification, { error: 'invalid driver name "a..b"' });
});

test('a file in the registry that is no socket is ignored', async () => {
  await writeFile(join(base, 'plugins_registry', 'notes'), 'x');
  await createDriverObject({});
  await volumes.mountPersistent(podOf('a'), { volume: volumeOf(), claim: claimOf('1Gi'), isReadOnly: false });
});
