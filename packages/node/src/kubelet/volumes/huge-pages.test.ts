import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import { isHugePages, pageSizeOf } from './huge-pages.ts';

const podWith = (...resources: readonly string[]): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {},
  spec: { containers: resources.map((name) => ({ name: 'c', resources: { limits: { [name]: '4Mi' } } })) },
});

test('a medium is huge pages with and without a size', () => {
  assert.deepEqual(['HugePages', 'HugePages-1Gi', 'Memory', '', undefined].map(isHugePages), [
    true,
    true,
    false,
    false,
    false,
  ]);
});

test('a medium without a size has the only size of the Pod', () => {
  assert.equal(pageSizeOf(podWith('memory', 'hugepages-2Mi', 'hugepages-2Mi'), 'HugePages'), '2Mi');
  assert.throws(() => pageSizeOf(podWith('hugepages-2Mi', 'hugepages-1Gi'), 'HugePages'), /several sizes/);
});

test('a medium of one size needs containers with such pages', () => {
  assert.equal(pageSizeOf(podWith('hugepages-2Mi', 'hugepages-1Gi'), 'HugePages-1Gi'), '1Gi');
  assert.throws(() => pageSizeOf(podWith('hugepages-2Mi'), 'HugePages-1Gi'), /not among/);
  assert.throws(() => pageSizeOf(podWith('memory'), 'HugePages'), /no resource request for huge pages/);
});
