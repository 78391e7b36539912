import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@kruise/api/core/node';
import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { StorageClass } from '@kruise/api/storage/storageclass';
import { type Action, flattenSteps } from '@kruise/client/actions';
import { instantOf } from '@kruise/values/time';
import { summarizeActions } from '@kruise/workload-kit/testing/summarize-actions';
import { type ClaimObserved, decideClaim } from './decide-claim.ts';
import { decideVolume } from './decide-volume.ts';

const now = instantOf(2026, 1, 1);
const finalizer = 'external-provisioner.volume.kubernetes.io/finalizer';
type ClaimSpec = NonNullable<PersistentVolumeClaim['spec']>;
type ClaimStatus = NonNullable<PersistentVolumeClaim['status']>;

const asked = {
  'volume.kubernetes.io/storage-provisioner': 'local.kruise.io',
  'volume.kubernetes.io/selected-node': 'node-1',
};
const claim = (
  spec: Partial<ClaimSpec> = {},
  annotations: { [name: string]: string } = asked,
  status: ClaimStatus = { phase: 'Pending' },
): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'default', uid: 'c1', resourceVersion: '7', annotations },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '5Gi' } }, ...spec },
  status,
});
const storageClass: StorageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'standard' },
  provisioner: 'local.kruise.io',
};
const node: Node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node-1', labels: { 'kubernetes.io/hostname': 'host-1' } },
};
const volume = (
  phase: NonNullable<PersistentVolume['status']>['phase'] & string,
  more: {
    policy?: 'Delete' | 'Retain';
    by?: string;
    isTerminating?: boolean;
    finalizers?: string[];
    storage?: string;
  } = {},
): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: {
    name: 'pvc-c1',
    annotations: {
      'pv.kubernetes.io/provisioned-by': more.by ?? 'local.kruise.io',
      'local.kruise.io/node': 'node-1',
    },
    finalizers: more.finalizers ?? [finalizer],
    ...(more.isTerminating ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
  },
  spec: {
    persistentVolumeReclaimPolicy: more.policy ?? 'Delete',
    capacity: { storage: more.storage ?? '5Gi' },
    claimRef: { name: 'data', namespace: 'default', uid: 'c1' },
    hostPath: { path: '/volumes/pvc-c1' },
  },
  status: { phase },
});
const world = (more: Partial<ClaimObserved> = {}): ClaimObserved => ({
  claim: claim(),
  storageClass,
  volume: undefined,
  node,
  ...more,
});
const summary = (actions: readonly Action[]) =>
  actions.map((action) =>
    action.type === 'record' && action.event.type === 'Warning' ? action.event.message : summarizeActions([action])[0],
  );
const failed = 'failed to provision volume with StorageClass "standard": ';

const provisions: readonly (readonly [name: string, observed: ClaimObserved, words: readonly string[]])[] = [
  ['a PVC with a selected node gets a volume', world(), ['record Provisioning', 'create pvc-c1']],
  ['a PVC gets one volume', world({ volume: volume('Available') }), []],
  ['a PVC of another provisioner is ignored', world({ claim: claim({}, {}) }), []],
  [
    'a PVC whose class changed its provisioner is ignored',
    world({ storageClass: { ...storageClass, provisioner: 'x' } }),
    [],
  ],
  ['a missing storage class is awaited', world({ storageClass: undefined }), []],
  ['a deleted node must be selected again', world({ node: undefined }), ['update data']],
  [
    'a directory cannot be shared by nodes',
    world({ claim: claim({ accessModes: ['ReadWriteMany'] }) }),
    [`${failed}accessMode ReadWriteMany is not supported: a volume is on one node`],
  ],
  [
    'a directory is not a block device',
    world({ claim: claim({ volumeMode: 'Block' }) }),
    [`${failed}volumeMode Block is not supported: a volume is a directory`],
  ],
  [
    'a PVC without a consumer has no node',
    world({ claim: claim({}, { 'volume.kubernetes.io/storage-provisioner': 'local.kruise.io' }) }),
    [`${failed}no node was selected: the class must have volumeBindingMode WaitForFirstConsumer`],
  ],
  [
    'label selectors are not supported',
    world({ claim: claim({ selector: {} }) }),
    [`${failed}claim.spec.selector is not supported`],
  ],
];
for (const [name, observed, words] of provisions) {
  test(name, () => assert.deepEqual(summary(flattenSteps(decideClaim(observed, now).actions)), words));
}

