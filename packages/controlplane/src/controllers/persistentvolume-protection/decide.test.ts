import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import fc from 'fast-check';
import { objectAfter } from '../../testing/execute-actions.ts';
import { decide } from './decide.ts';

const ours = 'kubernetes.io/pv-protection';
const volume = (phase: 'Available' | 'Bound' | 'Released', isTerminating: boolean, finalizers: readonly string[]) =>
  ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'disk', finalizers, ...(isTerminating ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}) },
    status: { phase },
  }) satisfies PersistentVolume;

const cases: readonly (readonly [name: string, volume: PersistentVolume, finalizers: readonly string[] | undefined])[] =
  [
    ['a volume gets the finalizer', volume('Available', false, ['a']), ['a', ours]],
    ['a volume with the finalizer is unchanged', volume('Available', false, [ours]), undefined],
    ['a terminating volume keeps the finalizer while it is bound', volume('Bound', true, [ours]), undefined],
    ['a terminating volume loses the finalizer once it is released', volume('Released', true, ['a', ours]), ['a']],
    ['a terminating volume that was never bound loses the finalizer', volume('Available', true, [ours]), []],
    ['foreign finalizers are kept', volume('Released', true, ['a']), undefined],
  ];
for (const [name, given, finalizers] of cases) {
  test(name, () => {
    const [action] = decide(given).actions;
    assert.deepEqual(action?.type === 'update' ? action.object.metadata.finalizers : undefined, finalizers);
  });
}

test('no volume is deleted while it is bound, and the decision is idempotent', () => {
  const finalizers = fc.subarray([ours, 'example.com/a']);
  fc.assert(
    fc.property(
      fc.constantFrom('Available', 'Bound', 'Released'),
      fc.boolean(),
      finalizers,
      (phase, isTerminating, held) => {
        const before: PersistentVolume = volume(phase, isTerminating, held);
        const after = objectAfter(before, decide(before));
        if (phase === 'Bound' && held.includes(ours)) assert.ok(after);
        if (after) assert.deepEqual(decide(after).actions, []);
      },
    ),
  );
});
