import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statefulSet } from '@kruise/api/apps/statefulset';
import type { Pod } from '@kruise/api/core/pod';
import type { PersistentPodState } from '@kruise/api/kruise/persistentpodstate';
import type { Caches, Change } from '@kruise/client/informer';
import { type KubernetesObject, keyOf } from '@kruise/client/object-key';
import { createObjectStore } from '@kruise/client/object-store';
import { featureGates } from '../configuration/feature-gates.ts';
import { keysOfWorkload, statesOfPod, targetOf } from './mappers.ts';
import { builtinKinds } from './workloads.ts';

type Metadata = KubernetesObject['metadata'];

const auto = { 'kruise.io/auto-generate-persistent-pod-state': 'true' };
const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'u', controller: true };
const generation = 'default/generate#apps/v1#StatefulSet#web';

const stateOf = (name: string, metadata: Metadata = {}): PersistentPodState => ({
  apiVersion: 'apps.kruise.io/v1beta1',
  kind: 'PersistentPodState',
  metadata: { name, namespace: 'default', ...metadata },
  spec: { targetRef: { apiVersion: 'apps/v1beta2', kind: 'StatefulSet', name: 'web' } },
});

/** Returns caches with PersistentPodStates only. */
function cachesOf(...states: readonly PersistentPodState[]): Caches {
  const store = createObjectStore<PersistentPodState>();
  for (const state of states) store.set(keyOf(state), state);
  return { of: () => store } as unknown as Caches;
}

const set = (metadata: Metadata = {}): KubernetesObject => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'web', namespace: 'default', uid: 'u', ...metadata },
});
const changes: readonly (readonly [string, Partial<Change<KubernetesObject>>, Caches, readonly string[]])[] = [
  ['is created', {}, cachesOf(), []],
  ['is created with the annotation', { object: set({ annotations: auto }) }, cachesOf(), [generation]],
  [
    'lost the annotation while the manager was down',
    {},
    cachesOf(stateOf('web', { ownerReferences: [owner] })),
    [generation],
  ],
  ['has a user-created PersistentPodState', {}, cachesOf(stateOf('web')), []],
  [
    'gets the annotation',
    { type: 'updated', previous: set(), object: set({ annotations: auto }) },
    cachesOf(),
    [generation],
  ],
  [
    'gets other annotations',
    { type: 'updated', previous: set(), object: set({ annotations: { 'kruise.io/persistent-pod-annotations': 'a' } }) },
    cachesOf(stateOf('web')),
    [],
  ],
  [
    'is scaled',
    { type: 'updated', previous: set({ generation: 1 }), object: set({ generation: 2 }) },
    cachesOf(stateOf('mine')),
    ['default/mine'],
  ],
  [
    'is terminating',
    { type: 'updated', previous: set(), object: set({ deletionTimestamp: '2026-01-01T00:00:00Z' }) },
    cachesOf(stateOf('mine')),
    ['default/mine'],
  ],
  ['is deleted', { type: 'deleted', object: set({ annotations: auto }) }, cachesOf(stateOf('mine')), ['default/mine']],
];
for (const [is, change, caches, keys] of changes) {
  test(`a workload that ${is} enqueues ${keys.join() || 'nothing'}`, () => {
    const whole: Change<KubernetesObject> = { type: 'added', object: set(), cause: 'event', ...change };
    assert.deepEqual(keysOfWorkload(statefulSet)(whole, caches), keys);
  });
}

const podOf = (ready: 'True' | 'False', metadata: Metadata = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web-0', namespace: 'default', ownerReferences: [owner], ...metadata },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready }] },
});
const leaving = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const elsewhere = { ownerReferences: [{ ...owner, kind: 'ReplicaSet' }] };
const podChanges: readonly (readonly [string, Partial<Change<Pod>>, boolean])[] = [
  ['is created', { object: podOf('False') }, false],
  ['is first observed when it is ready', { object: podOf('True') }, true],
  ['becomes ready', { type: 'updated', previous: podOf('False'), object: podOf('True') }, true],
  ['stays ready', { type: 'updated', previous: podOf('True'), object: podOf('True') }, false],
  ['is not ready any more', { type: 'updated', previous: podOf('True'), object: podOf('False') }, false],
  ['is terminating', { type: 'updated', previous: podOf('True'), object: podOf('True', leaving) }, true],
  ['is deleted', { type: 'deleted', object: podOf('False', leaving) }, true],
  ['belongs to another kind of workload', { type: 'deleted', object: podOf('True', elsewhere) }, false],
  ['is orphaned', { type: 'deleted', object: podOf('True', { ownerReferences: [] }) }, false],
];
for (const [is, change, isNews] of podChanges) {
  test(`a Pod that ${is} enqueues ${isNews ? 'its PersistentPodState' : 'nothing'}`, () => {
    const whole: Change<Pod> = { type: 'added', object: podOf('False'), cause: 'event', ...change };
    const wake = statesOfPod(builtinKinds(featureGates()));
    assert.deepEqual(wake(whole, cachesOf(stateOf('mine'))), isNews ? ['default/mine'] : []);
    assert.deepEqual(wake(whole, cachesOf()), []);
  });
}

test('a workload key differs from the keys of PersistentPodStates', () => {
  assert.deepEqual(targetOf(generation), { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' });
  for (const key of ['default/web', 'default/generate', 'default/generate#apps/v1#StatefulSet']) {
    assert.equal(targetOf(key), undefined);
  }
});
