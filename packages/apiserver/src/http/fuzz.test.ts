/**
 * Fuzz tests over a socket: for any request, valid or not, the server responds without an internal error and stays
 * healthy.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { builtinKinds } from '@kruise/api/builtin';
import { configMap } from '@kruise/api/core/configmap';
import { csiStorageCapacity } from '@kruise/api/storage/csistoragecapacity';
import { encodeEnvelope } from '@kruise/schema/protobuf-envelope';
import { seededRandom } from '@kruise/values/random';
import fc from 'fast-check';
import { rawRequests } from '../testing/raw-requests.ts';
import { asDryRun, createRequestFuzzer } from '../testing/request-fuzzer.ts';
import { type Listening, startTestServer, type TestServer } from '../testing/test-server.ts';

const segment = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...'api apis v1 apps namespaces default pods configmaps target'.split(' ')) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(...'deployments status scale binding eviction log exec proxy watch'.split(' ')),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(...'apps.kruise.io rbac.authorization.k8s.io nodes services token'.split(' ')),
  },
  { weight: 2, arbitrary: fc.constantFrom('openapi', 'v2', 'v3', 'version', 'healthz', 'metrics', 'readyz', 'livez') },
  { weight: 1, arbitrary: fc.string({ maxLength: 12 }).map(encodeURIComponent) },
  { weight: 1, arbitrary: fc.constantFrom('', '.', '..', '%00', '%2F', '%', '%zz', 'x:y', '~', '*', 'A'.repeat(300)) },
);
const path = fc.array(segment, { maxLength: 8 }).map((segments) => `/${segments.join('/')}`);

const parameter = fc.tuple(
  fc.constantFrom(
    ...'watch limit continue resourceVersion resourceVersionMatch labelSelector fieldSelector dryRun'.split(' '),
    ...'fieldManager force timeoutSeconds sendInitialEvents allowWatchBookmarks pretty gracePeriodSeconds'.split(' '),
    ...'propagationPolicy fieldValidation container follow tailLines command stdin port'.split(' '),
  ),
  fc.oneof(
    fc.constantFrom(
      '',
      'true',
      'false',
      '0',
      '1',
      '-1',
      'All',
      'Exact',
      'a=b',
      'a in (b',
      'metadata.name=x',
      '99999999999',
    ),
    fc.string({ maxLength: 20 }),
  ),
);
// The test would wait for a watch without a timeout.
const query = fc
  .array(parameter, { maxLength: 4 })
  .map((all) => [...all.filter(([name]) => name !== 'timeoutSeconds' && name !== 'follow'), ['timeoutSeconds', '1']])
  .map((all) => all.map(([name, value]) => `${name}=${encodeURIComponent(value!)}`).join('&'));

const headerValue = fc.string({ maxLength: 30 }).map((text) => text.replace(/[^\x20-\x7e]/g, ''));
const mediaTypes = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/json-patch+json',
  'application/apply-patch+yaml',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'text/plain',
  '*/*',
];
const mediaType = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...mediaTypes) },
  { weight: 1, arbitrary: headerValue },
);
const headers = fc.record(
  {
    'content-type': mediaType,
    accept: mediaType,
    'accept-encoding': fc.constantFrom('gzip', 'identity', 'br', ''),
    'content-encoding': fc.constantFrom('gzip', 'identity'),
    'if-none-match': headerValue,
    range: fc.constantFrom('bytes=0-1', 'x'),
    'impersonate-user': headerValue,
    'user-agent': headerValue,
  },
  { requiredKeys: [] },
);

const valid = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: { a: 'b' } };
const json = fc.oneof(
  fc.jsonValue({ maxDepth: 6 }),
  fc.jsonValue({ maxDepth: 3 }).map((data) => ({ ...valid, data })),
  fc.jsonValue({ maxDepth: 3 }).map((metadata) => ({ ...valid, metadata })),
  fc.tuple(fc.string(), fc.string()).map(([apiVersion, kind]) => ({ ...valid, apiVersion, kind })),
  fc.array(
    fc.record({ op: fc.constantFrom('add', 'remove', 'test', 'move', 'x'), path: fc.string(), value: fc.jsonValue() }),
  ),
);
const body = fc.oneof(
  json.map((value) => JSON.stringify(value)),
  json.map((value) => JSON.stringify(value).slice(0, -1)),
  fc.string({ maxLength: 200 }),
  fc.string({ maxLength: 50 }).map((text) => `k8s\0${text}`),
  fc.integer({ min: 1, max: 5000 }).map((depth) => '['.repeat(depth)),
);

const request = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'),
  url: fc.tuple(path, query).map(([place, parameters]) => `${place}?${parameters}`),
  headers,
  body: fc.option(body, { nil: undefined }),
});

