import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import { summarizeActions } from '@kruise/workload-kit/testing/summarize-actions';
import fc from 'fast-check';
import { executeActions } from '../../testing/execute-actions.ts';
import { decide } from './decide.ts';

const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } as const;
const pod = (more = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'p1', ...more },
  spec: {
    containers: [],
    volumes: [
      { name: 'tmp', emptyDir: {} },
      { name: 'a', ephemeral: { volumeClaimTemplate: { metadata: { labels: { app: 'web' } }, spec } } },
      { name: 'b', ephemeral: { volumeClaimTemplate: { spec } } },
    ],
  },
});
const claim = (name: string, uid: string): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: {
    name,
    namespace: 'default',
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid, controller: true }],
  },
});
const decided = (given: Pod, ...claims: readonly PersistentVolumeClaim[]) =>
  decide({ pod: given, claimOf: (name) => claims.find(({ metadata }) => metadata.name === name) });

const cases: readonly (readonly [string, Pod, readonly PersistentVolumeClaim[], readonly string[]])[] = [
  ['a PVC is created for each volume', pod(), [], ['create web-a', 'create web-b']],
  ['existing PVCs are kept', pod(), [claim('web-a', 'p1')], ['create web-b']],
  ['PVCs of an earlier Pod are a conflict', pod(), [claim('web-a', 'p0')], ['record FailedBinding']],
  ['no PVC is created for a terminating Pod', pod({ deletionTimestamp: '2026-01-01T00:00:00Z' }), [], []],
];
for (const [name, given, claims, words] of cases) {
  test(name, () => assert.deepEqual(summarizeActions(decided(given, ...claims).actions), words));
}

test('a PVC has its template, and is owned by the Pod', () => {
  const [action] = decided(pod()).actions;
  assert.deepEqual(action?.type === 'create' && action.object, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: 'web-a',
      namespace: 'default',
      labels: { app: 'web' },
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'p1', controller: true, blockOwnerDeletion: true },
      ],
    },
    spec,
  });
});

test('a conflicting PVC is named in the event', () => {
  const [action] = decided(pod(), claim('web-a', 'p0')).actions;
  assert.equal(
    action?.type === 'record' && action.event.message,
    'ephemeral volume a: PVC default/web-a was not created for pod default/web (pod is not owner)',
  );
});

test('no PVC is created twice or changed', () => {
  const claims = fc
    .subarray(['web-a', 'web-b', 'web-tmp'])
    .chain((names) => fc.tuple(...names.map((name) => fc.constantFrom('p1', 'p0').map((uid) => claim(name, uid)))));
  fc.assert(
    fc.property(claims, (present) => {
      const after = executeActions<PersistentVolumeClaim>(present, decided(pod(), ...present).actions);
      assert.deepEqual(after.slice(0, present.length), present);
      const again = decided(pod(), ...after).actions;
      assert.ok(again.every(({ type }) => type === 'record'));
    }),
  );
});
