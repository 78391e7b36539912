import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { secret } from '@kruise/api/core/secret';
import { virtualClock } from '@kruise/values/virtual-clock';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import { bootstrapTokens } from './bootstrap-tokens.ts';
import type { TokenAuthenticator } from './token.ts';

let server: TestServer;
let tokens: TokenAuthenticator;
const clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));

before(async () => {
  server = await startTestServer({ admission: [] });
  tokens = bootstrapTokens(server.core.resources.find('', 'v1', 'secrets')!.storage, clock);
});
after(() => server.close());

const good = {
  'token-secret': '0123456789abcdef',
  'usage-bootstrap-authentication': 'true',
  expiration: '2026-01-02T00:00:00Z',
};

async function tokenOf(id: string, fields: { readonly [key: string]: string }): Promise<string | undefined> {
  const data = Object.entries({ 'token-id': id, ...good, ...fields }).map(([key, value]) => [
    key,
    Buffer.from(value).toString('base64'),
  ]);
  await server.client.create(secret, {
    metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    data: Object.fromEntries(data),
  });
  await server.core.feed.caughtUp();
  const found = await tokens.authenticate(`${id}.0123456789abcdef`, []);
  return found && `${found.user.username} ${found.user.groups.join(' ')}`;
}

const cases: readonly [name: string, id: string, fields: object, who: string | undefined][] = [
  ['introduces a node', 'aaaaaa', {}, 'system:bootstrap:aaaaaa system:bootstrappers'],
  [
    'may say more groups',
    'bbbbbb',
    { 'auth-extra-groups': 'system:bootstrappers:z,system:bootstrappers:a' },
    'system:bootstrap:bbbbbb system:bootstrappers system:bootstrappers:a system:bootstrappers:z',
  ],
  ['may not say other groups', 'cccccc', { 'auth-extra-groups': 'system:masters' }, undefined],
  ['ends with its time', 'dddddd', { expiration: '2025-12-31T23:59:59Z' }, undefined],
  ['with an unreadable end is not good', 'eeeeee', { expiration: 'never' }, undefined],
  ['for signing alone is not for this', 'ffffff', { 'usage-bootstrap-authentication': 'false' }, undefined],
  ['with another secret is not good', 'gggggg', { 'token-secret': 'fedcba9876543210' }, undefined],
  ['kept under another name is not good', 'hhhhhh', { 'token-id': 'iiiiii' }, undefined],
];

for (const [name, id, fields, who] of cases) {
  test(`a bootstrap token ${name}`, async () => {
    assert.equal(await tokenOf(id, fields as { readonly [key: string]: string }), who);
  });
}

test('what does not look like a bootstrap token is not one', () => {
  for (const token of ['aaaaaa', 'aaaaaa.short', 'AAAAAA.0123456789abcdef', 'x.y.z']) {
    assert.equal(tokens.authenticate(token, []), undefined);
  }
});
