import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyJsonPatch } from '@kruise/machinery/json-patch';
import fc from 'fast-check';
import { createJsonPatch } from './json-patch-diff.ts';

const cases: { name: string; from: unknown; to: unknown; patch: unknown[] }[] = [
  { name: 'equal values have no operations', from: { a: [1] }, to: { a: [1] }, patch: [] },
  { name: 'a new field is added', from: {}, to: { a: 1 }, patch: [{ op: 'add', path: '/a', value: 1 }] },
  { name: 'a missing field is removed', from: { a: 1 }, to: {}, patch: [{ op: 'remove', path: '/a' }] },
  {
    name: 'an undefined field is missing',
    from: { a: 1 },
    to: { a: undefined },
    patch: [{ op: 'remove', path: '/a' }],
  },
  {
    name: 'only the nested difference is replaced',
    from: { a: { b: 1, c: 2 } },
    to: { a: { b: 1, c: 3 } },
    patch: [{ op: 'replace', path: '/a/c', value: 3 }],
  },
  {
    name: 'an inserted item is one operation',
    from: [1, 2, 3],
    to: [1, 9, 2, 3],
    patch: [{ op: 'add', path: '/1', value: 9 }],
  },
  { name: 'a removed item is one operation', from: [1, 2, 3], to: [1, 3], patch: [{ op: 'remove', path: '/1' }] },
  {
    name: 'slashes and tildes in names are escaped',
    from: {},
    to: { 'a/b~c': 1 },
    patch: [{ op: 'add', path: '/a~1b~0c', value: 1 }],
  },
];
for (const { name, from, to, patch } of cases) {
  test(name, () => assert.deepEqual(createJsonPatch(from, to), patch));
}

test('a patch of any two objects turns one into the other', () => {
  const key = fc.constantFrom('a', 'b', 'c/d', 'e~f', '0', '__proto__');
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom(1, 2, 'x', null, true),
      fc.array(tie('value'), { maxLength: 5 }),
      fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));
  const object = fc.dictionary(fc.constantFrom('a', 'b', 'c'), value, { noNullPrototype: true });
  fc.assert(
    fc.property(object, object, (from, to) => {
      assert.deepEqual(applyJsonPatch(from, createJsonPatch(from, to)), to);
    }),
    { numRuns: 500 },
  );
});
