import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@kruise/api/core/node';
import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { CSIStorageCapacity } from '@kruise/api/storage/csistoragecapacity';
import type { StorageClass } from '@kruise/api/storage/storageclass';
import { podInfoOf } from '../cluster/pod-info.ts';
import { clusterOf, nodeIn, nodeOf, type PodTraits, podOf } from '../testing/fixtures.ts';
import { partsOf, type World } from '../testing/parts.ts';
import { feasibleFor, profileIn, scheduleResult } from '../testing/schedule-result.ts';
import { findClaims, planVolumes } from './claims.ts';

const zone = 'topology.kubernetes.io/zone';
const inZone = (value: string) => ({
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key: zone, operator: 'In' as const, values: [value] }] }] },
});

type VolumeSpec = NonNullable<PersistentVolume['spec']>;
const volume = (name: string, spec: Partial<VolumeSpec> = {}, labels = {}): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name, labels, resourceVersion: '1' },
  spec: { capacity: { storage: '10Gi' }, accessModes: ['ReadWriteOnce'], ...spec },
  status: { phase: 'Available' },
});
type ClaimSpec = NonNullable<PersistentVolumeClaim['spec']>;
const claim = (
  name: string,
  spec: Partial<ClaimSpec> = {},
  more: Partial<PersistentVolumeClaim['metadata']> = {},
): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'default', uid: `uid-of-${name}`, resourceVersion: '1', ...more },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '5Gi' } }, ...spec },
});
const bound = (name: string, volumeName: string, spec: Partial<ClaimSpec> = {}) =>
  claim(name, { volumeName, ...spec }, { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } });
const storageClass = (name: string, provisioner: string, more: Partial<StorageClass> = {}): StorageClass => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name },
  provisioner,
  volumeBindingMode: 'WaitForFirstConsumer',
  ...more,
});

const local = storageClass('local', 'kubernetes.io/no-provisioner');
const made = storageClass('made', 'example.com/driver');
const immediate = storageClass('now', 'example.com/driver', { volumeBindingMode: 'Immediate' });
const nodes = [nodeIn('a', 'a1'), nodeIn('b', 'b1')];
const using = (...claims: readonly string[]): PodTraits => ({
  volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
});

type Row = readonly [name: string, world: World, feasible: readonly string[], among?: readonly Node[]];
const rows: Row[] = [
  [
    'wherever its volume is accessible',
    { claims: [bound('data', 'v')], volumes: [volume('v', { nodeAffinity: inZone('b') })] },
    ['b1'],
  ],
  [
    'in the zone label of its volume',
    { claims: [bound('data', 'v')], volumes: [volume('v', {}, { [zone]: 'a' })] },
    ['a1'],
  ],
  [
    'in any zone in the label of its volume',
    { claims: [bound('data', 'v')], volumes: [volume('v', {}, { [zone]: 'a__b' })] },
    ['a1', 'b1'],
  ],
  [
    'where a volume is available',
    {
      claims: [claim('data', { storageClassName: 'local' })],
      classes: [local],
      volumes: [volume('v', { storageClassName: 'local', nodeAffinity: inZone('b') })],
    },
    ['b1'],
  ],
  [
    'on a node without a zone, even if its volume has one',
    { claims: [bound('data', 'v')], volumes: [volume('v', {}, { [zone]: 'c' })] },
    ['nowhere'],
    [nodes[0]!, nodeOf('nowhere')],
  ],
  [
    'anywhere, if a volume can be provisioned',
    { claims: [claim('data', { storageClassName: 'made' })], classes: [made] },
    ['a1', 'b1'],
  ],
  [
    'where a volume may be provisioned',
    {
      claims: [claim('data', { storageClassName: 'made' })],
      classes: [{ ...made, allowedTopologies: [{ matchLabelExpressions: [{ key: zone, values: ['b'] }] }] }],
    },
    ['b1'],
  ],
  [
    'where a volume is being provisioned',
    {
      claims: [
        claim('data', { storageClassName: 'made' }, { annotations: { 'volume.kubernetes.io/selected-node': 'b1' } }),
      ],
      classes: [made],
    },
    ['b1'],
  ],
];
for (const [name, world, feasible, among = nodes] of rows) {
  test(`a Pod is placed ${name}`, () => {
    assert.deepEqual(feasibleFor(podOf('p', using('data')), { cluster: clusterOf(among), world }), feasible);
  });
}

