import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { rawRequests } from '../testing/raw-requests.ts';
import { type Listening, startTestServer, type TestServer } from '../testing/test-server.ts';

let server: TestServer & Listening;
let ask: ReturnType<typeof rawRequests>;

before(async () => {
  server = await startTestServer({ https: true });
  ask = rawRequests(server);
});
after(async () => {
  ask.close();
  await server.close();
});

const cases: readonly [path: string, options: { method?: string; accept?: string }, code: number, type: string][] = [
  ['/api', {}, 200, 'application/json'],
  ['/api/', {}, 200, 'application/json'],
  ['/apis', { accept: 'application/yaml' }, 200, 'application/yaml'],
  ['/apis/apps', { accept: 'application/vnd.kubernetes.protobuf' }, 200, 'application/vnd.kubernetes.protobuf'],
  ['/apis/apps/v1', { accept: 'text/html' }, 406, 'application/json'],
  ['/apis/apps/v9', {}, 404, 'application/json'],
  ['/apis/none.example.com', {}, 404, 'text/plain; charset=utf-8'],
  ['/api', { method: 'POST' }, 405, 'application/json'],
  ['/version', { method: 'POST' }, 405, 'application/json'],
  ['/readyz', {}, 200, 'text/plain; charset=utf-8'],
  ['/readyz/etcd', {}, 200, 'text/plain; charset=utf-8'],
  ['/readyz/nonsense', {}, 404, 'text/plain; charset=utf-8'],
  ['/metrics', {}, 200, 'text/plain; version=0.0.4; charset=utf-8'],
  ['/openapi/v2', { accept: 'text/html' }, 406, ''],
  ['/openapi/v3', {}, 200, 'text/plain; charset=utf-8'],
  ['/openapi/v3/version', {}, 200, 'application/json'],
  ['/openapi/v3/apis/none/v1', {}, 404, ''],
  ['/nothing', {}, 404, 'text/plain; charset=utf-8'],
];
for (const [path, { method = 'GET', accept }, code, type] of cases) {
  test(`${method} ${path}${accept ? ` as ${accept}` : ''} is ${code}`, async () => {
    const answer = await ask(path, { method, headers: accept ? { accept } : {} });
    assert.equal(answer.code, code);
    assert.equal(answer.headers['content-type'] ?? '', type);
  });
}

test('the path index contains every endpoint and group', async () => {
  const { paths } = JSON.parse((await ask('/')).text) as { paths: readonly string[] };
  for (const path of ['/api/v1', '/apis/apps/v1', '/healthz/ping', '/metrics', '/openapi/v2', '/version']) {
    assert.ok(paths.includes(path), path);
  }
});

test('a client with the current discovery ETag gets no body', async () => {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const first = await ask('/apis', { headers: { accept } });
  assert.equal(first.headers['content-type'], accept);
  const again = await ask('/apis', { headers: { accept, 'if-none-match': String(first.headers.etag) } });
  assert.deepEqual([again.code, again.text], [304, '']);
});

test('a long response is compressed for clients that support it, with a Vary header', async () => {
  const { headers } = await ask('/openapi/v2', { headers: { 'accept-encoding': 'gzip' } });
  assert.equal(headers['content-encoding'], 'gzip');
  assert.equal(headers.vary, 'Accept, Accept-Encoding');
  assert.ok(Date.parse(headers['last-modified'] ?? '') > 0);
});

test('an OpenAPI document with its hash is immutable, and another hash redirects', async () => {
  const index = JSON.parse((await ask('/openapi/v3')).text);
  const path = index.paths['apis/apps/v1'].serverRelativeURL;
  const lasting = await ask(path);
  assert.equal(lasting.code, 200);
  assert.equal(lasting.headers['cache-control'], 'public, immutable');
  const moved = await ask('/openapi/v3/apis/apps/v1?hash=OTHER');
  assert.deepEqual([moved.code, moved.headers.location], [301, path]);
});

test('a response names its FlowSchema and priority level', async () => {
  const { headers } = await ask('/api/v1/namespaces/default');
  assert.match(String(headers['x-kubernetes-pf-flowschema-uid']), /^[0-9a-f-]{36}$/);
  assert.match(String(headers['x-kubernetes-pf-prioritylevel-uid']), /^[0-9a-f-]{36}$/);
});

test('request metrics have no labels that clients make up', async () => {
  await ask('/api/v1/namespaces/default/configmaps');
  await ask('/api/v1/made-up-things');
  const { text } = await ask('/metrics');
  assert.match(text, /apiserver_request_total\{verb="LIST",[^}]*resource="configmaps",[^}]*code="200"\} [1-9]/);
  assert.doesNotMatch(text, /made-up-things/);
  assert.match(text, /^apiserver_storage_objects\{resource="namespaces"\} [1-9]/m);
});

test('a server that shuts down drains requests and ends watches', async () => {
  await using stopping = await startTestServer({ https: true });
  const request = rawRequests(stopping);
  const watch = request('/api/v1/namespaces?watch=true&resourceVersion=0');
  const listed = request('/api/v1/namespaces');
  assert.equal((await listed).code, 200);
  await stopping.close();
  assert.equal((await watch).code, 200);
  request.close();
});

test('a scraper that accepts gzip reads the metrics', async () => {
  const { headers, bytes } = await ask('/metrics', { headers: { 'accept-encoding': 'gzip' } });
  const text = (headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString();
  assert.match(text, /^# HELP apiserver_request_total /m);
  assert.equal((await ask('/metrics', { method: 'HEAD' })).code, 200);
});
