import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { decide, hasGrown } from './decide.ts';

const claim = (storage: string, has = '5Gi', phase: 'Pending' | 'Bound' = 'Bound'): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'default', uid: 'c1' },
  spec: { volumeName: 'disk', resources: { requests: { storage } } },
  status: { phase, capacity: { storage: has } },
});
const volumeOf = (uid: string): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'disk' },
  spec: { claimRef: { name: 'data', namespace: 'default', uid } },
});

const cases: readonly (readonly [string, PersistentVolumeClaim, PersistentVolume | undefined, boolean])[] = [
  ['a claim that asks for more than it has waits', claim('10Gi'), volumeOf('c1'), true],
  ['a claim that has what it asks for does not', claim('5Gi'), volumeOf('c1'), false],
  ['the same size in other words is no more', claim('5120Mi'), volumeOf('c1'), false],
  ['a claim that has less than its volume does not', claim('3Gi'), volumeOf('c1'), false],
  ['a claim that is not bound yet has nothing to enlarge', claim('10Gi', '5Gi', 'Pending'), volumeOf('c1'), false],
  ['the volume of another is not enlarged', claim('10Gi'), volumeOf('c2'), false],
  ['no volume is not enlarged', claim('10Gi'), undefined, false],
];
for (const [name, given, volume, waits] of cases) {
  test(name, () => {
    const told = decide({ claim: given, volume }).events?.map(({ reason, message }) => `${reason}: ${message}`) ?? [];
    assert.deepEqual(told, waits ? ['ExternalExpanding: waiting for an external controller to expand this PVC'] : []);
  });
}

test('a claim matters when it asks for more, or has got more', () => {
  assert.equal(hasGrown(claim('10Gi'), claim('5Gi')), true);
  assert.equal(hasGrown(claim('10Gi', '10Gi'), claim('10Gi')), true);
  assert.equal(hasGrown(claim('10Gi'), claim('10Gi')), false);
});
