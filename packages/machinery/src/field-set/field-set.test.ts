import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from '@kruise/values/go-json';
import fc from 'fast-check';
import { fieldPath, printFieldPath } from './field-path.ts';
import {
  difference,
  emptySet,
  type FieldSet,
  fieldSetOf,
  hasPath,
  intersection,
  isEmpty,
  leavesOf,
  pathsOf,
  readFieldSet,
  recursiveDifference,
  union,
} from './field-set.ts';
import { keyElement, PathElementError, printPathElement, valueElement } from './path-element.ts';

const set = (...paths: readonly string[]) => fieldSetOf(...paths.map((path) => fieldPath(...path.split('.'))));
const printed = (fields: FieldSet) => Array.from(pathsOf(fields), printFieldPath);

test('a set is the tree that is on the wire', () => {
  assert.equal(
    stringify(union(set('spec.a', 'spec'), fieldSetOf(['f:l', keyElement(['name'], ['x'])]))),
    '{"f:l":{"k:{\\"name\\":\\"x\\"}":{}},"f:spec":{".":{},"f:a":{}}}',
  );
});

test('paths come siblings first, then what is below them', () => {
  assert.deepEqual(printed(set('b', 'a.x', 'a', 'c.y.z')), ['.a', '.b', '.a.x', '.c.y.z']);
});

test('a path is in a set, or only on the way to one', () => {
  const fields = set('a.b');
  assert.equal(hasPath(fields, fieldPath('a', 'b')), true);
  assert.equal(hasPath(fields, fieldPath('a')), false);
  assert.equal(hasPath(fields, fieldPath('a', 'b', 'c')), false);
  assert.equal(hasPath(fields, []), false);
});

const operations = [
  { name: 'difference keeps what is below', result: difference(set('a', 'a.b'), set('a')), paths: ['.a.b'] },
  { name: 'difference keeps what is above', result: difference(set('a', 'a.b'), set('a.b')), paths: ['.a'] },
  {
    name: 'recursive difference takes what is below',
    result: recursiveDifference(set('a.b.c', 'd'), set('a.b')),
    paths: ['.d'],
  },
  {
    name: 'recursive difference keeps what is above',
    result: recursiveDifference(set('a', 'a.b'), set('a.b')),
    paths: ['.a'],
  },
  {
    name: 'intersection is of paths, not of trees',
    result: intersection(set('a.b', 'c'), set('a', 'c')),
    paths: ['.c'],
  },
  { name: 'leaves are what nothing goes beyond', result: leavesOf(set('a', 'a.b', 'c')), paths: ['.c', '.a.b'] },
];
for (const { name, result, paths } of operations) {
  test(name, () => assert.deepEqual(printed(result), paths));
}

test('operations that change nothing return what they were given', () => {
  const fields = set('a.b', 'c');
  assert.equal(union(fields, set('c')), fields);
  assert.equal(difference(fields, set('d', 'a.x')), fields);
  assert.equal(recursiveDifference(fields, set('d')), fields);
});

test('what does not change is shared', () => {
  const fields = set('a.b', 'c.d');
  assert.equal(union(fields, set('c.e'))['f:a'], fields['f:a']);
  assert.equal(difference(fields, set('c.d'))['f:a'], fields['f:a']);
});

const steps = [
  ['f:spec', '.spec'],
  [keyElement(['port', 'protocol'], [80, 'TCP']), '[port=80,protocol="TCP"]'],
  [valueElement('a"b'), '[="a\\"b"]'],
  [valueElement(true), '[=true]'],
  [valueElement(1.5), '[=1.5]'],
  ['i:3', '[3]'],
] as const;
for (const [element, text] of steps) {
  test(`${element} is printed as ${text}`, () => assert.equal(printPathElement(element), text));
}

test('a path is printed as one', () => {
  const path = ['f:spec', 'f:containers', keyElement(['name'], ['nginx']), 'f:image'];
  assert.equal(printFieldPath(path), '.spec.containers[name="nginx"].image');
});

