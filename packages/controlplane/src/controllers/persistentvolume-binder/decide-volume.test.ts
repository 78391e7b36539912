import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import fc from 'fast-check';
import { objectAfter } from '../../testing/carry-out.ts';
import { inWords } from '../../testing/in-words.ts';
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
    'a volume that is kept for a claim to come is available',
    volumeWith({ claimRef: { namespace: 'default', name: 'data' } }, {}, 'Pending'),
    undefined,
    'Available',
  ],
  ['an available volume is left alone', volumeWith(), undefined, ''],
  ['a volume its claim has taken is bound', volumeWith(theClaim), hasIt, 'Bound'],
  ['a volume whose claim has yet to take it is left to the claim', volumeWith(theClaim), claimWith(), ''],
  [
    'a device is no filesystem',
    volumeWith({ ...theClaim, volumeMode: 'Block' }),
    claimWith(),
    'VolumeMismatch Cannot bind PersistentVolume to requested PersistentVolumeClaim "data" due to incompatible volumeMode.; VolumeMismatch Cannot bind PersistentVolume "disk" to requested PersistentVolumeClaim due to incompatible volumeMode.',
  ],
  ['a volume whose claim is gone is released', volumeWith(theClaim, {}, 'Bound'), undefined, 'Released'],
  ['a later claim of the name is another', volumeWith(theClaim, {}, 'Bound'), later, 'Released'],
  ['a released volume that is retained is left alone', released({}), undefined, ''],
  ['a released volume is deleted by who made it', released(deleted, madeBy('example.com/disks')), undefined, ''],
  ['a released volume of a driver is deleted by it', released({ ...deleted, csi: csi() }), undefined, ''],
  [
    'what nobody deletes fails',
    localDisk,
    undefined,
    'Failed; VolumeFailedDelete error getting deleter volume plugin for volume "disk": no deletable volume plugin matched',
  ],
  [
    'what Kubernetes itself made in former days fails',
    released(deleted, madeBy('kubernetes.io/rbd')),
    undefined,
    'Failed; VolumeFailedDelete no volume plugin matched name: kubernetes.io/rbd',
  ],
  [
    'folders of a node are not deleted',
    released(deleted),
    undefined,
    'Failed; VolumeFailedDelete host_path deleter only supports /tmp/.+ but received provided /disk',
  ],
  ['but for temporary ones', released({ ...deleted, hostPath: { path: '/tmp/disk' } }), undefined, 'delete disk'],
  ['a failure is told once', volumeWith(deleted, {}, 'Failed'), undefined, ''],
  [
    'nothing is recycled any more',
    released({ ...theClaim, persistentVolumeReclaimPolicy: 'Recycle' }),
    undefined,
    'Failed; VolumeFailedRecycle No recycler plugin found for the volume!',
  ],
  [
    'a driver that has taken over looks after its volumes',
    released(deleted, { 'pv.kubernetes.io/migrated-to': 'disks.example.com' }),
    undefined,
    '',
  ],
  [
    'a volume that was made for a claim that found another is released',
    volumeWith(deleted, madeBy('example.com/disks'), 'Bound'),
    elsewhere,
    'Released',
  ],
  [
    'a volume that was chosen for a claim that found another is free again',
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
    assert.equal([inWords(actions).join(), phase, ...news].filter(Boolean).join('; '), comes);
  });
}

const unboundSpec = (volume: PersistentVolume) => {
  const [action] = decideVolume({ volume, claim: elsewhere }).actions;
  return action?.type === 'update' ? (action.object as PersistentVolume) : undefined;
};

test('a volume that a program had bound forgets the claim whole', () => {
  const unbound = unboundSpec(volumeWith(theClaim, boundByController));
  assert.equal(unbound?.spec?.claimRef, undefined);
  assert.deepEqual(unbound?.metadata.annotations, {});
});

test('a volume that somebody had kept for a claim stays kept', () => {
  assert.deepEqual(unboundSpec(volumeWith(theClaim))?.spec?.claimRef, { namespace: 'default', name: 'data' });
});

function csi() {
  return { driver: 'disks.example.com', volumeHandle: 'h1' };
}

test('a volume comes to rest, and is deleted only where nobody has it and that is wanted', () => {
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
        assert.ok(pass < 4, 'it goes on for ever');
        const decision = decideVolume({ volume, claim: found });
        if (decision.actions.some(({ type }) => type === 'remove')) {
          assert.equal(persistentVolumeReclaimPolicy, 'Delete');
          assert.ok(found?.metadata.uid !== 'c1' || found.spec?.volumeName === 'other', 'its claim has it');
          return;
        }
        const after = objectAfter(volume, decision)!;
        if (decision.actions.length === 0 && decision.status === undefined) return;
        volume = after;
      }
    }),
  );
});
