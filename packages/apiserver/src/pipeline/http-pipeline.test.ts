import assert from 'node:assert/strict';
import { request } from 'node:https';
import { after, before, describe, test } from 'node:test';
import { createAuditLog } from '../audit/audit.ts';
import { readPolicy } from '../audit/policy.ts';
import { credentialsIn, rawRequests } from '../testing/raw-requests.ts';
import { type Listening, startTestServer, type TestServer } from '../testing/test-server.ts';

type Recorded = {
  readonly user: { readonly username: string };
  readonly impersonatedUser?: { readonly username: string };
  readonly requestObject?: unknown;
  readonly responseStatus: { readonly code: number };
};

describe('requests are authorized before their content is read', () => {
  const records: Recorded[] = [];
  let server: TestServer & Listening;
  let ask: ReturnType<typeof rawRequests>;
  let askAnonymously: ReturnType<typeof rawRequests>;

  before(async () => {
    const policy = readPolicy({
      kind: 'Policy',
      apiVersion: 'audit.k8s.io/v1',
      omitStages: ['RequestReceived'],
      rules: [
        { level: 'Request', users: ['test-admin', 'system:anonymous'], resources: [{ resources: ['configmaps'] }] },
      ],
    });
    const audit = createAuditLog(policy, (line) => records.push(JSON.parse(line) as Recorded));
    server = await startTestServer({ https: true, audit });
    ask = rawRequests(server);
    askAnonymously = rawRequests(server, { anonymous: true });
  });
  after(async () => {
    ask.close();
    askAnonymously.close();
    await server.close();
  });

  const collection = '/api/v1/namespaces/default/configmaps';
  const cannotCreate =
    'configmaps is forbidden: User "system:anonymous" cannot create resource "configmaps" in API group "" in the namespace "default"';

  test('a request is denied without reading its body', async () => {
    const { ca } = credentialsIn(server);
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const outgoing = request(`${server.url}${collection}`, {
      method: 'POST',
      ca,
      agent: false,
      headers: { 'content-type': 'application/json', 'content-length': String(3 << 20) },
      signal: AbortSignal.timeout(5000),
    });
    outgoing.once('response', (response) => resolve(response.statusCode ?? 0));
    outgoing.once('error', reject);
    outgoing.write('{"kind":');
    assert.equal(await promise, 403);
    outgoing.destroy();
  });

  const refusals: readonly { readonly name: string; readonly headers: { readonly [name: string]: string } }[] = [
    { name: 'in an unsupported media type', headers: { accept: 'text/html' } },
    { name: 'with a body of an unknown type', headers: { 'content-type': 'text/html' } },
    { name: 'with an undecodable body', headers: { 'content-type': 'application/json' } },
  ];
  for (const { name, headers } of refusals) {
    test(`an unauthorized request ${name} gets 403 first`, async () => {
      const { code, text } = await askAnonymously(collection, { method: 'POST', headers, body: '{{' });
      assert.deepEqual([code, JSON.parse(text).message], [403, cannotCreate]);
    });
  }

  test('an unknown path is 403 for users without permission, and 404 for users with permission', async () => {
    assert.equal((await askAnonymously('/api/v1/nonsense')).code, 403);
    assert.equal((await ask('/api/v1/nonsense')).code, 404);
    assert.equal((await askAnonymously('/nonsense')).code, 403);
    assert.equal((await ask('/nonsense')).code, 404);
  });

  test('authorization precedes content negotiation', async () => {
    assert.equal((await ask('/api/v1/nonsense', { headers: { accept: 'text/html' } })).code, 404);
    assert.equal((await ask(collection, { headers: { accept: 'text/html' } })).code, 406);
  });

  test('the body of an unauthorized request is not audited', async () => {
    records.length = 0;
    const sent = { method: 'POST', headers: { 'content-type': 'application/yaml' }, body: 'data: {a: b}' };
    assert.equal((await askAnonymously(collection, sent)).code, 403);
    assert.deepEqual(
      records.map(({ requestObject, responseStatus: { code } }) => [code, requestObject]),
      [[403, undefined]],
    );
    assert.equal((await ask(collection, sent)).code, 422);
    assert.deepEqual(records[1]?.requestObject, { data: { a: 'b' } });
  });

  test('a body with an integer beyond 2^53 is audited', async () => {
    records.length = 0;
    await ask(collection, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"unknown":12345678901234567890}',
    });
    assert.equal(records.length, 1);
  });

  test('a denied impersonation is audited as its sender', async () => {
    records.length = 0;
    const { code, text } = await askAnonymously(collection, { headers: { 'impersonate-user': 'test-admin' } });
    assert.equal(code, 403);
    assert.match(
      JSON.parse(text).message,
      /^users "test-admin" is forbidden: User "system:anonymous" cannot impersonate/,
    );
    assert.deepEqual(
      records.map(({ user, responseStatus }) => [user.username, responseStatus.code]),
      [['system:anonymous', 403]],
    );
  });

  test('an audit policy rule applies to the sender, whichever user the sender impersonates', async () => {
    records.length = 0;
    await ask(collection, { headers: { 'impersonate-user': 'somebody-else' } });
    assert.deepEqual(
      records.map(({ user, impersonatedUser }) => [user.username, impersonatedUser?.username]),
      [['test-admin', 'somebody-else']],
    );
  });
});

test('an audit event names the impersonated user once the impersonation is allowed', async (t) => {
  const events: {
    readonly stage: string;
    readonly user: { readonly username: string };
    readonly impersonatedUser?: object;
  }[] = [];
  const policy = readPolicy({
    kind: 'Policy',
    apiVersion: 'audit.k8s.io/v1',
    rules: [{ level: 'Metadata', users: ['test-admin'], resources: [{ resources: ['configmaps'] }] }],
  });
  const audit = createAuditLog(policy, (line) => events.push(JSON.parse(line)));
  const server = await startTestServer({ https: true, audit });
  const ask = rawRequests(server);
  t.after(async () => {
    ask.close();
    await server.close();
  });
  const headers = { 'impersonate-user': 'eve', 'impersonate-uid': '7' };
  assert.equal((await ask('/api/v1/namespaces/default/configmaps', { headers })).code, 403);
  const eve = { username: 'eve', uid: '7', groups: ['system:authenticated'] };
  assert.deepEqual(
    events.map(({ stage, user, impersonatedUser }) => [stage, user.username, impersonatedUser]),
    [
      ['RequestReceived', 'test-admin', undefined],
      ['ResponseComplete', 'test-admin', eve],
    ],
  );
});
