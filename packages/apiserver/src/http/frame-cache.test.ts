import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../object.ts';
import { createFrameCache } from './frame-cache.ts';

const object = (): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: {} });

/** How many of some objects still have a frame of that many bytes once all have had one. */
function keptOf(count: number, bytes: number): number {
  const frames = createFrameCache();
  const objects = Array.from({ length: count }, object);
  for (const each of objects) frames.get(each, 'json', () => new Uint8Array(bytes));
  let made = 0;
  for (const each of objects.toReversed()) {
    frames.get(each, 'json', () => {
      made++;
      return new Uint8Array(0);
    });
  }
  return count - made;
}

test('a frame is made once', () => {
  assert.equal(keptOf(10, 100), 10);
});

test('frames of so many objects are kept, and of so many bytes', () => {
  assert.ok(keptOf(1000, 100) <= 256);
  assert.ok(keptOf(100, 1 << 20) <= 16);
});