describe('any request', () => {
  let server: TestServer & Listening;
  let ask: ReturnType<typeof rawRequests>;
  const errors: unknown[] = [];
  before(async () => {
    server = await startTestServer({ https: true, onError: (error) => errors.push(error) });
    ask = rawRequests(server);
    await server.client.create(configMap, { metadata: { name: 'target', namespace: 'default' }, data: { a: 'b' } });
  });
  after(async () => {
    ask.close();
    await server.close();
  });

  test('is answered without a server error', async () => {
    await fc.assert(
      fc.asyncProperty(request, async ({ method, url, headers: sent, body: content }) => {
        const mayHaveBody = method !== 'GET' && method !== 'HEAD' && content !== undefined;
        const length = mayHaveBody ? { 'content-length': String(Buffer.byteLength(content)) } : {};
        const { code, text } = await ask(url, {
          method,
          headers: { ...(sent as { [name: string]: string }), ...length },
          ...(mayHaveBody ? { body: content } : {}),
        });
        assert.ok(code < 500 || code === 503 || code === 504, `${code} ${text.slice(0, 300)}`);
        assert.deepEqual(errors, []);
      }),
      { numRuns: 1500 },
    );
    const { code, text } = await ask('/readyz');
    assert.deepEqual([code, text], [200, 'ok']);
  });

  const isOurFault = (code: number, text: string) => code === 500 && /InternalError/.test(text);

  test('a mutated valid request of any kind is answered', async () => {
    const make = createRequestFuzzer(seededRandom(21), { kinds: builtinKinds, namespace: 'default' });
    for (let count = 0; count < 1500; count++) {
      const { method, path: url, headers: sent, body: content } = asDryRun(make());
      if (url.includes('watch')) continue;
      const length = content === undefined ? {} : { 'content-length': String(content.length) };
      const { code, text } = await ask(url, {
        method: method === 'x' ? 'OPTIONS' : method,
        headers: { ...sent, ...length },
        ...(content === undefined ? {} : { body: content }),
      });
      assert.ok(!isOurFault(code, text), `${method} ${url}: ${text.slice(0, 300)}`);
      assert.deepEqual(errors, []);
    }
  });

  const json = 'application/json';
  const protobuf = 'application/vnd.kubernetes.protobuf';
  const found: readonly (readonly [what: string, path: string, type: string, body: string | Uint8Array])[] = [
    [
      'a backend that names no group',
      '/apis/networking.k8s.io/v1/namespaces/default/ingresses',
      json,
      '{"metadata":{"name":"a"},"spec":{"defaultBackend":{"resource":{"kind":"a","name":"b"}}}}',
    ],
    [
      'null among the data of a Secret',
      '/api/v1/namespaces/default/secrets',
      json,
      '{"metadata":{"name":"a"},"data":{"a":null}}',
    ],
    [
      'null among the data of a Secret that must be JSON',
      '/api/v1/namespaces/default/secrets',
      json,
      '{"metadata":{"name":"a"},"type":"kubernetes.io/dockercfg","data":{".dockercfg":null}}',
    ],
    [
      'null among the binary data of a ConfigMap',
      '/api/v1/namespaces/default/configmaps',
      json,
      '{"metadata":{"name":"a"},"binaryData":{"a":null}}',
    ],
    [
      'a resource called __proto__ in a LimitRange',
      '/api/v1/namespaces/default/limitranges',
      json,
      '{"metadata":{"name":"a"},"spec":{"limits":[{"type":"Container","max":{"cpu":"1"},"defaultRequest":{"__proto__":"1Gi"}}]}}',
    ],
    [
      'a quantity in protobuf that is none',
      '/apis/storage.k8s.io/v1/namespaces/default/csistoragecapacities',
      protobuf,
      encodeEnvelope('storage.k8s.io/v1', csiStorageCapacity.kind, Buffer.from('\x22\x03\x0a\x01x', 'latin1')),
    ],
    [
      'rules in protobuf, of which a field is null until there is one',
      '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
      protobuf,
      encodeEnvelope(
        'authorization.k8s.io/v1',
        'SelfSubjectRulesReview',
        Buffer.from('\x12\x03\x0a\x01a\x1a\x05\x0a\x03\x0a\x01a', 'latin1'),
      ),
    ],
  ];
  for (const [what, url, type, content] of found) {
    test(`${what} is no server error`, async () => {
      const { code, text } = await ask(`${url}?dryRun=All`, {
        method: 'POST',
        headers: { 'content-type': type },
        body: content,
      });
      assert.ok(code < 500, `${code} ${text}`);
      assert.deepEqual(errors, []);
    });
  }

  test('applying an invalid time is no server error', async () => {
    const { code, text } = await ask('/api/v1/namespaces/default/configmaps/a?fieldManager=me', {
      method: 'PATCH',
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","deletionTimestamp":"x"}}',
    });
    assert.ok(code < 500, `${code} ${text}`);
    assert.deepEqual(errors, []);
  });
});
