import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { verificationKey } from '../authentication/jwt.ts';
import type { HttpRequest } from './http-request.ts';
import { openIdEndpoints } from './openid-endpoints.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const keys = [verificationKey(privateKey)];
const endpoints = openIdEndpoints(
  { issuerUrl: 'https://issuer.example.com', keys: async () => keys },
  () => '192.0.2.1:6443',
);

/** Returns the response of an endpoint. */
async function sent(path: string) {
  let answer: { code: number; type: unknown; cache: unknown; body: unknown } | undefined;
  const httpRequest: Pick<HttpRequest, 'headers' | 'send'> = {
    headers: {},
    async send(code, headers, body) {
      answer = { code, type: headers['content-type'], cache: headers['cache-control'], body: JSON.parse(String(body)) };
    },
  };
  // The endpoint only reads the Accept header and responds.
  await endpoints.get(path)!(httpRequest as HttpRequest, undefined, {});
  assert.ok(answer);
  return answer;
}

test('the discovery document contains the URL of the keys', async () => {
  assert.deepEqual(await sent('/.well-known/openid-configuration'), {
    code: 200,
    type: 'application/json',
    cache: 'public, max-age=3600',
    body: {
      issuer: 'https://issuer.example.com',
      jwks_uri: 'https://192.0.2.1:6443/openid/v1/jwks',
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    },
  });
});

test('the key endpoint returns the keys', async () => {
  const answer = await sent('/openid/v1/jwks');
  assert.equal(answer.type, 'application/jwk-set+json');
  const [key] = (answer.body as { readonly keys: readonly { kid: string; kty: string }[] }).keys;
  assert.deepEqual([key?.kid, key?.kty], [keys[0]!.id, 'RSA']);
});
