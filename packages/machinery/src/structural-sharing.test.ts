import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isSame } from './json-value.ts';
import { createStructureSharing, shareStructure } from './structural-sharing.ts';

const known = { name: 'web', env: [{ name: 'a' }, { name: 'b' }], ports: { http: 80 } };

const cases: readonly { readonly name: string; readonly value: unknown; readonly known: unknown }[] = [
  { name: 'a part more', value: { ...structuredClone(known), image: 'i' }, known },
  { name: 'a part less', value: { env: [{ name: 'a' }] }, known },
  { name: 'another order', value: { ports: { http: 80 }, name: 'web' }, known: { name: 'web', ports: { http: 80 } } },
  { name: 'a list for an object', value: { ports: [80] }, known },
  { name: 'an object for a list', value: { env: { name: 'a' } }, known },
  { name: 'null for an object', value: { ports: null }, known },
  { name: 'a longer list', value: { env: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] }, known },
  { name: 'a field called __proto__', value: JSON.parse('{"__proto__":{"x":[1]},"y":2}'), known: { y: 2 } },
];
for (const { name, value, known: other } of cases) {
  test(`says the same with ${name}`, () => {
    assert.equal(JSON.stringify(shareStructure(value, other)), JSON.stringify(value));
  });
}

test('is the known value where all is the same', () => {
  assert.equal(shareStructure(structuredClone(known), known), known);
});

test('shares equal parts and leaves both values unchanged', () => {
  const value = { ...structuredClone(known), name: 'proxy' };
  const before = structuredClone(value);
  const made = shareStructure(value, known);
  assert.equal(made.env, known.env);
  assert.equal(made.ports, known.ports);
  assert.deepEqual(value, before);
  assert.notEqual(value.env, known.env);
});

test('returns an equal value, whatever the known value', () => {
  const pair = fc
    .tuple(fc.jsonValue(), fc.jsonValue(), fc.boolean())
    .map(([value, other, isNear]) => [value, isNear ? { ...Object(structuredClone(value)), other } : other] as const);
  fc.assert(
    fc.property(pair, ([value, other]) => {
      const made = shareStructure(value, other);
      assert.equal(JSON.stringify(made), JSON.stringify(value));
      assert.ok(isSame(made, value));
    }),
  );
});

test('values under one key share with the one before, under others they do not', () => {
  const share = createStructureSharing<object>(2);
  const first = share('a', { labels: { app: 'web' } });
  assert.notEqual(share('b', { labels: { app: 'web' } }), first);
  assert.equal(share('a', { labels: { app: 'web' } }), first);
});

test('the key that came first is forgotten when there are too many', () => {
  const share = createStructureSharing<object>(2);
  const first = share('a', { x: 1 });
  share('b', { x: 2 });
  share('c', { x: 3 });
  assert.notEqual(share('a', { x: 1 }), first);
});
