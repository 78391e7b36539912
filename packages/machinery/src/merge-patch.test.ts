import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from './json-value.ts';
import { applyMergePatch, asMergePatch, createMergePatch } from './merge-patch.ts';

// The table of the RFC's appendix, where the reference agrees with it.
const cases: readonly (readonly [unknown, unknown, unknown])[] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  // Where it does not: nulls go from objects in lists that are new, or replace other than an object.
  [{}, { a: [{ b: null, c: 1 }, null] }, { a: [{ c: 1 }, null] }],
  [{ a: {} }, { a: [{ b: null }] }, { a: [{ b: null }] }],
];
for (const [document, patch, expected] of cases) {
  test(`${JSON.stringify(patch)} makes ${JSON.stringify(document)} into ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(applyMergePatch(document, patch), expected);
  });
}

test('a patch that changes nothing gives the document itself', () => {
  const document = { a: { b: [1, { c: 2 }] }, d: 1 };
  assert.equal(applyMergePatch(document, { a: { b: [1, { c: 2 }], x: null }, d: 1 }), document);
});

test('what the patch leaves alone is shared', () => {
  const document = { a: { b: 1 }, c: { d: 1 } };
  const result = applyMergePatch(document, { a: { b: 2 } }) as typeof document;
  assert.equal(result.c, document.c);
  assert.equal(document.a.b, 1);
});

test('only an object or a list is a patch', () => {
  for (const value of [null, 1, 'x', true]) assert.throws(() => asMergePatch(value), { message: 'Invalid JSON Patch' });
  assert.deepEqual(asMergePatch({}), {});
});

test('names of prototypes are fields like any other', () => {
  const patch = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"x":null}}');
  assert.equal(JSON.stringify(applyMergePatch({}, patch)), '{"__proto__":{"polluted":1},"constructor":{}}');
  assert.equal(JSON.stringify(createMergePatch({}, patch)), JSON.stringify(patch));
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
});

// Null cannot be set by such a patch, so it is left out of what is aimed at.
const name = fc.constantFrom('a', 'b', 'c', '__proto__');
const { value: withoutNull } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, fc.integer(), fc.string(), fc.boolean(), tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 3 }),
  object: fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
}));
const anyObject = fc.dictionary(name, withoutNull, { maxKeys: 4, noNullPrototype: true }) as fc.Arbitrary<JsonObject>;

test('a patch that was made turns one object into the other', () => {
  fc.assert(
    fc.property(anyObject, anyObject, (original, modified) => {
      assert.deepEqual(applyMergePatch(original, createMergePatch(original, modified)), modified);
    }),
  );
});

test('the patch from an object to itself is empty', () => {
  fc.assert(
    fc.property(anyObject, (object) => assert.deepEqual(createMergePatch(object, structuredClone(object)), {})),
  );
});

test('applying a patch again changes nothing more', () => {
  fc.assert(
    fc.property(anyObject, anyObject, (document, patch) => {
      const once = applyMergePatch(document, patch);
      assert.equal(applyMergePatch(once, patch), once);
    }),
  );
});
