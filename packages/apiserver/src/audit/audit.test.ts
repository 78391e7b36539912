import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap } from '@kruise/api/core/configmap';
import { rawRequests } from '../testing/raw-requests.ts';
import { startTestServer } from '../testing/test-server.ts';
import { createAuditLog } from './audit.ts';
import { type AuditPolicy, readPolicy } from './policy.ts';

type Recorded = {
  readonly level: string;
  readonly stage: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly impersonatedUser?: { readonly username: string };
  readonly objectRef?: { readonly resource: string; readonly namespace?: string; readonly name?: string };
  readonly responseStatus?: { readonly code: number };
  readonly requestObject?: { readonly data?: object };
  readonly responseObject?: { readonly kind: string; readonly metadata: object };
  readonly annotations?: { readonly [key: string]: string };
};

async function start(policy: Omit<AuditPolicy, 'kind' | 'apiVersion'>) {
  const records: Recorded[] = [];
  const read = readPolicy({ kind: 'Policy', apiVersion: 'audit.k8s.io/v1', ...policy });
  const waiting: { readonly stage: string; readonly resolve: () => void }[] = [];
  const audit = createAuditLog(read, (line) => {
    const record = JSON.parse(line) as Recorded;
    records.push(record);
    for (const { stage, resolve } of waiting) if (stage === record.stage) resolve();
  });
  const recorded = (stage: string) =>
    records.some((each) => each.stage === stage)
      ? Promise.resolve()
      : new Promise<void>((resolve) => waiting.push({ stage, resolve }));
  const server = await startTestServer({ https: true, audit });
  return { records, server, recorded };
}

test('request and response objects are recorded according to the level', async () => {
  const { records, server } = await start({
    omitStages: ['RequestReceived'],
    rules: [
      { level: 'RequestResponse', resources: [{ group: '', resources: ['configmaps'] }], omitManagedFields: true },
      { level: 'Metadata' },
    ],
  });
  await using _ = server;
  await server.client.create(configMap, { metadata: { name: 'a', namespace: 'default' }, data: { k: 'v' } });
  const created = records.find(({ verb }) => verb === 'create')!;
  assert.deepEqual(
    [created.level, created.stage, created.user.username, created.responseStatus?.code],
    ['RequestResponse', 'ResponseComplete', 'test-admin', 201],
  );
  assert.deepEqual(created.objectRef, { resource: 'configmaps', namespace: 'default', apiVersion: 'v1' });
  assert.deepEqual(created.requestObject?.data, { k: 'v' });
  assert.equal(created.responseObject?.kind, 'ConfigMap');
  assert.ok(!('managedFields' in created.responseObject.metadata));
  assert.equal(created.annotations?.['authorization.k8s.io/decision'], 'allow');

  const ask = rawRequests(server);
  await ask('/version');
  ask.close();
  const version = records.find(({ requestURI }) => requestURI === '/version')!;
  assert.deepEqual([version.level, version.verb, version.objectRef], ['Metadata', 'get', undefined]);
});

test('a denied request is recorded with the impersonated user', async () => {
  const { records, server } = await start({ rules: [{ level: 'Metadata' }] });
  await using _ = server;
  const ask = rawRequests(server);
  await ask('/api/v1/secrets', { headers: { 'impersonate-user': 'mallory' } });
  ask.close();
  const stages = records.filter(({ requestURI }) => requestURI === '/api/v1/secrets');
  assert.deepEqual(
    stages.map(({ stage }) => stage),
    ['RequestReceived', 'ResponseComplete'],
  );
  const last = stages[1]!;
  assert.deepEqual(
    [last.user.username, last.impersonatedUser?.username, last.responseStatus?.code],
    ['test-admin', 'mallory', 403],
  );
  assert.equal(last.annotations?.['authorization.k8s.io/decision'], 'forbid');
});

test('an unauthenticated request is recorded once, without a user', async () => {
  const { records, server } = await start({ rules: [{ level: 'Metadata' }] });
  await using _ = server;
  const ask = rawRequests(server, { anonymous: true });
  const { code } = await ask('/api/v1/secrets', { headers: { authorization: 'Bearer nonsense' } });
  ask.close();
  const refused = records.filter(({ requestURI }) => requestURI === '/api/v1/secrets');
  assert.equal(code, 401);
  assert.deepEqual(
    refused.map(({ stage, verb, user, responseStatus }) => ({ stage, verb, user, responseStatus })),
    [
      {
        stage: 'ResponseStarted',
        verb: 'list',
        user: {},
        responseStatus: { metadata: {}, message: 'Authentication failed, attempted: bearer', code: 401 },
      },
    ],
  );
});

test('a watch is recorded when it starts and when it ends', async () => {
  const { records, server, recorded } = await start({ rules: [{ level: 'Metadata', verbs: ['watch'] }] });
  await using _ = server;
  const ask = rawRequests(server);
  const watch = ask('/api/v1/namespaces?watch=true');
  await recorded('ResponseStarted');
  ask.close();
  await assert.rejects(watch);
  await recorded('ResponseComplete');
  assert.deepEqual(
    records.map(({ stage, responseStatus }) => `${stage} ${responseStatus?.code ?? ''}`.trim()),
    ['RequestReceived', 'ResponseStarted 200', 'ResponseComplete 200'],
  );
});