test('steps are in the order of Go: fields, keys by value, values by type, indices by number', () => {
  const given = {
    'i:10': {},
    'i:9': {},
    'v:true': {},
    'v:"a"': {},
    'v:10': {},
    'v:9': {},
    'k:{"port":443}': {},
    'k:{"port":80}': {},
    'k:{"name":"a!"}': {},
    'k:{"name":"a"}': {},
    'f:b': {},
    'f:a-b': {},
    'f:a': {},
  };
  assert.deepEqual(Object.keys(readFieldSet(given)), [
    ...['f:a', 'f:a-b', 'f:b', 'k:{"name":"a"}', 'k:{"name":"a!"}', 'k:{"port":80}', 'k:{"port":443}'],
    ...['v:9', 'v:10', 'v:"a"', 'v:true', 'i:9', 'i:10'],
  ]);
});

test('every step has one text', () => {
  const given = { 'k:{ "protocol": "TCP", "port": 80 }': {}, 'v:1.0': {}, 'v:"<"': {}, 'f:<': {} };
  assert.deepEqual(Object.keys(readFieldSet(given)), ['f:<', 'k:{"port":80,"protocol":"TCP"}', 'v:1', 'v:"\\u003c"']);
});

test('steps of kinds not known are ignored, and so is the root itself', () => {
  assert.deepEqual(readFieldSet({ '.': {}, 'x:y': { 'f:a': {} }, 'f:a': { '.': {} } }), { 'f:a': {} });
  assert.deepEqual(readFieldSet({ 'f:a': {}, 'x:y': {} }), { 'f:a': {} });
});

test('a tree that is canonical is the set itself', () => {
  const given = {
    'f:a': { '.': {}, 'k:{"name":"a","port":1}': {}, 'k:{"name":"a","port":10}': { 'f:b': {} } },
    'f:b': { 'v:"x"': {} },
  };
  assert.equal(readFieldSet(given), given);
});

test('no fields are the empty set', () => {
  for (const given of [undefined, null, {}]) assert.equal(isEmpty(readFieldSet(given)), true);
});

const malformed = [
  { name: 'a step of one character', given: { f: {} }, message: 'key must be 2 characters long:' },
  { name: 'a step without colon', given: { nonsense: {} }, message: 'missing colon: nonsense' },
  { name: 'a key that is no JSON', given: { 'k:{': {} }, message: 'invalid JSON: k:{' },
  { name: 'a key that is no object', given: { 'k:5': {} }, message: 'expected an object: k:5' },
  { name: 'an index that is no number', given: { 'i:x': {} }, message: 'parsing "x": invalid syntax' },
  { name: 'a leaf that is no map', given: { 'f:a': 5 }, message: 'expected a map of fields below f:a' },
  { name: 'a list', given: [], message: 'expected a map of fields' },
];
for (const { name, given, message } of malformed) {
  test(`${name} is no set`, () => {
    assert.throws(() => readFieldSet(given), { name: PathElementError.name, message });
  });
}

test('deep and wide trees are read in time proportional to their size', () => {
  let deep: object = {};
  for (let depth = 0; depth < 1000; depth++) deep = { 'f:a': deep };
  assert.equal(printed(readFieldSet(deep)).length, 1);
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k:{"name":"n${index}"}`, {}]));
  assert.equal(Object.keys(readFieldSet(wide)).length, 20_000);
});

const anyElement = fc.constantFrom('f:a', 'f:b', 'f:c', 'k:{"name":"a"}', 'k:{"name":"b"}', 'v:1', 'v:"x"', 'i:0');
const anySet = fc
  .array(fc.array(anyElement, { minLength: 1, maxLength: 3 }), { maxLength: 8 })
  .map((paths) => fieldSetOf(...paths));
const asTexts = (fields: FieldSet) => new Set(Array.from(pathsOf(fields), (path) => path.join('/')));

test('sets behave as sets of paths do', () => {
  fc.assert(
    fc.property(anySet, anySet, (a, b) => {
      const [left, right] = [asTexts(a), asTexts(b)];
      assert.deepEqual(asTexts(union(a, b)), left.union(right));
      assert.deepEqual(asTexts(intersection(a, b)), left.intersection(right));
      assert.deepEqual(asTexts(difference(a, b)), left.difference(right));
      assert.deepEqual(union(a, emptySet), a);
    }),
  );
});

test('what operations return reads back as the same text', () => {
  fc.assert(
    fc.property(anySet, anySet, (a, b) => {
      for (const result of [union(a, b), intersection(a, b), difference(a, b), recursiveDifference(a, b)]) {
        assert.equal(stringify(readFieldSet(JSON.parse(stringify(result)))), stringify(result));
      }
    }),
  );
});
