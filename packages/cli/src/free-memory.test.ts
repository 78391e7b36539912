import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryFreer } from './free-memory.ts';

test('memory is asked for without a word, any number of times', async () => {
  const warnings: Error[] = [];
  process.on('warning', (warning) => warnings.push(warning));
  const free = memoryFreer();
  free();
  free();
  await new Promise(setImmediate);
  assert.deepEqual(warnings, []);
});
