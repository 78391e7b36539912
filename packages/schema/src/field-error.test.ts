import assert from 'node:assert/strict';
import { test } from 'node:test';
import { duplicate, invalid, notSupported, required, summary } from './field-error.ts';

test('a rejected value is shown as Go prints it', () => {
  const shown = (value: unknown) => invalid('f', value, 'no').message;
  assert.equal(shown('a"b'), 'Invalid value: "a\\"b": no');
  assert.equal(shown(1.5), 'Invalid value: 1.5: no');
  assert.equal(shown({ b: '1', a: '2' }), 'Invalid value: map[string]string{"a":"2", "b":"1"}: no');
  assert.equal(shown([1, 'a']), 'Invalid value: []interface {}{1, "a"}: no');
});

test('null and undefined are shown as "null"', () => {
  assert.equal(invalid('f', null, 'no').message, 'Invalid value: "null": no');
  assert.equal(duplicate('f', undefined).message, 'Duplicate value: "null"');
});

test('one error stands alone, several are in brackets without duplicates', () => {
  const [a, b] = [required('a'), notSupported('b', 'x', ['y', 'z'])];
  assert.equal(summary([a]), 'a: Required value');
  assert.equal(summary([a, b, a]), '[a: Required value, b: Unsupported value: "x": supported values: "y", "z"]');
});
