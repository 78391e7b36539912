import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ManagedFieldsEntry } from '@kruise/api/meta/object-meta';
import { internEntries, type ManagedFields, textsOf } from './managed-fields.ts';

function entry(change: ManagedFieldsEntry = {}): ManagedFieldsEntry {
  return {
    manager: 'kubectl',
    operation: 'Update',
    apiVersion: 'v1',
    time: '2030-01-01T00:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { '.': {}, 'f:key': {} } },
    ...change,
  };
}

const text = (entries: ManagedFields) => textsOf(entries).join('');

const cases: readonly { readonly name: string; readonly entries: ManagedFields }[] = [
  { name: 'no entries', entries: [] },
  { name: 'one entry', entries: [entry()] },
  { name: 'entries of subresources', entries: [entry(), entry({ manager: 'kubelet', subresource: 'status' })] },
  { name: 'an entry without fields', entries: [{ manager: 'a', operation: 'Apply', apiVersion: 'v1' }] },
  { name: 'fields that have to be escaped', entries: [entry({ fieldsV1: { 'k:{"name":"ä<\u2028"}': {} } })] },
];
for (const { name, entries } of cases) {
  test(`the text of ${name} is equal before and after interning`, () => {
    assert.deepEqual(JSON.parse(text(entries)), entries);
    assert.equal(text(internEntries(entries)), text(entries));
  });
}

test('equal entries are interned', () => {
  const [first] = internEntries([entry({ manager: 'one' })]);
  assert.equal(internEntries([entry({ manager: 'one' })])[0], first);
  assert.notEqual(internEntries([entry({ manager: 'another' })])[0], first);
});

test('entries with different times share their field set', () => {
  const [early] = internEntries([entry({ time: '2030-01-01T00:00:01Z' })]);
  const [late] = internEntries([entry({ time: '2030-01-01T00:00:02Z' })]);
  assert.equal(late?.fieldsV1, early?.fieldsV1);
  assert.equal(late?.time, '2030-01-01T00:00:02Z');
});

test('interned entries stay the same list', () => {
  const entries = internEntries([entry()]);
  assert.equal(internEntries(entries), entries);
});
