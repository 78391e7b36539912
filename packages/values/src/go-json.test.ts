import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { stringify, stringifySorted } from './go-json.ts';

const cases: readonly (readonly [string, unknown, string])[] = [
  ['characters with a meaning in HTML are escaped', { a: '<b>&' }, '{"a":"\\u003cb\\u003e\\u0026"}'],
  ['escapes them in keys too', { '<': 1 }, '{"\\u003c":1}'],
  ['escapes the line breaks of old JavaScript', '\u2028\u2029', '"\\u2028\\u2029"'],
  ['replaces half of a surrogate pair', '\ud800x\udc00', '"\\ufffdx\\ufffd"'],
  ['leaves a text that only looks like one', '\\ud800<', '"\\\\ud800\\u003c"'],
  ['leaves other escapes', '\b\f\n\r\t\x00\x1f\x7f"\\/&', '"\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\\"\\\\/\\u0026"'],
  ['writes a bigint as a number', { a: 2n ** 63n - 1n, b: ['<'] }, '{"a":9223372036854775807,"b":["\\u003c"]}'],
  ['writes exponents as Go does', [1e21, 1e-7, 1e20], '[1e+21,1e-7,100000000000000000000]'],
  ['writes nothing as null', undefined, 'null'],
];
for (const [name, value, expected] of cases) {
  test(name, () => assert.equal(stringify(value), expected));
}

test('circular values are rejected', () => {
  const loop: Record<string, unknown> = {};
  loop['self'] = loop;
  assert.throws(() => stringify(loop), TypeError);
});

test('keys are sorted by their bytes, including integer-like ones, and undefined values are omitted', () => {
  assert.equal(
    stringifySorted({ b: 1, '9': 2, '10': { z: 1, a: [{ d: 1, c: 2 }] }, u: undefined }),
    '{"10":{"a":[{"c":2,"d":1}],"z":1},"9":2,"b":1}',
  );
});

test('encoded values decode to the same value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      assert.deepEqual(JSON.parse(stringify(value)), JSON.parse(JSON.stringify(value)));
      assert.deepEqual(JSON.parse(stringifySorted(value)), JSON.parse(JSON.stringify(value)));
    }),
  );
});
