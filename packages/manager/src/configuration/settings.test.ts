import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resizesBySubresource } from './settings.ts';

const cases: { version: string; expected: boolean }[] = [
  { version: 'v1.32.0', expected: true },
  { version: 'v1.33.1-eks-0a1b2c', expected: true },
  { version: '1.32+gke.1', expected: true },
  { version: 'v2.0.0', expected: true },
  { version: 'v1.31.9', expected: false },
  { version: 'v1.9.0', expected: false },
  { version: 'v1.32', expected: false },
  { version: 'garbage', expected: false },
  { version: '', expected: false },
];
for (const { version, expected } of cases) {
  test(`a server of version '${version}' ${expected ? 'resizes Pods' : 'does not resize Pods'} through a subresource`, () => {
    assert.equal(resizesBySubresource(version), expected);
  });
}
