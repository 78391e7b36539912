import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OwnerReference } from '@kruise/machinery/owner-references';
import { ownerReference } from '@kruise/machinery/owner-references';
import { featureGates } from '../configuration/feature-gates.ts';
import { claimOf, podOf, setOf } from './fixtures.ts';
import { desiredOwners, isOwnedByFormerPod } from './volume-claims.ts';

const pod = podOf(1);
const [setRef, podRef] = [ownerReference(setOf()), ownerReference(pod)];
const strangerRef: OwnerReference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: 'other-uid' };

const cases = [
  { whenScaled: 'Retain', whenDeleted: 'Retain', isCondemned: false, owners: [] },
  { whenScaled: 'Retain', whenDeleted: 'Retain', isCondemned: true, owners: [] },
  { whenScaled: 'Retain', whenDeleted: 'Delete', isCondemned: false, owners: [setRef] },
  { whenScaled: 'Retain', whenDeleted: 'Delete', isCondemned: true, owners: [setRef] },
  { whenScaled: 'Delete', whenDeleted: 'Retain', isCondemned: false, owners: [] },
  { whenScaled: 'Delete', whenDeleted: 'Retain', isCondemned: true, owners: [podRef] },
  { whenScaled: 'Delete', whenDeleted: 'Delete', isCondemned: false, owners: [setRef] },
  { whenScaled: 'Delete', whenDeleted: 'Delete', isCondemned: true, owners: [podRef] },
] as const;

for (const { whenScaled, whenDeleted, isCondemned, owners } of cases) {
  const what = isCondemned ? 'of a deleted Pod' : 'of a remaining Pod';
  test(`whenScaled ${whenScaled}, whenDeleted ${whenDeleted}: a PVC ${what} gets the right owners, whatever it had`, () => {
    const set = setOf({ persistentVolumeClaimRetentionPolicy: { whenScaled, whenDeleted } });
    for (const had of [[], [setRef], [podRef], [setRef, podRef]]) {
      const claim = claimOf('data-web-1', { ownerReferences: [strangerRef, ...had] });
      const wanted = desiredOwners(claim, { set, pod, isCondemned }) ?? claim.metadata.ownerReferences;
      assert.deepEqual(wanted, [strangerRef, ...owners]);
    }
  });
}

test('a set without a policy retains its PVCs', () => {
  assert.equal(desiredOwners(claimOf('data-web-1'), { set: setOf(), pod, isCondemned: true }), undefined);
});

test('a PVC owned by a former Pod of the same name is not reused', () => {
  const member = (whenScaled: 'Retain' | 'Delete', isOn = true) => ({
    set: setOf({ persistentVolumeClaimRetentionPolicy: { whenScaled, whenDeleted: 'Retain' } }),
    pod: { ...pod, metadata: { name: 'web-1' } },
    ordinal: 1,
    isCondemned: false,
    findClaim: () => undefined,
    gates: featureGates({ StatefulSetAutoDeletePVC: isOn }),
  });
  const claim = claimOf('data-web-1', { ownerReferences: [podRef] });
  assert.equal(isOwnedByFormerPod(claim, member('Delete')), true);
  assert.equal(isOwnedByFormerPod(claim, member('Retain')), false);
  assert.equal(isOwnedByFormerPod(claim, member('Delete', false)), false);
  assert.equal(isOwnedByFormerPod(claimOf('data-web-1', { ownerReferences: [setRef] }), member('Delete')), false);
});
