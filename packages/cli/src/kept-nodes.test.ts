import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createDataDirectory, dataDirectory, resetDataDirectory } from './data-directory.ts';
import { keptNodes } from './kept-nodes.ts';

function newDirectory() {
  const path = mkdtempSync(join(tmpdir(), 'kruise-nodes-'));
  const directory = dataDirectory(path);
  createDataDirectory(directory);
  return { directory, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

test('added nodes survive a restart until they are removed', () => {
  using world = newDirectory();
  const first = keptNodes(world.directory, { isKept: true });
  assert.deepEqual(first.all(), []);
  first.keep({ name: 'a', labels: { zone: 'b' } });
  first.keep({ name: 'b', labels: {} });
  first.forget('nobody');
  const second = keptNodes(world.directory, { isKept: true });
  assert.deepEqual(second.all(), [
    { name: 'a', labels: { zone: 'b' } },
    { name: 'b', labels: {} },
  ]);
  second.forget('a');
  assert.deepEqual(keptNodes(world.directory, { isKept: true }).all(), [{ name: 'b', labels: {} }]);
});

test('a reset deletes the added nodes', () => {
  using world = newDirectory();
  keptNodes(world.directory, { isKept: true }).keep({ name: 'a', labels: {} });
  resetDataDirectory(world.directory);
  assert.deepEqual(keptNodes(world.directory, { isKept: true }).all(), []);
});

test('a cluster in memory persists no nodes', () => {
  using world = newDirectory();
  const kept = keptNodes(world.directory, { isKept: false });
  kept.keep({ name: 'a', labels: {} });
  assert.deepEqual(kept.all(), [{ name: 'a', labels: {} }]);
  assert.equal(existsSync(join(world.directory.store, 'nodes.json')), false);
});
