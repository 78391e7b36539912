import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { decodeJwt, isSignedBy, jsonWebKeys, signJwt, verificationKey } from './jwt.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

for (const [algorithm, key] of [
  ['RS256', rsa],
  ['ES256', ec],
] as const) {
  test(`a token signed with ${algorithm} contains the claims and the key id`, async () => {
    const decoded = decodeJwt(await signJwt({ sub: 'ann' }, key));
    assert.deepEqual(decoded?.claims, { sub: 'ann' });
    assert.deepEqual(decoded?.header, { alg: algorithm, kid: verificationKey(key).id });
    assert.ok(isSignedBy(decoded!, [verificationKey(key)]));
  });
}

test('private and public key yield the same verification key', () => {
  const publicPem = createPublicKey(rsa).export({ type: 'spki', format: 'pem' }).toString();
  assert.equal(verificationKey(publicPem).id, verificationKey(rsa).id);
});

test('another key does not verify a token', async () => {
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  assert.equal(isSignedBy(decodeJwt(await signJwt({}, ec))!, [verificationKey(other)]), false);
});

test('a token with modified claims is rejected', async () => {
  const [header, , signature] = (await signJwt({ sub: 'ann' }, ec)).split('.');
  const claims = Buffer.from(JSON.stringify({ sub: 'root' })).toString('base64url');
  assert.equal(isSignedBy(decodeJwt(`${header}.${claims}.${signature}`)!, [verificationKey(ec)]), false);
});

test('a token with algorithm none is rejected', () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = decodeJwt(`${part({ alg: 'none' })}.${part({ sub: 'root' })}.`);
  assert.equal(isSignedBy(token!, [verificationKey(rsa)]), false);
});

test('a malformed token is not decoded', () => {
  for (const text of ['', 'a', 'a.b', 'a.b.c', 'a.b.c.d', 'W10.W10.x', '....'])
    assert.equal(decodeJwt(text), undefined);
});

test('the JSON Web Key Set contains only public keys', () => {
  const { keys } = jsonWebKeys([verificationKey(rsa), verificationKey(ec)]) as { keys: object[] };
  assert.deepEqual(
    keys.map((key) => Object.keys(key)),
    [
      ['use', 'kty', 'kid', 'alg', 'n', 'e'],
      ['use', 'kty', 'kid', 'alg', 'crv', 'x', 'y'],
    ],
  );
});
