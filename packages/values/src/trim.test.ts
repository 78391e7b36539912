import assert from 'node:assert/strict';
import { test } from 'node:test';
import { trimTrailing } from './trim.ts';

const cases = [
  { text: '', characters: '/', trimmed: '' },
  { text: '///', characters: '/', trimmed: '' },
  { text: '/a/b//', characters: '/', trimmed: '/a/b' },
  { text: 'name-.', characters: '-.', trimmed: 'name' },
  { text: '0010', characters: '0', trimmed: '001' },
];
for (const { text, characters, trimmed } of cases) {
  test(`${JSON.stringify(text)} without trailing ${characters} is ${JSON.stringify(trimmed)}`, () => {
    assert.equal(trimTrailing(text, characters), trimmed);
  });
}
