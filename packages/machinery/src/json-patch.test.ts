import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import fastJsonPatch from 'fast-json-patch';
import { applyJsonPatch, asJsonPatch, maxOperations, type Operation } from './json-patch.ts';

const applied: readonly (readonly [string, unknown, readonly Operation[], unknown])[] = [
  ['adds a field', { a: 1 }, [{ op: 'add', path: '/b', value: 2 }], { a: 1, b: 2 }],
  ['adds over a field', { a: 1 }, [{ op: 'add', path: '/a', value: 2 }], { a: 2 }],
  ['inserts into a list', { a: [1, 3] }, [{ op: 'add', path: '/a/1', value: 2 }], { a: [1, 2, 3] }],
  ['appends to a list', { a: [1] }, [{ op: 'add', path: '/a/-', value: 2 }], { a: [1, 2] }],
  ['counts from the end', { a: [1, 2] }, [{ op: 'add', path: '/a/-1', value: 3 }], { a: [1, 2, 3] }],
  ['adds null for a value left out', { a: 1 }, [{ op: 'add', path: '/b' }], { a: 1, b: null }],
  ['removes from a list', { a: [1, 2, 3] }, [{ op: 'remove', path: '/a/-2' }], { a: [1, 3] }],
  ['replaces', { a: [1] }, [{ op: 'replace', path: '/a/0', value: {} }], { a: [{}] }],
  ['creates what it would replace', {}, [{ op: 'replace', path: '/a', value: 1 }], { a: 1 }],
  ['replaces all', { a: 1 }, [{ op: 'replace', path: '', value: { b: 2 } }], { b: 2 }],
  ['keeps all rather than be a scalar', { a: 1 }, [{ op: 'replace', path: '', value: 2 }], { a: 1 }],
  ['moves', { a: { b: 1 } }, [{ op: 'move', from: '/a/b', path: '/c' }], { a: {}, c: 1 }],
  ['copies', { a: [1] }, [{ op: 'copy', from: '/a', path: '/b' }], { a: [1], b: [1] }],
  ['copies what is not there as null', { a: {} }, [{ op: 'copy', from: '/a/x', path: '/b' }], { a: {}, b: null }],
  ['tests', { a: { b: [1, null] } }, [{ op: 'test', path: '/a', value: { b: [1, null] } }], { a: { b: [1, null] } }],
  ['takes what is not there for null', {}, [{ op: 'test', path: '/a', value: null }], {}],
  [
    'unescapes keys once',
    { '~1': 1, '/': 2 },
    [
      { op: 'remove', path: '/~01' },
      { op: 'remove', path: '/~1' },
    ],
    {},
  ],
  ['takes any number for an index', { a: [1, 2] }, [{ op: 'replace', path: '/a/+01', value: 3 }], { a: [1, 3] }],
  ['ignores what precedes the first slash', { a: 1 }, [{ op: 'remove', path: 'x/a' }], {}],
];
for (const [name, document, patch, expected] of applied) {
  test(name, () => assert.deepEqual(applyJsonPatch(deepFreeze(document), deepFreeze(patch)), expected));
}

const refused: readonly (readonly [unknown, Operation, string])[] = [
  [{}, { op: 'nope', path: '/a' }, 'Unexpected kind: nope'],
  [{}, {}, 'Unexpected kind: unknown'],
  [{}, { op: 'add' }, 'add operation failed to decode path: missing value'],
  [{}, { op: 'add', path: '' }, 'add operation does not apply: doc is missing path: "": missing value'],
  [{}, { op: 'add', path: '/a/b' }, 'add operation does not apply: doc is missing path: "/a/b": missing value'],
  [
    { a: null },
    { op: 'add', path: '/a/b' },
    'add operation does not apply: doc is missing path: "/a/b": missing value',
  ],
  [
    { a: 'x' },
    { op: 'add', path: '/a/length/x' },
    'add operation does not apply: doc is missing path: "/a/length/x": missing value',
  ],
  [
    { a: [] },
    { op: 'add', path: '/a/1' },
    "error in add for path: '/a/1': Unable to access invalid index: 1: invalid index referenced",
  ],
  [
    { a: [] },
    { op: 'add', path: '/a/x' },
    `error in add for path: '/a/x': value was not a proper array index: 'x': strconv.Atoi: parsing "x": invalid syntax`,
  ],
  [
    {},
    { op: 'remove', path: '/a' },
    "error in remove for path: '/a': Unable to remove nonexistent key: a: missing value",
  ],
  [
    {},
    { op: 'remove', path: '/toString' },
    "error in remove for path: '/toString': Unable to remove nonexistent key: toString: missing value",
  ],
  [
    { a: [1] },
    { op: 'replace', path: '/a/1' },
    'replace operation does not apply: doc is missing key: /a/1: missing value',
  ],
  [
    {},
    { op: 'replace', path: 5 },
    'replace operation failed to decode path: json: cannot unmarshal number into Go value of type string',
  ],
  [
    {},
    { op: 'move', path: '/a' },
    'move operation failed to decode from: operation, missing from field: missing value',
  ],
  [
    {},
    { op: 'move', from: '/a', path: '/b' },
    "error in move for path: 'a': Unable to remove nonexistent key: a: missing value",
  ],
  [
    { a: {} },
    { op: 'move', from: '/a', path: '/a/b' },
    'move operation does not apply: doc is missing destination path: /a/b: missing value',
  ],
  [{ a: 1 }, { op: 'test', path: '/a', value: 2 }, 'testing value /a failed: test failed'],
  [{ a: 1 }, { op: 'test', path: '/a' }, 'testing value /a failed: test failed'],
  [{ a: 1 }, { op: 'test', path: '/b/c' }, 'test operation does not apply: is missing path: /b/c: missing value'],
];
for (const [document, operation, message] of refused) {
  test(`${JSON.stringify(operation)} on ${JSON.stringify(document)} is refused`, () => {
    assert.throws(() => applyJsonPatch(deepFreeze(document), [operation]), { name: 'JsonPatchError', message });
  });
}

