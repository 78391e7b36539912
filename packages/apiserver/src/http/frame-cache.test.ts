import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../object.ts';
import { createFrameCache } from './frame-cache.ts';

const object = (): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: {} });

/** Returns the number of objects that still have a frame of that size after all had one. */
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

test('a frame is encoded once', () => {
  assert.equal(keptOf(10, 100), 10);
});

test('frames are kept up to a number of objects and a number of bytes', () => {
  assert.ok(keptOf(1000, 100) <= 256);
  assert.ok(keptOf(100, 1 << 20) <= 16);
});
