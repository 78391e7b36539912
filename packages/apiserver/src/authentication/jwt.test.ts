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
  test(`a token signed by ${algorithm} says what was signed, and by which key`, async () => {
    const decoded = decodeJwt(await signJwt({ sub: 'ann' }, key));
    assert.deepEqual(decoded?.claims, { sub: 'ann' });
    assert.deepEqual(decoded?.header, { alg: algorithm, kid: verificationKey(key).id });
    assert.ok(isSignedBy(decoded!, [verificationKey(key)]));
  });
}

test('a key is the same whether its private or its public half is given', () => {
  const publicPem = createPublicKey(rsa).export({ type: 'spki', format: 'pem' }).toString();
  assert.equal(verificationKey(publicPem).id, verificationKey(rsa).id);
});

test('a token is not believed by another key', async () => {
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  assert.equal(isSignedBy(decodeJwt(await signJwt({}, ec))!, [verificationKey(other)]), false);
});

test('a token whose claims were changed is not believed', async () => {
  const [header, , signature] = (await signJwt({ sub: 'ann' }, ec)).split('.');
  const claims = Buffer.from(JSON.stringify({ sub: 'root' })).toString('base64url');
  assert.equal(isSignedBy(decodeJwt(`${header}.${claims}.${signature}`)!, [verificationKey(ec)]), false);
});

test('a token that says it needs no signature is not believed', () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = decodeJwt(`${part({ alg: 'none' })}.${part({ sub: 'root' })}.`);
  assert.equal(isSignedBy(token!, [verificationKey(rsa)]), false);
});

test('what is not a token is not read as one', () => {
  for (const text of ['', 'a', 'a.b', 'a.b.c', 'a.b.c.d', 'W10.W10.x', '....'])
    assert.equal(decodeJwt(text), undefined);
});

test('others are shown the public halves alone', () => {
  const { keys } = jsonWebKeys([verificationKey(rsa), verificationKey(ec)]) as { keys: object[] };
  assert.deepEqual(
    keys.map((key) => Object.keys(key)),
    [
      ['use', 'kty', 'kid', 'alg', 'n', 'e'],
      ['use', 'kty', 'kid', 'alg', 'crv', 'x', 'y'],
    ],
  );
});
