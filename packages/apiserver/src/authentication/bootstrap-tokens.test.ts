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
  await server.core.feed.waitForCurrent();
  const found = await tokens.authenticate(`${id}.0123456789abcdef`, []);
  return found && `${found.user.username} ${found.user.groups.join(' ')}`;
}

const cases: readonly [name: string, id: string, fields: object, expected: string | undefined][] = [
  ['authenticates a node', 'aaaaaa', {}, 'system:bootstrap:aaaaaa system:bootstrappers'],
  [
    'may have extra groups',
    'bbbbbb',
    { 'auth-extra-groups': 'system:bootstrappers:z,system:bootstrappers:a' },
    'system:bootstrap:bbbbbb system:bootstrappers system:bootstrappers:a system:bootstrappers:z',
  ],
  ['may not have other groups', 'cccccc', { 'auth-extra-groups': 'system:masters' }, undefined],
  ['expires', 'dddddd', { expiration: '2025-12-31T23:59:59Z' }, undefined],
  ['with an invalid expiration is rejected', 'eeeeee', { expiration: 'never' }, undefined],
  ['that is only for signing is rejected', 'ffffff', { 'usage-bootstrap-authentication': 'false' }, undefined],
  ['with a wrong secret is rejected', 'gggggg', { 'token-secret': 'fedcba9876543210' }, undefined],
  ['in a Secret with another name is rejected', 'hhhhhh', { 'token-id': 'iiiiii' }, undefined],
];

for (const [name, id, fields, expected] of cases) {
  test(`a bootstrap token ${name}`, async () => {
    assert.equal(await tokenOf(id, fields as { readonly [key: string]: string }), expected);
  });
}

test('a token in another format is no bootstrap token', () => {
  for (const token of ['aaaaaa', 'aaaaaa.short', 'AAAAAA.0123456789abcdef', 'x.y.z']) {
    assert.equal(tokens.authenticate(token, []), undefined);
  }
});
