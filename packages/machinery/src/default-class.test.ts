import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultClass } from './default-class.ts';

const marked = (name: string, creationTimestamp: string, value = 'true') => ({
  metadata: { name, creationTimestamp, annotations: { 'example.com/default': value } },
});
const found = (...classes: ReturnType<typeof marked>[]) =>
  defaultClass(classes, ['example.com/default'])?.metadata.name;

test('the newest class that is marked is the default', () => {
  assert.equal(found(marked('a', '2026-01-01T00:00:00Z'), marked('b', '2026-01-02T00:00:00Z')), 'b');
});

test('of two as old the first by name is the default', () => {
  assert.equal(found(marked('b', '2026-01-01T00:00:00Z'), marked('a', '2026-01-01T00:00:00Z')), 'a');
});

test('a class that is marked as anything but true is no default', () => {
  assert.equal(found(marked('a', '2026-01-01T00:00:00Z', 'yes')), undefined);
});
