import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { attributesOf, type RawAttribute, rawName, rawRequest, stringTypes } from '../testing/signing-request.ts';
import {
  certificateSubject,
  createCertificateAuthority,
  generateKey,
  readEncodedRequest,
  readRequest,
} from './certificate.ts';
import * as der from './der.ts';

const nowMs = Date.parse('2026-01-02T03:04:05Z');
const authority = createCertificateAuthority('ca', nowMs);
const key = generateKey();
const terms = { usages: ['client auth'], notBeforeMs: nowMs, notAfterMs: nowMs + 1000 };

const requestOf = (...relatives: readonly (readonly RawAttribute[])[]) => rawRequest(rawName(relatives), key);
const certified = (text: string) => new X509Certificate(authority.certify(readRequest(text), terms));
const organization = (tag: number, content: Buffer): RawAttribute => ['2.5.4.10', tag, content];

for (const [name, tag, encode] of stringTypes) {
  test(`a subject in ${name} is read as text, and issued as UTF-8`, () => {
    const text = requestOf(...attributesOf(tag, encode, 'O=system:masters', 'CN=eve').map((one) => [one]));
    assert.deepEqual(readRequest(text).subject, { commonName: 'eve', organizations: ['system:masters'] });
    const certificate = certified(text);
    assert.equal(certificate.subject, 'O=system:masters\nCN=eve');
    assert.ok(certificate.raw.includes(der.utf8('system:masters')), 'UTF-8 in the certificate');
  });
}

test('a relative name of several attributes gives all of them', () => {
  const [, tag, encode] = stringTypes[0]!;
  const text = requestOf(
    attributesOf(tag, encode, 'O=a', 'O=system:masters', 'CN=eve'),
    attributesOf(tag, encode, 'O=a'),
  );
  assert.deepEqual(readRequest(text).subject, { commonName: 'eve', organizations: ['a', 'system:masters', 'a'] });
});

test('the last common name counts, and is the only one of the certificate', () => {
  const [, tag, encode] = stringTypes[0]!;
  const text = requestOf(...attributesOf(tag, encode, 'CN=first', 'CN=last').map((one) => [one]));
  assert.equal(readRequest(text).subject.commonName, 'last');
  assert.equal(certified(text).subject, 'CN=last');
});

test('attributes of other types are not issued', () => {
  const text = requestOf(
    [['0.9.2342.19200300.100.1.25', 22, Buffer.from('example')]],
    [organization(12, Buffer.from('a'))],
  );
  assert.equal(certified(text).subject, 'O=a');
});

const refused: readonly [name: string, attribute: RawAttribute, message: RegExp][] = [
  ['UniversalString', organization(28, Buffer.from('0000007300000079', 'hex')), /unsupported string type: 28$/],
  ['VisibleString', organization(26, Buffer.from('x')), /unsupported string type: 26$/],
  ['an octet string', organization(4, Buffer.from('system:masters')), /unsupported string type: 4$/],
  ['a UTF8String that is not UTF-8', organization(12, Buffer.from([0xc0, 0xaf])), /invalid UTF-8 string$/],
  ['a PrintableString with other characters', organization(19, Buffer.from('a@b')), /invalid PrintableString$/],
  ['an IA5String with a high byte', organization(22, Buffer.from([0xe9])), /invalid IA5String$/],
  ['a NumericString with letters', organization(18, Buffer.from('1a')), /invalid NumericString$/],
  ['a BMPString of an odd length', organization(30, Buffer.from([0, 0x61, 0])), /invalid BMPString$/],
  ['a BMPString with surrogates', organization(30, Buffer.from([0xd8, 0x3d, 0xde, 0])), /invalid BMPString$/],
];
for (const [name, attribute, message] of refused) {
  test(`a request with ${name} in its subject is refused`, () => {
    assert.throws(() => readRequest(requestOf([attribute])), message);
  });
}

test('a length in more bytes than it needs is refused', () => {
  const name = rawName([[organization(12, Buffer.from('a'))]]);
  const long = Buffer.concat([Buffer.from([0x30, 0x81, name.length - 2]), name.subarray(2)]);
  assert.throws(() => readRequest(rawRequest(long, key)), /non-minimal length/);
});

test('only the first block of a request counts, whatever bytes are in it', () => {
  const [, tag, encode] = stringTypes[0]!;
  const [plain, masters] = ['O=team', 'O=system:masters'].map((text) => requestOf(attributesOf(tag, encode, text)));
  // A no-break space is space to some readers and none to others, and then each sees another block.
  const spoiled = Buffer.from(plain!.replace('-----\n', '-----\n\u00a0'), 'latin1');
  const both = Buffer.concat([spoiled, Buffer.from(masters!)]).toString('base64');
  assert.throws(() => readEncodedRequest(both), /PEM block type must be CERTIFICATE REQUEST/);
});

test('the issued certificate has the subject that was checked, to us and to OpenSSL', () => {
  const attribute = fc.tuple(
    fc.constantFrom('CN=', 'O='),
    fc.constantFrom('system:masters', 'system:nodes', 'eve', 'a b', "o'brien"),
    fc.constantFrom(...stringTypes),
  );
  const name = fc.array(fc.array(attribute, { minLength: 1, maxLength: 3 }), { maxLength: 4 });
  fc.assert(
    fc.property(name, (relatives) => {
      const text = requestOf(
        ...relatives.map((some) =>
          some.flatMap(([type, value, [, tag, encode]]) => attributesOf(tag, encode, type + value)),
        ),
      );
      const { subject } = readRequest(text);
      const certificate = certified(text);
      assert.deepEqual(certificateSubject(certificate.raw), subject);
      const { CN = '', O = [] } = certificate.toLegacyObject().subject as { CN?: string; O?: string | string[] };
      assert.deepEqual({ commonName: CN, organizations: [O].flat() }, subject);
    }),
    { numRuns: 50 },
  );
});
