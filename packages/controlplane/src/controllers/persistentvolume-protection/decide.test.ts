import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import fc from 'fast-check';
import { objectAfter } from '../../testing/carry-out.ts';
import { decide } from './decide.ts';

const ours = 'kubernetes.io/pv-protection';
const volume = (phase: 'Available' | 'Bound' | 'Released', isGoing: boolean, finalizers: readonly string[]) =>
  ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'disk', finalizers, ...(isGoing ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}) },
    status: { phase },
  }) satisfies PersistentVolume;

const cases: readonly (readonly [name: string, volume: PersistentVolume, finalizers: readonly string[] | undefined])[] =
  [
    ['a volume is held', volume('Available', false, ['a']), ['a', ours]],
    ['a volume that is held is left alone', volume('Available', false, [ours]), undefined],
    ['a volume that is to go stays while it is bound', volume('Bound', true, [ours]), undefined],
    ['a volume that is to go goes once it is released', volume('Released', true, ['a', ours]), ['a']],
    ['a volume that was never bound goes', volume('Available', true, [ours]), []],
    ['a volume that others hold is left to them', volume('Released', true, ['a']), undefined],
  ];
for (const [name, given, finalizers] of cases) {
  test(name, () => {
    const [action] = decide(given).actions;
    assert.deepEqual(action?.type === 'update' ? action.object.metadata.finalizers : undefined, finalizers);
  });
}

test('no volume goes while it is bound, and it has nothing to add to its own decision', () => {
  const finalizers = fc.subarray([ours, 'example.com/a']);
  fc.assert(
    fc.property(fc.constantFrom('Available', 'Bound', 'Released'), fc.boolean(), finalizers, (phase, isGoing, held) => {
      const before: PersistentVolume = volume(phase, isGoing, held);
      const after = objectAfter(before, decide(before));
      if (phase === 'Bound' && held.includes(ours)) assert.ok(after);
      if (after) assert.deepEqual(decide(after).actions, []);
    }),
  );
});
