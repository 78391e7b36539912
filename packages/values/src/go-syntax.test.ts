import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  compareStrings,
  formatGoSyntax,
  formatNumber,
  formatValue,
  goStringList,
  goStringMap,
  quote,
  quoteList,
} from './go-syntax.ts';

const quoted: readonly (readonly [string, string])[] = [
  ['plain', '"plain"'],
  ['say "hi" \\ bye', '"say \\"hi\\" \\\\ bye"'],
  ['\x00\x07\b\f\n\r\t\v\x7f', '"\\x00\\a\\b\\f\\n\\r\\t\\v\\x7f"'],
  ['é😀', '"é😀"'],
  ['\u00a0\u200b\u{e0001}', '"\\u00a0\\u200b\\U000e0001"'],
  ['\ud800', '"\ufffd"'],
];
for (const [text, expected] of quoted) {
  test(`${expected} is how %q prints it`, () => assert.equal(quote(text), expected));
}

test('lists and maps are printed as their Go types are', () => {
  assert.equal(quoteList(['a', 'b c']), '["a" "b c"]');
  assert.equal(goStringList(['a', 'b']), '[]string{"a", "b"}');
  assert.equal(goStringMap({ b: '2', a: '1' }), 'map[string]string{"a":"1", "b":"2"}');
  assert.equal(formatValue({ b: [1, 'x', null], a: { c: true } }), 'map[a:map[c:true] b:[1 x <nil>]]');
  assert.equal(
    formatGoSyntax({ a: ['x', 1.5], b: null }),
    'map[string]interface {}{"a":[]interface {}{"x", 1.5}, "b":interface {}(nil)}',
  );
});

const numbers: readonly (readonly [number, string])[] = [
  [0, '0'],
  [-0, '0'],
  [12345678, '12345678'],
  [0.1, '0.1'],
  [-123456.5, '-123456.5'],
  [-1529014.827, '-1.529014827e+06'],
  [0.0001, '0.0001'],
  [0.00001, '1e-05'],
  [1e300, '1e+300'],
  [Number.NEGATIVE_INFINITY, '-Inf'],
  [Number.NaN, 'NaN'],
];
for (const [value, expected] of numbers) {
  test(`the number ${value} is printed ${expected}`, () => assert.equal(formatNumber(value), expected));
}

test('strings are ordered by their UTF-8 bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
      assert.equal(compareStrings(a, b), Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
  assert.equal(compareStrings('\ue000', '😀'), -1);
});
