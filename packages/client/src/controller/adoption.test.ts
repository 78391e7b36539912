import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import { type ReplicationController, replicationController } from '@kruise/api/core/replicationcontroller';
import { claimsOf } from '@kruise/machinery/claims';
import { selectorOfLabels } from '@kruise/machinery/label-selector';
import type { Caches, Change } from '../cache/informer.ts';
import { createObjectStore } from '../cache/object-store.ts';
import { candidatesFor, claimPatches, mapToAdopters } from './adoption.ts';

const owner = {
  apiVersion: 'v1',
  kind: 'ReplicationController',
  metadata: { name: 'web', namespace: 'default', uid: 'me', resourceVersion: '1' },
  spec: { selector: { app: 'web' } },
} satisfies ReplicationController;
const mine = { apiVersion: 'v1', kind: 'ReplicationController', name: 'web', uid: 'me', controller: true };
const another = { apiVersion: 'v1', kind: 'ReplicationController', name: 'db', uid: 'other', controller: true };
const bystander = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' };

function podOf(name: string, metadata: Pod['metadata'] = {}): Pod {
  const base = { name, namespace: 'default', uid: name, resourceVersion: '7', labels: { app: 'web' } };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...base, ...metadata } };
}
const deletionTimestamp = '2026-01-01T00:00:00Z';
const names = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.name);

test('the candidates are the objects that an owner controls and the orphans in its namespace', () => {
  const store = createObjectStore<Pod>();
  for (const each of [
    podOf('mine', { ownerReferences: [mine] }),
    podOf('mine-and-leaving', { ownerReferences: [mine], deletionTimestamp }),
    podOf('another', { ownerReferences: [another] }),
    podOf('orphan', { ownerReferences: [bystander] }),
    podOf('leaving', { deletionTimestamp }),
    podOf('elsewhere', { namespace: 'other' }),
  ]) {
    store.set(`${each.metadata.namespace}/${each.metadata.name}`, each);
  }
  assert.deepEqual(names(candidatesFor(store, owner)), ['mine', 'mine-and-leaving', 'orphan']);
});

test('an orphan gets a controller reference beside its other owners, if the controller still exists', () => {
  const orphans = [podOf('a', { ownerReferences: [bystander] }), podOf('b')];
  const [first, second] = claimPatches(
    owner,
    claimsOf(owner, orphans, () => true),
  );
  const controller = { ...mine, blockOwnerDeletion: true };
  assert.deepEqual(first?.patch, { metadata: { resourceVersion: '7', ownerReferences: [bystander, controller] } });
  assert.equal(first?.confirm, owner);
  assert.deepEqual(second?.patch, { metadata: { resourceVersion: '7', ownerReferences: [controller] } });
  assert.equal(second?.confirm, undefined);
});

test('an object that no longer matches loses only its controller reference', () => {
  const child = podOf('a', { ownerReferences: [bystander, mine] });
  const [release] = claimPatches(
    owner,
    claimsOf(owner, [child], () => false),
  );
  assert.deepEqual(release?.patch, { metadata: { resourceVersion: '7', ownerReferences: [bystander] } });
});

const orphan = podOf('a');
const owned = podOf('a', { ownerReferences: [mine] });
const cases: readonly {
  readonly name: string;
  readonly change: Omit<Change<Pod>, 'cause'>;
  readonly isEnqueued: boolean;
}[] = [
  { name: 'an orphan that appears', change: { type: 'added', object: orphan }, isEnqueued: true },
  {
    name: 'an orphan by other labels',
    change: { type: 'added', object: podOf('a', { labels: {} }) },
    isEnqueued: false,
  },
  {
    name: 'an orphan in another namespace',
    change: { type: 'added', object: podOf('a', { namespace: 'b' }) },
    isEnqueued: false,
  },
  { name: 'an orphan that is deleted', change: { type: 'deleted', object: orphan }, isEnqueued: false },
  {
    name: 'a terminating orphan',
    change: { type: 'added', object: podOf('a', { deletionTimestamp }) },
    isEnqueued: false,
  },
  { name: 'a Pod that is owned', change: { type: 'added', object: owned }, isEnqueued: false },
  { name: 'a Pod that was released', change: { type: 'updated', object: orphan, previous: owned }, isEnqueued: true },
  {
    name: 'new labels',
    change: { type: 'updated', object: orphan, previous: podOf('a', { labels: {} }) },
    isEnqueued: true,
  },
  { name: 'an orphan’s status', change: { type: 'updated', object: orphan, previous: podOf('a') }, isEnqueued: false },
];
const owners = createObjectStore<ReplicationController>();
owners.set('default/web', owner);
// The part of the caches that is used.
const caches = { of: () => owners } as unknown as Caches;
const keysOf = mapToAdopters(replicationController, ({ spec }) => selectorOfLabels(spec?.selector));

for (const { name, change, isEnqueued } of cases) {
  test(`${name} ${isEnqueued ? 'enqueues' : 'does not enqueue'} the owners that may adopt it`, () => {
    assert.deepEqual(keysOf({ ...change, cause: 'event' }, caches), isEnqueued ? ['default/web'] : []);
  });
}

test('the initial list enqueues no owner', () => {
  assert.deepEqual(keysOf({ type: 'added', object: orphan, cause: 'initial' }, caches), []);
});
