import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceAccountOf, serviceAccountUsername } from './service-account-user.ts';

test('a ServiceAccount is found by its username', () => {
  assert.deepEqual(serviceAccountOf(serviceAccountUsername('apps', 'robot')), { namespace: 'apps', name: 'robot' });
});

test('other usernames are no ServiceAccounts', () => {
  const names = ['ann', 'system:serviceaccount:', 'system:serviceaccount:apps', 'system:serviceaccount:apps:a:b'];
  for (const name of names) assert.equal(serviceAccountOf(name), undefined);
});