test('a volume is a directory with an affinity to its node', () => {
  const made = decideClaim(world(), now).actions.find(({ type }) => type === 'create');
  assert.deepEqual(made?.type === 'create' && made.object, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: 'pvc-c1',
      annotations: { 'pv.kubernetes.io/provisioned-by': 'local.kruise.io', 'local.kruise.io/node': 'node-1' },
      finalizers: [finalizer],
    },
    spec: {
      capacity: { storage: '5Gi' },
      accessModes: ['ReadWriteOnce'],
      volumeMode: 'Filesystem',
      storageClassName: 'standard',
      persistentVolumeReclaimPolicy: 'Delete',
      claimRef: {
        kind: 'PersistentVolumeClaim',
        apiVersion: 'v1',
        namespace: 'default',
        name: 'data',
        uid: 'c1',
        resourceVersion: '7',
      },
      hostPath: { path: '/var/lib/kruise/volumes/pvc-c1_default_data', type: 'DirectoryOrCreate' },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['host-1'] }] },
          ],
        },
      },
    },
  });
});

const bound = (storage: string, status: Partial<ClaimStatus> = {}) =>
  claim(
    { volumeName: 'pvc-c1', resources: { requests: { storage } } },
    {},
    {
      phase: 'Bound',
      capacity: { storage: '5Gi' },
      ...status,
    },
  );
const resizing: Partial<ClaimStatus> = {
  conditions: [{ type: 'Resizing', status: 'True' }],
  allocatedResources: { storage: '8Gi' },
  allocatedResourceStatuses: { storage: 'ControllerResizeInProgress' },
};

test('a PVC that requests more storage gets the resize status', () => {
  const { actions, status, events } = decideClaim(world({ claim: bound('8Gi'), volume: volume('Bound') }), now);
  assert.deepEqual(actions, []);
  const { conditions, allocatedResources, capacity } = status as ClaimStatus;
  assert.deepEqual(
    [conditions?.[0]?.type, allocatedResources, capacity],
    ['Resizing', { storage: '8Gi' }, { storage: '5Gi' }],
  );
  assert.deepEqual(
    events?.map(({ reason }) => reason),
    ['Resizing'],
  );
});

test('the volume is expanded before the PVC', () => {
  const observed = world({ claim: bound('8Gi', resizing), volume: volume('Bound') });
  const { actions, status, events } = decideClaim(observed, now);
  assert.deepEqual(summarizeActions(actions), ['update pvc-c1']);
  assert.deepEqual(status, {
    phase: 'Bound',
    capacity: { storage: '8Gi' },
    conditions: [],
    allocatedResources: { storage: '8Gi' },
    allocatedResourceStatuses: {},
  });
  assert.deepEqual(
    events?.map(({ reason }) => reason),
    ['VolumeResizeSuccessful'],
  );
});

const atRest: readonly (readonly [string, ClaimObserved])[] = [
  ['a PVC with enough storage is unchanged', world({ claim: bound('5Gi'), volume: volume('Bound') })],
  [
    'the volume of another provisioner is ignored',
    world({ claim: bound('8Gi'), volume: volume('Bound', { by: 'x' }) }),
  ],
];
for (const [name, observed] of atRest) {
  test(name, () => assert.deepEqual(decideClaim(observed, now), { actions: [] }));
}

const deletions: readonly (readonly [name: string, volume: PersistentVolume, words: readonly string[]])[] = [
  ['a bound volume is kept', volume('Bound', { isTerminating: true }), []],
  ['a released volume is deleted after its files', volume('Released'), ['effect remove directory', 'delete pvc-c1']],
  [
    'a terminating volume loses its finalizer after its files are deleted',
    volume('Released', { isTerminating: true }),
    ['effect remove directory', 'update pvc-c1'],
  ],
  ['a volume with Retain is kept', volume('Released', { policy: 'Retain' }), []],
  [
    'a terminating volume with Retain loses its finalizer and keeps its files',
    volume('Released', { policy: 'Retain', isTerminating: true }),
    ['update pvc-c1'],
  ],
  ['foreign finalizers are kept', volume('Released', { isTerminating: true, finalizers: ['other'] }), []],
  ['a new volume waits for its PVC', volume('Pending'), []],
  ['the volume of another provisioner is kept', volume('Released', { by: 'x' }), []],
];
for (const [name, given, words] of deletions) {
  test(name, () => assert.deepEqual(summarizeActions(decideVolume(given).actions), words));
}
