import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, test } from 'node:test';
import { secret } from '@kruise/api/core/secret';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import { signJwt, verificationKey } from './jwt.ts';
import { recordLegacyTokenUse } from './legacy-token-usage.ts';
import { legacyTokens } from './legacy-tokens.ts';
import type { TokenAuthenticator } from './token.ts';

let server: TestServer;
let tokens: TokenAuthenticator;
let uid: string;
const used: string[] = [];
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

before(async () => {
  server = await startTestServer({ admission: [] });
  const objects = (plural: string) => server.core.resources.find('', 'v1', plural)!.storage;
  tokens = legacyTokens(
    {
      serviceAccounts: objects('serviceaccounts'),
      pods: objects('pods'),
      secrets: objects('secrets'),
      nodes: objects('nodes'),
    },
    {
      keys: async () => [verificationKey(privateKey)],
      audiences: ['api'],
      onUse: ({ metadata }) => used.push(metadata.name ?? ''),
    },
  );
  const account = await server.client.create(serviceAccount, { metadata: { name: 'robot', namespace: 'default' } });
  uid = account.metadata.uid!;
});
after(() => server.close());

/** Stores a token in a Secret of that name, as the token controller does. */
async function storeToken(name: string, labels: { readonly [key: string]: string } = {}): Promise<string> {
  const prefix = 'kubernetes.io/serviceaccount';
  const token = await signJwt(
    {
      iss: 'kubernetes/serviceaccount',
      sub: 'system:serviceaccount:default:robot',
      [`${prefix}/namespace`]: 'default',
      [`${prefix}/secret.name`]: name,
      [`${prefix}/service-account.name`]: 'robot',
      [`${prefix}/service-account.uid`]: uid,
    },
    privateKey,
  );
  await server.client.create(secret, {
    metadata: { name, namespace: 'default', labels, annotations: { 'kubernetes.io/service-account.name': 'robot' } },
    type: 'kubernetes.io/service-account-token',
    data: { token: Buffer.from(token).toString('base64') },
  });
  await server.core.feed.waitForCurrent();
  return token;
}

const ask = async (token: string, audiences = ['api']) => tokens.authenticate(token, audiences);

test('a legacy token authenticates its ServiceAccount, and its use is reported', async () => {
  const found = await ask(await storeToken('good'));
  assert.equal(found?.user.username, 'system:serviceaccount:default:robot');
  assert.deepEqual(used, ['good']);
});

test('a legacy token is invalid after its Secret is deleted', async () => {
  const token = await storeToken('brief');
  await server.client.delete(secret, { name: 'brief', namespace: 'default' });
  await server.core.feed.waitForCurrent();
  await assert.rejects(ask(token), { message: 'service account token has been invalidated' });
});

test('a token that is no longer in its Secret is invalid', async () => {
  const token = await storeToken('changed');
  const data = { token: Buffer.from('other').toString('base64') };
  await server.client.patch(secret, { name: 'changed', namespace: 'default' }, { data }, { type: 'merge' });
  await server.core.feed.waitForCurrent();
  await assert.rejects(ask(token), { message: 'service account token has been invalidated' });
});

test('a token that is marked as invalid is rejected', async () => {
  const token = await storeToken('marked', { 'kubernetes.io/legacy-token-invalid-since': '2026-01-01' });
  await assert.rejects(ask(token), { message: /has been marked invalid/ });
});

test('a legacy token is only valid for the API server', async () => {
  await assert.rejects(ask(await storeToken('narrow'), ['vault']), { name: 'InvalidToken' });
});

test('another type of token is left to other authenticators', async () => {
  assert.equal(await ask(await signJwt({ iss: 'https://example.com' }, privateKey)), undefined);
  assert.equal(await ask('nonsense'), undefined);
});

test('the date of last use is recorded on the Secret once', async () => {
  const fail = (error: unknown) => assert.fail(String(error));
  await storeToken('noted');
  const reference = { name: 'noted', namespace: 'default' };
  const before = await server.client.get(secret, reference);
  // The Secret comes from a cache with untyped objects.
  recordLegacyTokenUse(server.core, before as unknown as Parameters<typeof recordLegacyTokenUse>[1], fail);
  let noted = before;
  for (let attempt = 0; attempt < 100 && noted.metadata.labels === undefined; attempt++) {
    await new Promise(setImmediate);
    noted = await server.client.get(secret, reference);
  }
  const today = new Date(server.core.clock.now()).toISOString().slice(0, 10);
  assert.equal(noted.metadata.labels?.['kubernetes.io/legacy-token-last-used'], today);
  recordLegacyTokenUse(server.core, noted as unknown as Parameters<typeof recordLegacyTokenUse>[1], fail);
  await server.core.feed.waitForCurrent();
  const after = await server.client.get(secret, reference);
  assert.equal(after.metadata.resourceVersion, noted.metadata.resourceVersion);
});
