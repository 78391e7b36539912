import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareVersions } from './priority.ts';

test('versions are ordered by stability, then number, then name', () => {
  const names = ['v1alpha1', 'foo', 'v10', 'v2', 'v1beta2', 'v1', 'bar', 'v1beta1', 'v3alpha1', 'v11beta2'];
  assert.deepEqual(names.sort(compareVersions), [
    'v10',
    'v2',
    'v1',
    'v11beta2',
    'v1beta2',
    'v1beta1',
    'v3alpha1',
    'v1alpha1',
    'bar',
    'foo',
  ]);
});
