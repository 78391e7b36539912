import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as sendRequest } from 'node:https';
import { after, before, describe, test } from 'node:test';
import { configMap } from '@kruise/api/core/configmap';
import { flowSchema } from '@kruise/api/flowcontrol/flowschema';
import { priorityLevelConfiguration } from '@kruise/api/flowcontrol/prioritylevelconfiguration';
import { clusterRoleBinding } from '@kruise/api/rbac/clusterrolebinding';
import { createAuditLog } from '../audit/audit.ts';
import { readPolicy } from '../audit/policy.ts';
import { maxBodyBytes } from '../http/http-request.ts';
import { credentialsIn, rawRequests } from '../testing/raw-requests.ts';
import { type Listening, startTestServer, type TestServer } from '../testing/test-server.ts';
import { httpStages, inProcessStages, stagesBeforeDeadline, stagesUntilSeated } from './pipeline.ts';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

/** Returns the rows of the first table of a page that starts with a column `stage`. */
function stageTable(page: string): readonly (readonly string[])[] {
  const lines = page.split('\n');
  const first = lines.findIndex((line) => line.startsWith('| stage |'));
  const end = lines.findIndex((line, index) => index > first && !line.startsWith('|'));
  return lines.slice(first + 2, end).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

const fileOf = (name: string) => `${name.toLowerCase().replaceAll(' ', '-')}.ts`;
const inCode = httpStages.map(({ name, transports, failsWith }) => ({
  name,
  transports,
  failsWith: failsWith === 'any' ? 'any' : failsWith.join(', ') || 'none',
}));

describe('the documented stages are those of the code', () => {
  test('in the README, with their files', () => {
    const rows = stageTable(read('README.md')).map(([name, file, transports, failsWith]) => ({
      name,
      file,
      transports,
      failsWith,
    }));
    assert.deepEqual(
      rows,
      inCode.map((stage) => ({ ...stage, file: `\`${fileOf(stage.name)}\`` })),
    );
    for (const { name } of inCode) assert.match(read(fileOf(name)), new RegExp(`name: '${name}'`));
  });

  test('in the page on API requests', () => {
    const page = read('../../../../docs/concepts/api-requests.md');
    const rows = stageTable(page).map(([name, transports, failsWith]) => ({ name, transports, failsWith }));
    assert.deepEqual(rows, inCode);
  });

  test('in its picture, where a dashed box is a stage of HTTP alone', () => {
    const picture = read('../../../../docs/pictures/request.svg');
    const boxes = [...picture.matchAll(/<rect class="(\w)"[^>]*>\n<text class="t"[^>]*>([^<]*)</g)];
    assert.deepEqual(
      boxes
        .slice(0, httpStages.length)
        .map(([, style, name]) => ({ name, transports: style === 'g' ? 'HTTP' : 'all' })),
      inCode.map(({ name, transports }) => ({ name, transports })),
    );
  });
});

test('a request in the same process passes the stages of HTTP, less those of the wire', () => {
  const wire = ['Authenticate', 'Impersonate', 'Negotiate', 'Encode'];
  assert.deepEqual(
    inProcessStages.map(({ name }) => name),
    httpStages.flatMap(({ name }) => (wire.includes(name) ? [] : name)),
  );
});

test('the deadline of a request over HTTP covers all stages after its seats', () => {
  assert.equal(stagesUntilSeated.at(-1)?.name, 'Priority and fairness');
  assert.deepEqual([...stagesUntilSeated, ...stagesBeforeDeadline], httpStages);
});

describe('a stage fails with its own status, before the next stages run', () => {
  const audited: { readonly responseStatus: { readonly code: number } }[] = [];
  let server: TestServer & Listening;
  let admin: ReturnType<typeof rawRequests>;
  let anonymous: ReturnType<typeof rawRequests>;

  before(async () => {
    const policy = readPolicy({
      kind: 'Policy',
      apiVersion: 'audit.k8s.io/v1',
      omitStages: ['RequestReceived', 'ResponseStarted'],
      rules: [{ level: 'Request', resources: [{ resources: ['configmaps', 'configmaps/*', 'pods/*'] }] }],
    });
    server = await startTestServer({
      https: true,
      audit: createAuditLog(policy, (line) => audited.push(JSON.parse(line))),
    });
    admin = rawRequests(server);
    anonymous = rawRequests(server, { anonymous: true });
    await server.client.create(configMap, { metadata: { name: 'a', namespace: 'default' } });
  });
  after(async () => {
    admin.close();
    anonymous.close();
    await server.close();
  });

  const maps = '/api/v1/namespaces/default/configmaps';
  const json = { 'content-type': 'application/json' };

  type Case = {
    readonly name: string;
    readonly stage: string;
    readonly code: number;
    readonly path?: string;
    readonly method?: string;
    readonly headers?: { readonly [name: string]: string };
    readonly body?: string;
    readonly isAnonymous?: boolean;
  };
  // Each request would also fail in all later stages that its row can make fail.
  const broken = { method: 'POST', headers: { accept: 'text/html', 'content-type': 'text/html' }, body: '{{' };
  const cases: readonly Case[] = [
    { ...broken, name: 'a path that cannot be decoded', stage: 'Authenticate', code: 400, path: '/api/v1/%zz' },
    {
      ...broken,
      name: 'an invalid token',
      stage: 'Authenticate',
      code: 401,
      headers: { ...broken.headers, authorization: 'Bearer nonsense', 'impersonate-user': 'eve' },
      isAnonymous: true,
    },
    {
      ...broken,
      name: 'an impersonation without permission',
      stage: 'Impersonate',
      code: 403,
      path: `${maps}?timeout=nonsense`,
      headers: { ...broken.headers, 'impersonate-user': 'eve' },
      isAnonymous: true,
    },
    {
      ...broken,
      name: 'an impersonation of a group without a user',
      stage: 'Impersonate',
      code: 500,
      headers: { ...broken.headers, 'impersonate-group': 'eves' },
    },
    {
      ...broken,
      name: 'an invalid timeout',
      stage: 'Priority and fairness',
      code: 400,
      path: `${maps}?timeout=nonsense`,
      isAnonymous: true,
    },
    {
      ...broken,
      name: 'a user without permission',
      stage: 'Authorize',
      code: 403,
      path: `${maps}/a/nonsense`,
      isAnonymous: true,
    },
    { ...broken, name: 'a subresource that is not served', stage: 'Resolve', code: 404, path: `${maps}/a/nonsense` },
    { ...broken, name: 'a method that is not served', stage: 'Resolve', code: 405, path: `${maps}/a` },
    {
      ...broken,
      name: 'a dry run of a connect subresource',
      stage: 'Resolve',
      code: 400,
      path: '/api/v1/namespaces/default/pods/p/exec?dryRun=All',
    },
    { ...broken, name: 'a media type that is not served', stage: 'Negotiate', code: 406 },
    { name: 'a HEAD of an object', stage: 'Negotiate', code: 405, method: 'HEAD', path: `${maps}/a` },
    {
      ...broken,
      name: 'a body of an unknown type',
      stage: 'Decode',
      code: 415,
      headers: { 'content-type': 'text/html' },
    },
    { ...broken, name: 'a body that is not JSON', stage: 'Decode', code: 400, headers: json },
    {
      ...broken,
      name: 'a body that is too large',
      stage: 'Decode',
      code: 413,
      headers: json,
      body: 'x'.repeat(maxBodyBytes + 1),
    },
    { name: 'an object that does not exist', stage: 'Dispatch', code: 404, path: `${maps}/none` },
    {
      name: 'a view that the object does not have',
      stage: 'Encode',
      code: 406,
      path: `${maps}/a`,
      headers: { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' },
    },
    {
      name: 'a Table with unknown objects',
      stage: 'Encode',
      code: 400,
      path: `${maps}/a?includeObject=Nonsense`,
      headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' },
    },
  ];
  for (const { name, stage, code, path = maps, isAnonymous = false, method = 'GET', headers = {}, body } of cases) {
    test(`${stage}: ${name} fails with ${code}`, async () => {
      audited.length = 0;
      const ask = isAnonymous ? anonymous : admin;
      const answer = await ask(path, { method, headers, ...(body === undefined ? {} : { body }) });
      assert.equal(answer.code, code, answer.text);
      const position = httpStages.findIndex((each) => each.name === stage);
      const { failsWith } = httpStages[position]!;
      assert.ok(failsWith === 'any' || failsWith.includes(code));
      // What is authenticated is audited, whichever stage fails. Failed authentication has an event of another stage.
      const expected = position > 0 ? [code] : [];
      assert.deepEqual(
        audited.map(({ responseStatus }) => responseStatus.code),
        expected,
      );
    });
  }

  test('each status of a stage has a case', () => {
    const missing = httpStages.flatMap(({ name, failsWith }) =>
      failsWith === 'any'
        ? []
        : failsWith.flatMap((code) =>
            cases.some((each) => each.stage === name && each.code === code) ? [] : `${name} ${code}`,
          ),
    );
    // The next test takes all seats.
    assert.deepEqual(missing, ['Priority and fairness 429']);
  });

  test('Priority and fairness: a request without a seat fails with 429', async () => {
    const { client } = server;
    const eve = { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'eve' };
    await client.create(clusterRoleBinding, {
      metadata: { name: 'eve' },
      subjects: [eve],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    });
    await client.create(priorityLevelConfiguration, {
      metadata: { name: 'one-seat' },
      spec: {
        type: 'Limited',
        limited: { nominalConcurrencyShares: 0, borrowingLimitPercent: 0, limitResponse: { type: 'Reject' } },
      } as never,
    });
    const rule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] };
    await client.create(flowSchema, {
      metadata: { name: 'eve' },
      spec: {
        priorityLevelConfiguration: { name: 'one-seat' },
        matchingPrecedence: 50,
        rules: [{ subjects: [{ kind: 'User', user: { name: 'eve' } }], resourceRules: [rule] }],
      },
    });
    await server.core.feed.waitForCurrent();

    const asEve = { 'impersonate-user': 'eve' };
    const holding = sendRequest(`${server.url}${maps}`, {
      ...credentialsIn(server),
      method: 'POST',
      agent: false,
      headers: { ...asEve, ...json, 'content-length': '100', expect: '100-continue' },
    });
    const lost = once(holding, 'error');
    holding.flushHeaders();
    // The server has the headers of the request before it asks for the body.
    await once(holding, 'continue');
    const { code, headers, text } = await admin(maps, { ...broken, headers: { ...broken.headers, ...asEve } });
    holding.destroy();
    await lost;
    assert.deepEqual([code, headers['retry-after'], text], [429, '1', 'Too many requests, please try again later.\n']);
    assert.ok(headers['x-kubernetes-pf-flowschema-uid']);
  });
});
