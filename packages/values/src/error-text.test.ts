import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from './error-text.ts';

test('an error becomes its message, any other value its text', () => {
  assert.deepEqual([new TypeError('no such thing'), 'gone', 7, undefined].map(errorText), [
    'no such thing',
    'gone',
    '7',
    'undefined',
  ]);
});
