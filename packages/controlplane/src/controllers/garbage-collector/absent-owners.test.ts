import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAbsentOwners } from './absent-owners.ts';

const referenceTo = (uid: string, name = 'a', apiVersion = 'apps/v1') => ({
  apiVersion,
  kind: 'Deployment',
  name,
  uid,
});

test('an absent owner is identified by UID, name, group and namespace', () => {
  const absent = createAbsentOwners();
  absent.add(referenceTo('1'), 'default');
  assert.ok(absent.has(referenceTo('1'), 'default'));
  assert.ok(absent.has(referenceTo('1', 'a', 'apps/v2'), 'default'), 'in any version');
  assert.ok(!absent.has(referenceTo('1', 'b'), 'default'));
  assert.ok(!absent.has(referenceTo('2'), 'default'));
  assert.ok(!absent.has(referenceTo('1', 'a', 'example.com/v1'), 'default'));
  assert.ok(!absent.has(referenceTo('1'), 'other'));
  assert.ok(!absent.has(referenceTo('1'), undefined));
});

test('the most recent absent owners are kept', () => {
  const absent = createAbsentOwners();
  for (let index = 0; index < 500; index++) absent.add(referenceTo(String(index)), undefined);
  absent.add(referenceTo('0'), undefined);
  absent.add(referenceTo('500'), undefined);
  const known = Array.from({ length: 501 }, (_, index) => index).filter((index) =>
    absent.has(referenceTo(String(index)), undefined),
  );
  assert.equal(known.length, 500);
  assert.ok(known.includes(0) && !known.includes(1));
});
