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
  ['a PVC that requests more than it has gets an event', claim('10Gi'), volumeOf('c1'), true],
  ['a PVC that has its requested size gets none', claim('5Gi'), volumeOf('c1'), false],
  ['an equal size in another notation is not an expansion', claim('5120Mi'), volumeOf('c1'), false],
  ['a PVC with a smaller capacity than its volume gets none', claim('3Gi'), volumeOf('c1'), false],
  ['an unbound PVC is not expanded', claim('10Gi', '5Gi', 'Pending'), volumeOf('c1'), false],
  ['the volume of another PVC is not expanded', claim('10Gi'), volumeOf('c2'), false],
  ['a PVC without a volume is not expanded', claim('10Gi'), undefined, false],
];
for (const [name, given, volume, waits] of cases) {
  test(name, () => {
    const events = decide({ claim: given, volume }).events?.map(({ reason, message }) => `${reason}: ${message}`) ?? [];
    assert.deepEqual(events, waits ? ['ExternalExpanding: waiting for an external controller to expand this PVC'] : []);
  });
}

test('a PVC is enqueued when it requests more, or has more', () => {
  assert.equal(hasGrown(claim('10Gi'), claim('5Gi')), true);
  assert.equal(hasGrown(claim('10Gi', '10Gi'), claim('10Gi')), true);
  assert.equal(hasGrown(claim('10Gi'), claim('10Gi')), false);
});
