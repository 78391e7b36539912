import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Claimable, claimsOf } from './claims.ts';

type Child = Claimable & { readonly metadata: { readonly name: string } };

const deletionTimestamp = '2026-01-01T00:00:00Z';
const owner: Claimable = { metadata: { uid: 'me', namespace: 'default' } };

function child(name: string, app: string, controller?: string, rest: object = {}): Child {
  const ownerReferences = controller
    ? [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'x', uid: controller, controller: true }]
    : [];
  return { metadata: { name, namespace: 'default', labels: { app }, ownerReferences, ...rest } };
}

const isWeb = ({ metadata }: Child) => metadata.labels?.['app'] === 'web';
const cases = [
  { name: 'keeps a controlled object', of: child('a', 'web', 'me'), is: 'claimed' },
  { name: 'keeps a terminating controlled object', of: child('a', 'web', 'me', { deletionTimestamp }), is: 'claimed' },
  { name: 'releases a controlled object that no longer matches', of: child('a', 'db', 'me'), is: 'released' },
  { name: 'adopts a matching orphan', of: child('a', 'web'), is: 'claimed adopted' },
  { name: 'ignores an object of another controller', of: child('a', 'web', 'other'), is: '' },
  { name: 'ignores an orphan that does not match', of: child('a', 'db'), is: '' },
  { name: 'leaves an orphan that is going', of: child('a', 'web', undefined, { deletionTimestamp }), is: '' },
  { name: 'leaves an orphan of another namespace', of: child('a', 'web', undefined, { namespace: 'b' }), is: '' },
];

function claimed(by: Claimable, candidate: Child): string {
  return Object.entries(claimsOf(by, [candidate], isWeb))
    .filter(([, children]) => children.length > 0)
    .map(([name]) => name)
    .join(' ');
}

for (const { name, of, is } of cases) test(`an owner ${name}`, () => assert.equal(claimed(owner, of), is));

test('a terminating owner keeps its objects and neither adopts nor releases', () => {
  const leaving: Claimable = { metadata: { ...owner.metadata, deletionTimestamp } };
  assert.equal(claimed(leaving, child('a', 'web', 'me')), 'claimed');
  assert.equal(claimed(leaving, child('a', 'db', 'me')), '');
  assert.equal(claimed(leaving, child('a', 'web')), '');
});

test('an owner without a namespace reaches into all of them', () => {
  assert.equal(claimed({ metadata: { uid: 'me' } }, child('a', 'web')), 'claimed adopted');
});

test('an owner by another name only is no controller', () => {
  const reference = { apiVersion: 'v1', kind: 'X', name: 'x', uid: 'me' };
  assert.equal(claimed(owner, child('a', 'web', undefined, { ownerReferences: [reference] })), 'claimed adopted');
});
