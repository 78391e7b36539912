import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  controllerOf,
  controllerReference,
  isControlledBy,
  isOwnedBy,
  ownerReference,
  withOwner,
  withoutOwner,
} from './owner-references.ts';

const owner = (name: string, uid = name) => ({ apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name, uid } });

test('the controller is the reference that says so', () => {
  const references = [ownerReference(owner('a')), controllerReference(owner('b'))];
  const object = { metadata: { ownerReferences: references } };
  assert.equal(controllerOf(object)?.name, 'b');
  assert.equal(controllerOf({}), undefined);
  assert.equal(isControlledBy(object, owner('b')), true);
  assert.equal(isControlledBy(object, owner('a')), false);
  assert.equal(isOwnedBy(object, owner('a')), true);
});

test('an owner made again under its name is another', () => {
  const object = { metadata: { ownerReferences: [controllerReference(owner('a', 'first'))] } };
  assert.equal(isControlledBy(object, owner('a', 'second')), false);
});

test('an object without uid cannot be an owner', () => {
  const made = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'a' } };
  assert.throws(() => controllerReference(made), /has a uid/);
  assert.throws(() => isControlledBy({}, { metadata: {} }), /has a uid/);
});

test('an owner is added once', () => {
  const once = withOwner(undefined, controllerReference(owner('a')));
  assert.deepEqual(once, [
    { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'a', uid: 'a', controller: true, blockOwnerDeletion: true },
  ]);
  assert.equal(withOwner(once, controllerReference(owner('a'))), once);
  assert.deepEqual(withOwner(once, ownerReference(owner('a'))), [ownerReference(owner('a'))]);
  assert.equal(withOwner(once, ownerReference(owner('b'))).length, 2);
});

test('there is no second controller', () => {
  const references = withOwner(undefined, controllerReference(owner('a')));
  assert.throws(() => withOwner(references, controllerReference(owner('b'))), {
    message: 'already controlled by ReplicaSet a',
  });
});

test('an owner is removed by its uid', () => {
  const references = [ownerReference(owner('a')), ownerReference(owner('b'))];
  assert.deepEqual(withoutOwner(references, 'a'), [ownerReference(owner('b'))]);
  assert.equal(withoutOwner(references, 'c'), references);
});
