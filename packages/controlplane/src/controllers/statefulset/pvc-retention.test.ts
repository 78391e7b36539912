import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OwnerReference } from '@kruise/machinery/owner-references';
import { controllerReference, ownerReference } from '@kruise/machinery/owner-references';
import { hasOtherController, isAwaitingDeletion, wantedOwners } from '@kruise/workload-kit/statefulset/pvc-retention';
import { summarizeActions } from '@kruise/workload-kit/testing/summarize-actions';
import { decide } from './decide.ts';
import { claimOf, now, observedOf, podOf, withClaims } from './fixtures.ts';

type Retention = 'Retain' | 'Delete';
const setWith = (whenDeleted: Retention, whenScaled: Retention, replicas = 1) =>
  withClaims({ replicas, persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled } });

const set = setWith('Retain', 'Retain');
const pod = podOf(set, 0);
const bySet = controllerReference(set);
const byPod = controllerReference(pod);
const byOther = { apiVersion: 'v1', kind: 'Backup', name: 'b', uid: 'b', controller: true };
const foreignOwner = { apiVersion: 'v1', kind: 'Note', name: 'n', uid: 'n' };
const byFormerSet = { ...bySet, uid: 'before' };
const byFormerPod = { ...byPod, uid: 'before' };

type Case = {
  readonly name: string;
  readonly policy: readonly [whenDeleted: Retention, whenScaled: Retention];
  readonly isCondemned?: boolean;
  readonly owners: readonly OwnerReference[];
  /** New owner references; omitted if unchanged. */
  readonly become?: readonly OwnerReference[];
};
const keep = ['Retain', 'Retain'] as const;
const withSet = ['Delete', 'Retain'] as const;
const withPod = ['Retain', 'Delete'] as const;
const withBoth = ['Delete', 'Delete'] as const;
const cases: readonly Case[] = [
  { name: 'a retained PVC has no owner', policy: keep, owners: [] },
  {
    name: 'a PVC that is retained again loses its owner',
    policy: keep,
    owners: [bySet, foreignOwner],
    become: [foreignOwner],
  },
  { name: 'a PVC with whenDeleted Delete is owned by the set', policy: withSet, owners: [], become: [bySet] },
  { name: 'a PVC owned by the set is unchanged', policy: withSet, owners: [bySet] },
  { name: 'a PVC of the set survives its Pod', policy: withSet, isCondemned: true, owners: [bySet] },
  {
    name: 'a PVC is controlled by the set, not only owned',
    policy: withSet,
    owners: [ownerReference(set)],
    become: [bySet],
  },
  { name: 'a PVC with whenScaled Delete has no owner before scale-in', policy: withPod, owners: [] },
  {
    name: 'a PVC with whenScaled Delete is owned by its condemned Pod',
    policy: withPod,
    isCondemned: true,
    owners: [],
    become: [byPod],
  },
  { name: 'a PVC whose Pod is wanted again loses its owner', policy: withPod, owners: [byPod], become: [] },
  {
    name: 'the ownership moves from the set to a condemned Pod',
    policy: withBoth,
    isCondemned: true,
    owners: [bySet],
    become: [byPod],
  },
  { name: 'the ownership moves back to the set', policy: withBoth, owners: [byPod], become: [bySet] },
  { name: 'foreign owners are kept', policy: withBoth, owners: [foreignOwner], become: [foreignOwner, bySet] },
  { name: 'a PVC with another controller is unchanged', policy: withBoth, owners: [byOther] },
  {
    name: 'a PVC with another controller loses the set as owner',
    policy: withSet,
    owners: [byOther, ownerReference(set)],
    become: [byOther],
  },
  { name: 'a PVC of an earlier set is unchanged', policy: withSet, owners: [byFormerSet] },
  {
    name: 'a PVC of an earlier Pod is unchanged',
    policy: withBoth,
    isCondemned: true,
    owners: [byFormerPod],
  },
];
for (const { name, policy, isCondemned = false, owners, become } of cases) {
  test(name, () => {
    const ownership = { set: setWith(...policy), pod, isCondemned };
    const claim = claimOf('www-web-0', { ownerReferences: owners });
    const wanted = wantedOwners(claim, ownership);
    assert.deepEqual(wanted, become);
    const settled = claimOf('www-web-0', { ownerReferences: wanted ?? owners });
    assert.equal(wantedOwners(settled, ownership), undefined);
  });
}

test('another controller is no conflict if PVCs are retained', () => {
  const claim = claimOf('www-web-0', { ownerReferences: [byOther] });
  const isConflict = (policy: readonly [Retention, Retention]) =>
    hasOtherController(claim, { set: setWith(...policy), pod, isCondemned: false });
  assert.equal(isConflict(keep), false);
  assert.equal(isConflict(withSet), true);
});

test('a PVC that is to be deleted with a Pod that is gone is stale', () => {
  const claim = claimOf('www-web-0', { ownerReferences: [byFormerPod] });
  const isLeft = (policy: readonly [Retention, Retention]) =>
    isAwaitingDeletion(claim, { set: setWith(...policy), pod, isCondemned: false });
  assert.equal(isLeft(withPod), true);
  assert.equal(isLeft(withSet), false);
});

const summary = (...world: Parameters<typeof observedOf>) =>
  summarizeActions(decide(observedOf(...world), now).actions);

test('a Pod is not created while a stale PVC is about to be deleted', () => {
  const claims = [claimOf('www-web-0', { ownerReferences: [byFormerPod] })];
  assert.deepEqual(summary(setWith('Retain', 'Delete'), [], { claims }), []);
});

test('a condemned Pod owns its PVCs before it is deleted', () => {
  const scaledIn = setWith('Retain', 'Delete', 0);
  const claims = [claimOf('www-web-0')];
  assert.deepEqual(summary(scaledIn, [pod], { claims }), ['update www-web-0', 'delete web-0']);
});

test('a changed policy is applied, with an event', () => {
  const claims = [claimOf('www-web-0')];
  assert.deepEqual(summary(setWith('Delete', 'Retain'), [pod], { claims }), [
    'update www-web-0',
    'record SuccessfulUpdate',
  ]);
});

test('a PVC with another controller emits an event when its Pod is created', () => {
  const claims = [claimOf('www-web-0', { ownerReferences: [byOther] })];
  assert.deepEqual(summary(setWith('Delete', 'Retain'), [], { claims }), [
    'record ConflictingController',
    'create web-0',
  ]);
});