test('what the patch leaves alone is shared', () => {
  const document = deepFreeze({ a: { b: 1 }, c: { d: [] } });
  const result = applyJsonPatch(document, [{ op: 'add', path: '/a/x', value: 1 }]) as typeof document;
  assert.equal(result.c, document.c);
  assert.notEqual(result.a, document.a);
});

test('a copy is apart from what it was copied from, even inside it', () => {
  const document = deepFreeze({ a: { list: [1] } });
  const patch = [
    { op: 'add', path: '/a/list/-', value: 2 },
    { op: 'copy', from: '/a', path: '/a/inner' },
    { op: 'add', path: '/a/list/-', value: 3 },
    { op: 'add', path: '/a/inner/list/-', value: 4 },
  ];
  assert.deepEqual(applyJsonPatch(document, patch), { a: { list: [1, 2, 3], inner: { list: [1, 2, 4] } } });
});

test('names of prototypes are fields like any other', () => {
  const document = JSON.parse('{"a":{}}');
  const result = applyJsonPatch(document, [
    { op: 'add', path: '/a/__proto__', value: { polluted: 1 } },
    { op: 'add', path: '/a/constructor', value: 2 },
  ]);
  assert.equal(JSON.stringify(result), '{"a":{"__proto__":{"polluted":1},"constructor":2}}');
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  assert.throws(() => applyJsonPatch({}, [{ op: 'add', path: '/__proto__/x', value: 1 }]), { name: 'JsonPatchError' });
});

test('doubling by copies is stopped', () => {
  const doubling = Array.from({ length: 40 }, () => ({ op: 'copy', from: '/a', path: '/a/-' }));
  assert.throws(() => applyJsonPatch({ a: ['x'.repeat(100)] }, doubling), /exceeding the limit 3145728$/);
});

test('many operations on one list, and a long pointer, take little time', () => {
  const list = Array.from({ length: maxOperations }, () => ({ op: 'add', path: '/a/-', value: 1 }));
  assert.equal((applyJsonPatch({ a: [] }, list) as { a: unknown[] }).a.length, maxOperations);
  assert.throws(() => applyJsonPatch({}, [{ op: 'add', path: '/a'.repeat(500_000), value: 1 }]), {
    name: 'JsonPatchError',
  });
});

test('only a list of objects is a patch', () => {
  assert.deepEqual(asJsonPatch(null), []);
  assert.deepEqual(asJsonPatch([null, { op: 'add' }]), [{}, { op: 'add' }]);
  assert.throws(() => asJsonPatch({}), {
    message: 'json: cannot unmarshal object into Go value of type jsonpatch.Patch',
  });
  assert.throws(() => asJsonPatch([true]), {
    message: 'json: cannot unmarshal bool into Go value of type jsonpatch.Operation',
  });
});

test('a patch made by another library turns one document into the other', () => {
  const json = fc.dictionary(fc.constantFrom('a', 'b', 'c/d', 'e~f'), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });
  fc.assert(
    fc.property(json, json, (original, modified) => {
      // A copy by way of JSON, which has no negative zero and no object without prototype.
      const [before, after] = JSON.parse(JSON.stringify([original, modified]));
      assert.deepEqual(applyJsonPatch(deepFreeze(before), asJsonPatch(fastJsonPatch.compare(before, after))), after);
    }),
  );
});

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}
