import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { summarizeActions } from '@kruise/workload-kit/testing/summarize-actions';
import fc from 'fast-check';
import { objectAfter } from '../../testing/execute-actions.ts';
import { decideVolume } from './decide-volume.ts';
import { boundByController, claimWith, theClaim, volumeWith } from './fixtures.ts';

const hasIt = claimWith({ volumeName: 'disk' });
const elsewhere = claimWith({ volumeName: 'other' });
const madeBy = (provisioner: string) => ({ 'pv.kubernetes.io/provisioned-by': provisioner });
const deleted = { ...theClaim, persistentVolumeReclaimPolicy: 'Delete' } as const;
const released = (spec: Parameters<typeof volumeWith>[0], annotations = {}) =>
  volumeWith({ ...theClaim, ...spec }, annotations, 'Released');
const localDisk = (() => {
  const { hostPath: _, ...spec } = released(deleted).spec ?? {};
  return { ...released(deleted), spec: { ...spec, local: { path: '/disk' } } };
})();
const later: PersistentVolumeClaim = { ...hasIt, metadata: { ...hasIt.metadata, uid: 'c2' } };

const cases: readonly (readonly [
  name: string,
  volume: PersistentVolume,
  claim: PersistentVolumeClaim | undefined,
  comes: string,
])[] = [
  ['a new volume is available', volumeWith({}, {}, 'Pending'), undefined, 'Available'],
  [
    'a volume pre-bound to a future PVC is available',
    volumeWith({ claimRef: { namespace: 'default', name: 'data' } }, {}, 'Pending'),
    undefined,
    'Available',
  ],
  ['an available volume is unchanged', volumeWith(), undefined, ''],
  ['a volume whose PVC refers to it is bound', volumeWith(theClaim), hasIt, 'Bound'],
  ['a volume whose PVC is not bound yet is left to the PVC', volumeWith(theClaim), claimWith(), ''],
  [
    'a block volume does not match a filesystem PVC',
    volumeWith({ ...theClaim, volumeMode: 'Block' }),
    claimWith(),
    'VolumeMismatch Cannot bind PersistentVolume to requested PersistentVolumeClaim "data" due to incompatible volumeMode.; VolumeMismatch Cannot bind PersistentVolume "disk" to requested PersistentVolumeClaim due to incompatible volumeMode.',
  ],
  ['a volume whose PVC is deleted is released', volumeWith(theClaim, {}, 'Bound'), undefined, 'Released'],
  ['a recreated PVC of the same name is another one', volumeWith(theClaim, {}, 'Bound'), later, 'Released'],
  ['a released volume with Retain is unchanged', released({}), undefined, ''],
  ['a released volume is deleted by its provisioner', released(deleted, madeBy('example.com/disks')), undefined, ''],
  ['a released CSI volume is deleted by its driver', released({ ...deleted, csi: csi() }), undefined, ''],
  [
    'a volume without a deleter fails',
    localDisk,
    undefined,
    'Failed; VolumeFailedDelete error getting deleter volume plugin for volume "disk": no deletable volume plugin matched',
  ],
  [
    'a volume of a removed in-tree plugin fails',
    released(deleted, madeBy('kubernetes.io/rbd')),
    undefined,
    'Failed; VolumeFailedDelete no volume plugin matched name: kubernetes.io/rbd',
  ],
  [
    'host paths are not deleted',
    released(deleted),
    undefined,
    'Failed; VolumeFailedDelete host_path deleter only supports /tmp/.+ but received provided /disk',
  ],
  [
    'temporary host paths are deleted',
    released({ ...deleted, hostPath: { path: '/tmp/disk' } }),
    undefined,
    'delete disk',
  ],
  ['a failure is reported once', volumeWith(deleted, {}, 'Failed'), undefined, ''],
  [
    'Recycle is not supported any more',
    released({ ...theClaim, persistentVolumeReclaimPolicy: 'Recycle' }),
    undefined,
    'Failed; VolumeFailedRecycle No recycler plugin found for the volume!',
  ],
  [
    'a migrated volume is deleted by its driver',
    released(deleted, { 'pv.kubernetes.io/migrated-to': 'disks.example.com' }),
    undefined,
    '',
  ],
  [
    'a volume provisioned for a PVC with another volume is released',
    volumeWith(deleted, madeBy('example.com/disks'), 'Bound'),
    elsewhere,
    'Released',
  ],
  [
    'a volume chosen for a PVC with another volume is unbound',
    volumeWith(theClaim, boundByController, 'Bound'),
    elsewhere,
    'update disk; Available',
  ],
];
for (const [name, volume, claim, comes] of cases) {
  test(name, () => {
    const { actions, status, events = [] } = decideVolume({ volume, claim });
    const phase = (status as PersistentVolume['status'])?.phase ?? '';
    const news = events.map(({ reason, message }) => `${reason} ${message}`);
    assert.equal([summarizeActions(actions).join(), phase, ...news].filter(Boolean).join('; '), comes);
  });
}

const unboundSpec = (volume: PersistentVolume) => {
  const [action] = decideVolume({ volume, claim: elsewhere }).actions;
  return action?.type === 'update' ? (action.object as PersistentVolume) : undefined;
};

test('a volume bound by the controller loses its whole claimRef', () => {
  const unbound = unboundSpec(volumeWith(theClaim, boundByController));
  assert.equal(unbound?.spec?.claimRef, undefined);
  assert.deepEqual(unbound?.metadata.annotations, {});
});

test('a volume pre-bound by a user stays pre-bound', () => {
  assert.deepEqual(unboundSpec(volumeWith(theClaim))?.spec?.claimRef, { namespace: 'default', name: 'data' });
});

function csi() {
  return { driver: 'disks.example.com', volumeHandle: 'h1' };
}

test('a volume becomes stable, and is deleted only if it is unbound and its policy is Delete', () => {
  const reclaim = fc.constantFrom('Retain', 'Delete', 'Recycle');
  const phase = fc.constantFrom('Pending', 'Available', 'Bound', 'Released', 'Failed');
  const annotations = fc.constantFrom({}, madeBy('example.com/disks'), madeBy('kubernetes.io/rbd'), boundByController);
  const reference = fc.constantFrom({}, theClaim);
  const claim = fc.constantFrom(undefined, hasIt, elsewhere, later, claimWith());
  fc.assert(
    fc.property(reclaim, phase, annotations, reference, claim, (persistentVolumeReclaimPolicy, ...rest) => {
      const [before, noted, kept, found] = rest;
      let volume: PersistentVolume = volumeWith({ ...kept, persistentVolumeReclaimPolicy }, noted, before);
      for (let pass = 0; ; pass++) {
        assert.ok(pass < 4, 'the reconciles terminate');
        const decision = decideVolume({ volume, claim: found });
        if (decision.actions.some(({ type }) => type === 'remove')) {
          assert.equal(persistentVolumeReclaimPolicy, 'Delete');
          assert.ok(
            found?.metadata.uid !== 'c1' || found.spec?.volumeName === 'other',
            'the PVC is bound to the volume',
          );
          return;
        }
        const after = objectAfter(volume, decision)!;
        if (decision.actions.length === 0 && decision.status === undefined) return;
        volume = after;
      }
    }),
  );
});
