import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from './error-text.ts';

test('an error is told by its message, and anything else by its text', () => {
  assert.deepEqual([new TypeError('no such thing'), 'gone', 7, undefined].map(errorText), [
    'no such thing',
    'gone',
    '7',
    'undefined',
  ]);
});