const faults: readonly (readonly [name: string, world: World, message: string])[] = [
  ['the PVC does not exist', {}, 'persistentvolumeclaim "data" not found.'],
  [
    'the PVC is terminating',
    { claims: [claim('data', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' })] },
    'persistentvolumeclaim "data" is being deleted.',
  ],
  [
    'the PVC is lost',
    { claims: [{ ...bound('data', 'v'), status: { phase: 'Lost' } }] },
    'persistentvolumeclaim "data" bound to non-existent persistentvolume "v".',
  ],
  [
    'the PVC with immediate binding is unbound',
    { claims: [claim('data', { storageClassName: 'now' })], classes: [immediate] },
    'pod has unbound immediate PersistentVolumeClaims.',
  ],
  ['the PVC has no class', { claims: [claim('data')] }, 'pod has unbound immediate PersistentVolumeClaims.'],
  [
    'no volume is available',
    { claims: [claim('data', { storageClassName: 'local' })], classes: [local] },
    "2 node(s) didn't find available persistent volumes to bind.",
  ],
  [
    'the PVC names a volume that is not bound to it',
    { claims: [claim('data', { storageClassName: 'made', volumeName: 'v' })], classes: [made], volumes: [volume('v')] },
    'pod has unbound immediate PersistentVolumeClaims.',
  ],
  [
    'no volume of the class is large enough',
    {
      claims: [claim('data', { storageClassName: 'local' })],
      classes: [local],
      volumes: [volume('v', { storageClassName: 'local', capacity: { storage: '4Gi' } })],
    },
    "2 node(s) didn't find available persistent volumes to bind.",
  ],
  [
    'the volume is not accessible',
    { claims: [bound('data', 'v')], volumes: [volume('v', { nodeAffinity: inZone('c') })] },
    "2 node(s) didn't match PersistentVolume's node affinity.",
  ],
  [
    'the volume has the label of another zone',
    { claims: [bound('data', 'v')], volumes: [volume('v', {}, { [zone]: 'c' })] },
    '2 node(s) had no available volume zone.',
  ],
];
for (const [name, world, message] of faults) {
  test(`a Pod is rejected because ${name}`, () => {
    const result = scheduleResult(podOf('p', using('data')), { cluster: clusterOf(nodes), world });
    assert.equal(result, `0/2 nodes are available: ${message}`);
  });
}

test('a Pod waits for the PVC of its ephemeral volume, and uses no other PVC of that name', () => {
  const pod = podOf('p', { volumes: [{ name: 'scratch', ephemeral: {} }] });
  const result = (world: World) => scheduleResult(pod, { cluster: clusterOf(nodes), world });
  assert.equal(
    result({}),
    '0/2 nodes are available: waiting for ephemeral volume controller to create the persistentvolumeclaim "p-scratch".',
  );
  const foreign = claim('p-scratch', { storageClassName: 'made' });
  assert.equal(
    result({ claims: [foreign], classes: [made] }),
    '0/2 nodes are available: PVC default/p-scratch was not created for pod default/p (pod is not owner).',
  );
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'uid-of-p', controller: true };
  const own = { ...foreign, metadata: { ...foreign.metadata, ownerReferences: [owner] } };
  assert.ok(['a1', 'b1'].includes(result({ claims: [own], classes: [made] })));
});

test('two PVCs do not plan with the same volume', () => {
  const world: World = {
    claims: [
      claim('large', { storageClassName: 'local', resources: { requests: { storage: '9Gi' } } }),
      claim('small', { storageClassName: 'local' }),
    ],
    volumes: [
      volume('ten', { storageClassName: 'local' }),
      volume('six', { storageClassName: 'local', capacity: { storage: '6Gi' } }),
    ],
    classes: [local],
  };
  const { volumes } = partsOf(world);
  const claims = findClaims(podInfoOf(podOf('p', using('large', 'small'))), volumes.storage);
  assert.ok(!('fault' in claims));
  const plan = planVolumes(claims, nodes[0]!, volumes.storage);
  assert.ok('bindings' in plan);
  assert.deepEqual(
    plan.bindings.map(({ claim: each, volume: its }) => [each.metadata.name, its.metadata.name]),
    [
      ['small', 'six'],
      ['large', 'ten'],
    ],
  );
});

const capacity = (
  name: string,
  bytes: string,
  value: string,
  more: Partial<CSIStorageCapacity> = {},
): CSIStorageCapacity => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIStorageCapacity',
  metadata: { name, namespace: 'default' },
  storageClassName: 'made',
  capacity: bytes,
  nodeTopology: { matchLabels: { [zone]: value } },
  ...more,
});
const driver = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIDriver',
  metadata: { name: 'example.com/driver' },
  spec: { storageCapacity: true },
} as const;

test('a volume is provisioned only where its driver reports enough capacity', () => {
  const world: World = { claims: [claim('data', { storageClassName: 'made' })], classes: [made], drivers: [driver] };
  const cluster = clusterOf(nodes);
  const result = (capacities: readonly CSIStorageCapacity[]) =>
    scheduleResult(podOf('p', using('data')), { cluster, world: { ...world, capacities } });
  assert.equal(result([]), '0/2 nodes are available: 2 node(s) did not have enough free storage.');
  assert.equal(result([capacity('x', '4Gi', 'a'), capacity('y', '5Gi', 'b')]), 'b1');
  assert.equal(result([capacity('x', '9Gi', 'a', { maximumVolumeSize: '1Gi' }), capacity('y', '5Gi', 'b')]), 'b1');
});

test('a ReadWriteOncePod PVC is used by one Pod only', () => {
  const world: World = { claims: [bound('data', 'v', { accessModes: ['ReadWriteOncePod'] })], volumes: [volume('v')] };
  const cluster = clusterOf(nodes, [podOf('x', { on: 'a1', ...using('data') })]);
  assert.equal(
    scheduleResult(podOf('p', using('data')), { cluster, world }),
    '0/2 nodes are available: 2 node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode.',
  );
});

