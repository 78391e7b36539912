import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import fc from 'fast-check';
import { objectAfter } from '../../testing/execute-actions.ts';
import { decide } from './decide.ts';

const ours = 'kubernetes.io/pvc-protection';
const claim = (isTerminating: boolean, finalizers: readonly string[], owner?: string): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: {
    name: 'web-data',
    namespace: 'default',
    finalizers,
    ...(isTerminating ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    ...(owner
      ? { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: owner, controller: true }] }
      : {}),
  },
});
const terminating = claim(true, [ours]);
const pod = (volume: object, more: { nodeName?: string; phase?: 'Succeeded'; metadata?: object } = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'p1', ...more.metadata },
  spec: { containers: [], volumes: [{ name: 'data', ...volume }], nodeName: more.nodeName ?? 'node-1' },
  ...(more.phase ? { status: { phase: more.phase } } : {}),
});
const named = { persistentVolumeClaim: { claimName: 'web-data' } };
const ephemeral = { ephemeral: { volumeClaimTemplate: { spec: {} } } };
const deletionTimestamp = '2026-01-01T00:00:00Z';

const cases: readonly (readonly [
  name: string,
  claim: PersistentVolumeClaim,
  pods: readonly Pod[],
  finalizers: readonly string[] | undefined,
])[] = [
  ['a PVC gets the finalizer', claim(false, []), [], [ours]],
  ['a PVC with the finalizer is unchanged', claim(false, [ours]), [], undefined],
  ['a terminating PVC without Pods loses the finalizer', claim(true, ['a', ours]), [], ['a']],
  ['a terminating PVC keeps the finalizer while a Pod uses it', terminating, [pod(named)], undefined],
  ['a finished Pod still uses its PVC', terminating, [pod(named, { phase: 'Succeeded' })], undefined],
  ['an unscheduled Pod does not use its PVC', terminating, [pod(named, { nodeName: '' })], []],
  ['a Pod that uses another PVC', terminating, [pod({ persistentVolumeClaim: { claimName: 'other' } })], []],
  ['a Pod uses the PVC of its ephemeral volume', claim(true, [ours], 'p1'), [pod(ephemeral)], undefined],
  ['a Pod does not use the ephemeral PVC of another Pod', claim(true, [ours], 'p0'), [pod(ephemeral)], []],
  [
    'a Pod that is shut down does not use its PVC',
    claim(true, [ours], 'p1'),
    [pod(ephemeral, { metadata: { deletionTimestamp, deletionGracePeriodSeconds: 0 } })],
    [],
  ],
  [
    'a Pod that is shutting down uses its PVC',
    claim(true, [ours], 'p1'),
    [pod(ephemeral, { metadata: { deletionTimestamp, deletionGracePeriodSeconds: 30 } })],
    undefined,
  ],
  ['foreign finalizers are kept', claim(true, ['a']), [], undefined],
];
for (const [name, given, pods, finalizers] of cases) {
  test(name, () => {
    const [action] = decide({ claim: given, pods }).actions;
    assert.deepEqual(action?.type === 'update' ? action.object.metadata.finalizers : undefined, finalizers);
  });
}

test('no PVC is deleted while a Pod uses it, and the decision is idempotent', () => {
  const users = fc.subarray([pod(named), pod(named, { nodeName: '' }), pod(ephemeral), pod({ emptyDir: {} })]);
  const owner = fc.constantFrom(undefined, 'p1', 'p0');
  fc.assert(
    fc.property(fc.boolean(), fc.subarray([ours, 'example.com/a']), owner, users, (isTerminating, held, uid, pods) => {
      const before = claim(isTerminating, held, uid);
      const after = objectAfter(before, decide({ claim: before, pods }));
      const isUsed = pods.some((each) => each.spec?.nodeName && each.spec.volumes?.[0]?.persistentVolumeClaim);
      if (isUsed && held.includes(ours)) assert.ok(after);
      if (after) assert.deepEqual(decide({ claim: after, pods }).actions, []);
    }),
  );
});
