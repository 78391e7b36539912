import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createDataDirectory, dataDirectory, resetDataDirectory } from './data-directory.ts';
import { loadPersistedNodes } from './persisted-nodes.ts';

function newDirectory() {
  const path = mkdtempSync(join(tmpdir(), 'kruise-nodes-'));
  const directory = dataDirectory(path);
  createDataDirectory(directory);
  return { directory, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

test('added nodes survive a restart until they are removed', () => {
  using world = newDirectory();
  const first = loadPersistedNodes(world.directory, { isPersistent: true });
  assert.deepEqual(first.all(), []);
  first.save({ name: 'a', labels: { zone: 'b' } });
  first.save({ name: 'b', labels: {} });
  first.remove('nobody');
  const second = loadPersistedNodes(world.directory, { isPersistent: true });
  assert.deepEqual(second.all(), [
    { name: 'a', labels: { zone: 'b' } },
    { name: 'b', labels: {} },
  ]);
  second.remove('a');
  assert.deepEqual(loadPersistedNodes(world.directory, { isPersistent: true }).all(), [{ name: 'b', labels: {} }]);
});

test('a reset deletes the added nodes', () => {
  using world = newDirectory();
  loadPersistedNodes(world.directory, { isPersistent: true }).save({ name: 'a', labels: {} });
  resetDataDirectory(world.directory);
  assert.deepEqual(loadPersistedNodes(world.directory, { isPersistent: true }).all(), []);
});

test('a cluster in memory persists no nodes', () => {
  using world = newDirectory();
  const kept = loadPersistedNodes(world.directory, { isPersistent: false });
  kept.save({ name: 'a', labels: {} });
  assert.deepEqual(kept.all(), [{ name: 'a', labels: {} }]);
  assert.equal(existsSync(join(world.directory.store, 'nodes.json')), false);
});