type Disk = NonNullable<PodTraits['volumes']>[number];
const gce = (pdName: string, readOnly: boolean): Disk => ({ name: 'd', gcePersistentDisk: { pdName, readOnly } });
const ebs = (volumeID: string): Disk => ({ name: 'd', awsElasticBlockStore: { volumeID, readOnly: true } });
const iscsi = (iqn: string, readOnly: boolean): Disk => ({
  name: 'd',
  iscsi: { targetPortal: 'x', iqn, lun: 0, readOnly },
});
const rbd = (image: string, monitors: readonly string[], readOnly: boolean, pool = 'rbd'): Disk => ({
  name: 'd',
  rbd: { image, monitors, pool, readOnly },
});
const disks: readonly (readonly [name: string, here: Disk, wanted: Disk, isFree: boolean])[] = [
  ['a GCE disk that both read', gce('a', true), gce('a', true), true],
  ['a GCE disk that one of them writes', gce('a', true), gce('a', false), false],
  ['another GCE disk', gce('a', false), gce('b', false), true],
  ['an EBS volume, even if both read', ebs('a'), ebs('a'), false],
  ['another EBS volume', ebs('a'), ebs('b'), true],
  ['an iSCSI target that both read', iscsi('a', true), iscsi('a', true), true],
  ['an iSCSI target that one of them writes', iscsi('a', false), iscsi('a', true), false],
  ['an RBD image that both read', rbd('a', ['m'], true), rbd('a', ['m'], true), true],
  ['an RBD image that one of them writes', rbd('a', ['m', 'n'], false), rbd('a', ['n'], true), false],
  ['an RBD image of other monitors', rbd('a', ['m'], false), rbd('a', ['n'], false), true],
  ['an RBD image of another pool', rbd('a', ['m'], false), rbd('a', ['m'], false, 'other'), true],
];
for (const [name, here, wanted, isFree] of disks) {
  test(`a Pod is ${isFree ? '' : 'not '}placed beside one with ${name}`, () => {
    const cluster = clusterOf([nodes[0]!], [podOf('x', { on: 'a1', volumes: [here] })]);
    assert.equal(
      scheduleResult(podOf('p', { volumes: [wanted] }), { cluster }),
      isFree ? 'a1' : '0/1 nodes are available: 1 node(s) had no available disk.',
    );
  });
}

test('a PVC whose volume does not exist rejects every node', () => {
  const { volumes } = partsOf({ claims: [bound('data', 'gone')] });
  const claims = findClaims(podInfoOf(podOf('p', using('data'))), volumes.storage);
  assert.ok(!('fault' in claims));
  assert.deepEqual(planVolumes(claims, nodes[0]!, volumes.storage), {
    reasons: ['node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)'],
  });
});

test('the attach limit of a driver holds', () => {
  const csi = (handle: string) => ({ csi: { driver: 'example.com/driver', volumeHandle: handle } });
  const count = (limit: number) => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    metadata: { name: 'a1' },
    spec: { drivers: [{ name: 'example.com/driver', nodeID: 'x', allocatable: { count: limit } }] },
  });
  const world: World = {
    claims: [bound('one', 'v1'), bound('two', 'v2'), claim('three', { storageClassName: 'made' })],
    volumes: [volume('v1', csi('h1')), volume('v2', csi('h2'))],
    classes: [made],
  };
  const cluster = clusterOf([nodes[0]!], [podOf('x', { on: 'a1', ...using('one') })]);
  const result = (limit: number, ...claims: readonly string[]) =>
    scheduleResult(podOf('p', using(...claims)), { cluster, world: { ...world, csiNodes: [count(limit)] } });
  assert.equal(result(2, 'two'), 'a1');
  assert.equal(result(1, 'one'), 'a1', 'the volume is already attached');
  assert.equal(result(1, 'two'), '0/1 nodes are available: 1 node(s) exceed max volume count.');
  assert.equal(result(2, 'two', 'three'), '0/1 nodes are available: 1 node(s) exceed max volume count.');
});

test('volumes planned for one Pod are not planned for another, unless the plan is reverted', () => {
  const world: World = {
    claims: [claim('one', { storageClassName: 'local' }), claim('two', { storageClassName: 'local' })],
    volumes: [volume('v', { storageClassName: 'local' })],
    classes: [local],
  };
  const cluster = clusterOf(nodes);
  const profile = profileIn({ world });
  const binding = profile.reservers[0]!;
  const node = cluster.node('a1')!;
  const isFree = () => {
    const prepared = binding.filter?.(podInfoOf(podOf('q', using('two'))), cluster);
    return prepared !== undefined && 'filter' in prepared && prepared.filter.check(node) === undefined;
  };
  assert.equal(isFree(), true);
  const reservation = binding.reserve?.(podInfoOf(podOf('p', using('one'))), node);
  assert.equal(isFree(), false);
  reservation?.unreserve();
  assert.equal(isFree(), true);
});
