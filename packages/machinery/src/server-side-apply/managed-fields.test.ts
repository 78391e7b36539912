import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldPath } from '../field-set/field-path.ts';
import { isReset, managerOf, validateEntries } from './managed-fields.ts';
import { entriesAfterScale, scaleEntries } from './scale.ts';

const managers = [
  { name: 'the parameter comes first', fieldManager: 'm', userAgent: 'tool/v1', manager: 'm' },
  {
    name: 'the user agent counts up to the first slash',
    fieldManager: '',
    userAgent: 'some-tool/v1.2 (x)',
    manager: 'some-tool',
  },
  { name: 'what cannot be printed is left out', fieldManager: '', userAgent: 'né\u0007\u200b x/1', manager: 'né x' },
  { name: 'a long name is cut at 128 bytes', fieldManager: '', userAgent: 'é'.repeat(70), manager: 'é'.repeat(64) },
  { name: 'nobody is nobody', fieldManager: '', userAgent: '', manager: '' },
];
for (const { name, manager, ...request } of managers) {
  test(`of a manager's names ${name}`, () => assert.equal(managerOf(request), manager));
}

test('only an empty list and one empty entry forget all owners', () => {
  assert.deepEqual([undefined, [], [{}], [{}, {}], [{ manager: 'm' }]].map(isReset), [false, true, true, false, false]);
});

const entry = { manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} };
const faults = [
  { fault: undefined, entry },
  { fault: 'operation must be `Apply` or `Update`', entry: { ...entry, operation: 'x' } },
  { fault: 'apiVersion must not be empty', entry: { ...entry, apiVersion: '' } },
  { fault: 'missing fieldsType in managed fields entry 1', entry: { ...entry, fieldsType: '' } },
  { fault: 'invalid fieldsType "F" in managed fields entry 1', entry: { ...entry, fieldsType: 'F' } },
  { fault: 'error decoding set: missing colon: abc', entry: { ...entry, fieldsV1: { abc: {} } } },
];
for (const { fault, entry: second } of faults) {
  test(`the fault of entries is ${fault}`, () => assert.equal(validateEntries([entry, second]), fault));
}

const replicas = { 'f:spec': { 'f:replicas': {} } };
const both = { 'f:spec': { 'f:replicas': {}, 'f:selector': {} } };
const selector = { 'f:spec': { 'f:selector': {} } };
const paths = { 'apps/v1': fieldPath('spec', 'replicas'), 'apps/v0': null };
const owner = (manager: string, operation: string, apiVersion: string, fieldsV1: object, more: object = {}) => ({
  ...{ manager, operation, apiVersion, fieldsType: 'FieldsV1', fieldsV1: fieldsV1 as never },
  ...more,
});
const time = '2020-01-01T00:00:00Z';

test('a Scale has the owners of the replicas', () => {
  const entries = [
    owner('one', 'Apply', 'apps/v1', both, { time }),
    owner('two', 'Update', 'apps/v1', selector),
    owner('old', 'Update', 'apps/v9', replicas),
  ];
  assert.deepEqual(scaleEntries(entries, paths), [owner('one', 'Apply', 'autoscaling/v1', replicas, { time })]);
  assert.equal(scaleEntries(undefined, paths), undefined);
});

test('who scales takes the replicas of the object', () => {
  const parent = [owner('one', 'Apply', 'apps/v1', both, { time }), owner('two', 'Update', 'apps/v1', replicas)];
  const scale = [owner('s', 'Update', 'autoscaling/v1', replicas, { time, subresource: 'scale' })];
  assert.deepEqual(entriesAfterScale({ parent, scale }, 'apps/v1', paths), [
    owner('one', 'Apply', 'apps/v1', selector, { time }),
    owner('s', 'Update', 'apps/v1', replicas, { subresource: 'scale' }),
  ]);
});

test('who keeps the replicas of the Scale keeps those of the object', () => {
  const parent = [owner('one', 'Apply', 'apps/v1', both, { time }), owner('two', 'Update', 'apps/v1', both, { time })];
  const scale = scaleEntries(parent, paths);
  assert.deepEqual(entriesAfterScale({ parent, scale }, 'apps/v1', paths), parent);
});

test('entries of versions without scale stay, of unknown versions go', () => {
  const parent = [owner('one', 'Update', 'apps/v0', replicas), owner('two', 'Update', 'apps/v9', replicas)];
  assert.deepEqual(entriesAfterScale({ parent, scale: undefined }, 'apps/v1', paths), [parent[0]]);
});
