import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryFreer } from './free-memory.ts';

test('memory is released any number of times without a warning', async () => {
  const warnings: Error[] = [];
  process.on('warning', (warning) => warnings.push(warning));
  const free = memoryFreer();
  free();
  free();
  await new Promise(setImmediate);
  assert.deepEqual(warnings, []);
});
