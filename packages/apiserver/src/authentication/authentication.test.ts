import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { systemClock, systemRandom } from '@kruise/values/system';
import { startTestServer } from '../testing/test-server.ts';
import { createAuthentication } from './authentication.ts';
import { decodeJwt, isSignedBy, verificationKey } from './jwt.ts';

const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: 'default' } };
const order = { account, audiences: ['api'], expirationSeconds: 3600, bound: {} };

async function authenticationWith(serviceAccountKey?: Promise<string>) {
  await using server = await startTestServer({ admission: [] });
  return createAuthentication(server.core.resources, systemClock, systemRandom, {
    serviceAccountKey,
    onLegacyUse: () => {},
  });
}

test('a token requested before the key is generated is signed as soon as the key exists', async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = Promise.withResolvers<string>();
  const { issuer, keys } = await authenticationWith(key.promise);
  const token = issuer.issue(order);
  key.resolve(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  assert.ok(isSignedBy(decodeJwt(await token)!, [verificationKey(privateKey)]));
  assert.deepEqual(
    (await keys()).map(({ algorithm }) => algorithm),
    ['RS256'],
  );
});

test('token requests fail if no key could be generated', async () => {
  const key = Promise.withResolvers<string>();
  const { issuer, tokens, audiences } = await authenticationWith(key.promise);
  key.reject(new Error('no key'));
  await assert.rejects(issuer.issue(order), /no key/);
  const { issuer: elsewhere } = await authenticationWith();
  await assert.rejects(tokens.authenticate(await elsewhere.issue(order), audiences) as Promise<unknown>, /no key/);
});
