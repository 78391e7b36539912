import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { deepHashOfBytes, fnv1, fnv1a, fnv1aWide, fnv1Wide, revisionHash, revisionName, safeEncode } from './hash.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

// The vectors of the algorithm's authors.
const vectors: readonly (readonly [string, number, number, bigint, bigint])[] = [
  ['', 0x811c9dc5, 0x811c9dc5, 0xcbf29ce484222325n, 0xcbf29ce484222325n],
  ['a', 0x050c5d7e, 0xe40c292c, 0xaf63bd4c8601b7ben, 0xaf63dc4c8601ec8cn],
  ['foobar', 0x31f0b262, 0xbf9cf968, 0x340d8765a4dda9c2n, 0x85944171f73967e8n],
];
for (const [text, one, oneA, wide, wideA] of vectors) {
  test(`the hashes of ${JSON.stringify(text)} are those published`, () => {
    assert.equal(fnv1(bytes(text)), one);
    assert.equal(fnv1a(bytes(text)), oneA);
    assert.equal(fnv1Wide(bytes(text)), wide);
    assert.equal(fnv1aWide(bytes(text)), wideA);
  });
}

test('64 bits come out as they do by the definition', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (input) => {
      let hash = 0xcbf29ce484222325n;
      for (const byte of input) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
      assert.equal(fnv1aWide(input), hash);
    }),
  );
});

test('a revision is named by its parent and the hash of its data', () => {
  const data =
    '{"spec":{"template":{"$patch":"replace","metadata":{"creationTimestamp":null,"labels":{"app":"web"}},"spec":{"containers":[{"image":"app:v1","name":"main","resources":{}}]}}}}';
  assert.equal(revisionName('set-0', revisionHash(data)), 'set-0-5db5795cf8');
  assert.notEqual(revisionHash(data, 1), revisionHash(data));
});

test('a long parent name is cut to leave room for the hash', () => {
  assert.equal(revisionName('a'.repeat(300), 'bcd'), `${'a'.repeat(223)}-bcd`);
});

test('digits are mapped into the alphabet of safe names', () => {
  assert.equal(safeEncode('0123456789'), '456789bcdf');
});

test('bytes are hashed as Go prints them', () => {
  assert.equal(deepHashOfBytes(bytes('{"image":"foo/image:v1","name":"test_container"}')), 0x8e45cbd0);
  assert.equal(deepHashOfBytes(bytes('[{"name":"e2","value":"foo"}]')), 2053173458);
  assert.equal(deepHashOfBytes(bytes('null')), 86995377);
});
