import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OwnerReference } from '@kruise/machinery/owner-references';
import { controllerReference, ownerReference } from '@kruise/machinery/owner-references';
import { inWords } from '../../testing/in-words.ts';
import { hasOtherController, isLeftBehind, wantedOwners } from './claim-retention.ts';
import { decide } from './decide.ts';
import { claimOf, now, podOf, withClaims, worldOf } from './fixtures.ts';

type Retention = 'Retain' | 'Delete';
const setWith = (whenDeleted: Retention, whenScaled: Retention, replicas = 1) =>
  withClaims({ replicas, persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled } });

const set = setWith('Retain', 'Retain');
const pod = podOf(set, 0);
const bySet = controllerReference(set);
const byPod = controllerReference(pod);
const byOther = { apiVersion: 'v1', kind: 'Backup', name: 'b', uid: 'b', controller: true };
const bystander = { apiVersion: 'v1', kind: 'Note', name: 'n', uid: 'n' };
const byFormerSet = { ...bySet, uid: 'before' };
const byFormerPod = { ...byPod, uid: 'before' };

type Case = {
  readonly name: string;
  readonly policy: readonly [whenDeleted: Retention, whenScaled: Retention];
  readonly isCondemned?: boolean;
  readonly owners: readonly OwnerReference[];
  /** What the owners become; nothing if they stay. */
  readonly become?: readonly OwnerReference[];
};
const keep = ['Retain', 'Retain'] as const;
const withSet = ['Delete', 'Retain'] as const;
const withPod = ['Retain', 'Delete'] as const;
const withBoth = ['Delete', 'Delete'] as const;
const cases: readonly Case[] = [
  { name: 'a claim that is kept belongs to nobody', policy: keep, owners: [] },
  { name: 'a claim that is kept after all is let go', policy: keep, owners: [bySet, bystander], become: [bystander] },
  { name: 'a claim of the set belongs to it', policy: withSet, owners: [], become: [bySet] },
  { name: 'a claim of the set stays with it', policy: withSet, owners: [bySet] },
  { name: 'a claim of the set outlives its Pod', policy: withSet, isCondemned: true, owners: [bySet] },
  {
    name: 'a claim is controlled by the set, not only owned',
    policy: withSet,
    owners: [ownerReference(set)],
    become: [bySet],
  },
  { name: 'a claim that goes when scaled belongs to nobody before', policy: withPod, owners: [] },
  {
    name: 'a claim that goes when scaled goes with its Pod',
    policy: withPod,
    isCondemned: true,
    owners: [],
    become: [byPod],
  },
  { name: 'a claim whose Pod is wanted again is let go', policy: withPod, owners: [byPod], become: [] },
  {
    name: 'a claim passes from the set to a Pod that goes',
    policy: withBoth,
    isCondemned: true,
    owners: [bySet],
    become: [byPod],
  },
  { name: 'a claim passes back to the set', policy: withBoth, owners: [byPod], become: [bySet] },
  { name: 'owners of no concern stay', policy: withBoth, owners: [bystander], become: [bystander, bySet] },
  { name: 'a claim controlled by another is left alone', policy: withBoth, owners: [byOther] },
  {
    name: 'a claim controlled by another is let go',
    policy: withSet,
    owners: [byOther, ownerReference(set)],
    become: [byOther],
  },
  { name: 'a claim of a set before this one is left alone', policy: withSet, owners: [byFormerSet] },
  {
    name: 'a claim of a Pod before this one is left alone',
    policy: withBoth,
    isCondemned: true,
    owners: [byFormerPod],
  },
];
for (const { name, policy, isCondemned = false, owners, become } of cases) {
  test(name, () => {
    const tenure = { set: setWith(...policy), pod, isCondemned };
    const claim = claimOf('www-web-0', { ownerReferences: owners });
    const wanted = wantedOwners(claim, tenure);
    assert.deepEqual(wanted, become);
    const settled = claimOf('www-web-0', { ownerReferences: wanted ?? owners });
    assert.equal(wantedOwners(settled, tenure), undefined);
  });
}

test('another controller is no conflict where claims are kept', () => {
  const claim = claimOf('www-web-0', { ownerReferences: [byOther] });
  const isConflict = (policy: readonly [Retention, Retention]) =>
    hasOtherController(claim, { set: setWith(...policy), pod, isCondemned: false });
  assert.equal(isConflict(keep), false);
  assert.equal(isConflict(withSet), true);
});

test('a claim that is to go with a Pod that is gone is left behind', () => {
  const claim = claimOf('www-web-0', { ownerReferences: [byFormerPod] });
  const isLeft = (policy: readonly [Retention, Retention]) =>
    isLeftBehind(claim, { set: setWith(...policy), pod, isCondemned: false });
  assert.equal(isLeft(withPod), true);
  assert.equal(isLeft(withSet), false);
});

const summary = (...world: Parameters<typeof worldOf>) => inWords(decide(worldOf(...world), now).actions);

test('a Pod is not made while a claim left behind is to go', () => {
  const claims = [claimOf('www-web-0', { ownerReferences: [byFormerPod] })];
  assert.deepEqual(summary(setWith('Retain', 'Delete'), [], { claims }), []);
});

test('the claims of a Pod that goes are the Pod’s before it goes', () => {
  const scaledIn = setWith('Retain', 'Delete', 0);
  const claims = [claimOf('www-web-0')];
  assert.deepEqual(summary(scaledIn, [pod], { claims }), ['update www-web-0', 'delete web-0']);
});

test('a changed policy is carried out, and told', () => {
  const claims = [claimOf('www-web-0')];
  assert.deepEqual(summary(setWith('Delete', 'Retain'), [pod], { claims }), [
    'update www-web-0',
    'tell SuccessfulUpdate',
  ]);
});

test('a claim another controls is told of when its Pod is made', () => {
  const claims = [claimOf('www-web-0', { ownerReferences: [byOther] })];
  assert.deepEqual(summary(setWith('Delete', 'Retain'), [], { claims }), [
    'tell ConflictingController',
    'create web-0',
  ]);
});
