import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalBase64, decodeBase64, encodeBase64 } from './base64.ts';

const refused: readonly (readonly [string, number])[] = [
  ['A', 0],
  ['AAAAA', 4],
  ['AA', 0],
  ['AAA', 0],
  ['AA=', 3],
  ['AA=A', 2],
  ['A===', 1],
  ['=', 0],
  ['AAA=AAAA', 4],
  ['AA==\nAA', 5],
  ['AA-_', 2],
  ['AAé=', 2],
  ['AA A', 2],
  ['AAA\n', 1],
];
for (const [text, index] of refused) {
  test(`${JSON.stringify(text)} is refused at byte ${index}`, () => {
    assert.throws(() => decodeBase64(text), {
      name: 'ParseError',
      message: `illegal base64 data at input byte ${index}`,
    });
  });
}

test('line breaks are skipped and unused bits cleared', () => {
  assert.equal(canonicalBase64('aGVs\r\nbG8=\n'), 'aGVsbG8=');
  assert.equal(canonicalBase64('aGVsbG9='), 'aGVsbG8=');
  assert.equal(canonicalBase64(''), '');
});

test('megabytes are read at once', () => {
  assert.equal(decodeBase64('A'.repeat(4_000_000)).length, 3_000_000);
});

test('encoded bytes decode to the same bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 50 }), (bytes) => {
      assert.deepEqual(Uint8Array.from(decodeBase64(encodeBase64(bytes))), bytes);
    }),
  );
});
