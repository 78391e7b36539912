import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Cause } from '@kruise/schema/field-error';
import { serviceName, subdomainName } from './name-rules.ts';
import type { ObjectMeta } from './object-meta.ts';
import { validateKindMeta, validateObjectMeta, validateObjectMetaUpdate } from './object-meta.validate.ts';

const sound: ObjectMeta = { name: 'a', namespace: 'n', resourceVersion: '1' };
const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' };

function wanted(causes: Iterable<Cause>): readonly string[] {
  return [...causes].map(({ field, message }) => `${field}: ${message}`);
}

const refused: readonly (readonly [given: ObjectMeta, fault: string])[] = [
  [{ ...sound, name: '' }, 'metadata.name: Required value: name or generateName is required'],
  [{ ...sound, name: 'a/b' }, 'metadata.name: Invalid value: "a/b": may not contain \'/\''],
  [{ ...sound, generateName: 'a%' }, 'metadata.generateName: Invalid value: "a%": may not contain \'%\''],
  [{ ...sound, namespace: '' }, 'metadata.namespace: Required value'],
  [{ ...sound, generation: -1 }, 'metadata.generation: Invalid value: -1: must be greater than or equal to 0'],
  [
    { ...sound, labels: { a: '-' } },
    "metadata.labels: Invalid value: \"-\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  ],
  [
    { ...sound, annotations: { a: 'x'.repeat(262144) } },
    'metadata.annotations: Too long: may not be more than 262144 bytes',
  ],
  [
    { ...sound, ownerReferences: [{ ...owner, uid: '' }] },
    'metadata.ownerReferences.uid: Invalid value: "": uid must not be empty',
  ],
  [
    { ...sound, managedFields: [{ operation: 'Guess' }] },
    'metadata.managedFields[0].operation: Invalid value: "Guess": must be `Apply` or `Update`',
  ],
  [
    { ...sound, managedFields: [{ operation: 'Apply', manager: 'a\n' }] },
    'metadata.managedFields[0].manager: Invalid value: "a\\n": invalid character U+000A (at position 1)',
  ],
];
for (const [given, fault] of refused) {
  test(`metadata is refused: ${fault.slice(0, 60)}`, () => {
    assert.deepEqual(wanted(validateObjectMeta(given, { namespaced: true })), [fault]);
  });
}

test('metadata with all fields is accepted', () => {
  const whole: ObjectMeta = {
    ...sound,
    labels: { 'example.com/a': 'b' },
    annotations: { 'Example.com/A': 'anything at all' },
    ownerReferences: [
      { ...owner, controller: true },
      { ...owner, uid: 'v' },
    ],
    finalizers: ['example.com/f', 'orphan'],
    managedFields: [{ manager: 'kubectl', operation: 'Update', fieldsType: 'FieldsV1' }],
  };
  assert.deepEqual(wanted(validateKindMeta(whole, { namespaced: true, name: subdomainName })), []);
});

test('an object has at most one controller', () => {
  const references = [owner, { ...owner, name: 'q', uid: 'v' }].map((reference) => ({
    ...reference,
    controller: true,
  }));
  const [fault] = wanted(validateObjectMeta({ ...sound, ownerReferences: references }, { namespaced: true }));
  assert.match(
    fault!,
    /Only one reference can have Controller set to true\. Found "true" in references for Pod\/p and Pod\/q$/,
  );
});

test('a cluster-scoped object has no namespace', () => {
  assert.deepEqual(wanted(validateObjectMeta(sound, { namespaced: false })), [
    'metadata.namespace: Forbidden: not allowed on this type',
  ]);
});

test('each kind has its own name rule, and a generateName may end with a dash', () => {
  const rules = { namespaced: true, name: serviceName };
  assert.equal(wanted(validateKindMeta({ ...sound, name: '1a' }, rules)).length, 1);
  assert.deepEqual(wanted(validateKindMeta({ ...sound, generateName: 'a-' }, rules)), []);
});

test('a finalizer of a built-in kind is standard or qualified', () => {
  const faults = wanted(validateKindMeta({ ...sound, finalizers: ['mine'] }, { namespaced: true }));
  assert.deepEqual(faults, [
    'metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
  ]);
});

const updates: readonly (readonly [now: ObjectMeta, old: ObjectMeta, faults: readonly string[]])[] = [
  [sound, sound, []],
  [{ ...sound, name: 'b' }, sound, ['metadata.name: Invalid value: "b": field is immutable']],
  [{ ...sound, uid: 'v' }, { ...sound, uid: 'u' }, ['metadata.uid: Invalid value: "v": field is immutable']],
  [
    sound,
    { ...sound, deletionGracePeriodSeconds: 1 },
    ['metadata.deletionGracePeriodSeconds: Invalid value: "null": field is immutable'],
  ],
  [
    { name: 'a', namespace: 'n' },
    sound,
    ['metadata.resourceVersion: Invalid value: "": must be specified for an update'],
  ],
  [
    { ...sound, generation: 1 },
    { ...sound, generation: 2 },
    ['metadata.generation: Invalid value: 1: must not be decremented'],
  ],
];
for (const [now, old, faults] of updates) {
  test(`a change to ${JSON.stringify(now)} from ${JSON.stringify(old)} has ${faults.length} errors`, () => {
    assert.deepEqual(wanted(validateObjectMetaUpdate(now, old)), faults);
  });
}

test('a terminating object gets no new finalizers', () => {
  const old = { ...sound, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a.io/x'] };
  assert.deepEqual(wanted(validateObjectMetaUpdate({ ...old, finalizers: ['a.io/y'] }, old)), [
    'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a.io/y"}',
  ]);
  assert.deepEqual(wanted(validateObjectMetaUpdate({ ...old, finalizers: [] }, old)), []);
});
