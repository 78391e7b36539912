import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryReleaser } from './release-memory.ts';

test('memory is released any number of times without a warning', async () => {
  const warnings: Error[] = [];
  process.on('warning', (warning) => warnings.push(warning));
  const free = createMemoryReleaser();
  free();
  free();
  await new Promise(setImmediate);
  assert.deepEqual(warnings, []);
});
