import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { countMembers, findDuplicateKeys, parseJson, scanJson } from './json-text.ts';

const syntaxErrors: readonly (readonly [text: string, message: string])[] = [
  ['', 'unexpected end of JSON input'],
  ['{"a"', 'unexpected end of JSON input'],
  ['"a', 'unexpected end of JSON input'],
  ['tru', "invalid character ' ' in literal true (expecting 'e')"],
  ['nulx', "invalid character 'x' in literal null (expecting 'l')"],
  ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b":2}', `invalid character '"' after object key:value pair`],
  ['[1 2]', "invalid character '2' after array element"],
  ['[1,]', "invalid character ']' looking for beginning of value"],
  ["'a'", "invalid character '\\'' looking for beginning of value"],
  ['é', "invalid character 'Ã' looking for beginning of value"],
  ['{} x', "invalid character 'x' after top-level value"],
  ['01', "invalid character '1' after top-level value"],
  ['-', "invalid character ' ' in numeric literal"],
  ['1.x', "invalid character 'x' after decimal point in numeric literal"],
  ['1e+', "invalid character ' ' in exponent of numeric literal"],
  ['"\n"', "invalid character '\\n' in string literal"],
  ['"\\x"', "invalid character 'x' in string escape code"],
  ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
];
for (const [text, message] of syntaxErrors) {
  test(`${JSON.stringify(text)} is rejected with Go's message`, () => {
    assert.throws(() => parseJson(text), { name: 'JsonSyntaxError', message });
  });
}

test('integers that a number cannot hold are kept exactly', () => {
  assert.deepEqual(parseJson('[9007199254740991,9007199254740993,-9223372036854775808,0.1234567890123456]'), [
    9007199254740991,
    9007199254740993n,
    -9223372036854775808n,
    0.1234567890123456,
  ]);
});

test('a number that is not finite is rejected', () => {
  assert.throws(() => parseJson('[1e400]'), /cannot unmarshal number 1e400 into Go value of type float64/);
});

test('invalid Unicode is replaced as in Go', () => {
  assert.equal(parseJson('"\\ud800x"'), '\ufffdx');
  assert.equal(parseJson('"\\ud83d\\ude00"'), '\u{1f600}');
  assert.equal(parseJson(Buffer.from('22e28241ff22', 'hex')), '\ufffd\ufffdA\ufffd');
});

test('a text that is nested too deeply is rejected without a stack overflow', () => {
  assert.throws(() => parseJson('['.repeat(1e6) + ']'.repeat(1e6)), /invalid character '\[' exceeded max depth/);
  assert.throws(() => parseJson('{"a":'.repeat(1e5)), { name: 'JsonSyntaxError' });
});

test('duplicate keys are found by path', () => {
  const scanned = scanJson('{"a":{"b":1,"b":2},"l":[{},{"c":1,"c":1,"c":1}],"s":"\\"x\\":{:"}');
  assert.deepEqual(findDuplicateKeys(scanned), ['a.b', 'l[1].c']);
});

test('keys with a special meaning in JavaScript are ordinary keys', () => {
  const value = parseJson('{"__proto__":{"polluted":1},"constructor":1,"big":12345678901234567890}') as object;
  assert.deepEqual(Object.keys(value), ['__proto__', 'constructor', 'big']);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.equal('polluted' in {}, false);
});

test('parseJson agrees with JSON.parse on every JSON value except large integers', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const scanned = scanJson(text);
      const rounded = (_key: string, value: unknown) => (typeof value === 'bigint' ? Number(value) : value);
      assert.equal(JSON.stringify(parseJson(text), rounded), JSON.stringify(JSON.parse(text)));
      assert.equal(scanned.scan.memberCount, countMembers(scanned.value));
    }),
    { seed: 1, numRuns: 300 },
  );
});

test('parseJson returns a value or throws a syntax error for any bytes', () => {
  const mutated = fc
    .tuple(fc.json(), fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 3 }))
    .map(([text, changes]) => {
      const bytes = Buffer.from(text);
      for (const [at, byte] of changes) if (at < bytes.length) bytes[at] = byte;
      return bytes;
    });
  fc.assert(
    fc.property(fc.oneof(mutated, fc.uint8Array({ maxLength: 40 })), (bytes) => {
      try {
        parseJson(bytes);
      } catch (error) {
        assert.equal((error as Error).name, 'JsonSyntaxError');
      }
    }),
    { seed: 2, numRuns: 1000 },
  );
});
