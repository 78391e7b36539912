import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publishedResources, vocabulary } from '@kruise/api/published';
import { publishedEndpoints } from '@kruise/api/published-endpoints';
import { openApiV2 } from '@kruise/schema/openapi-v2';
import { startTestServer } from '../testing/test-server.ts';
import type { HttpRequest } from './http-request.ts';
import { openApiEndpoints } from './openapi-endpoints.ts';

const v2Protobuf = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/** Starts the endpoints of a server, and counts the pauses of their work. */
async function startEndpoints() {
  const server = await startTestServer();
  const counts = { pauses: 0, generation: 0 };
  const aggregation = {
    find: () => undefined,
    get generation() {
      return counts.generation;
    },
    openApiV2: () => [],
    openApiV3: () => new Map<string, string>(),
  };
  const endpoints = openApiEndpoints(server.core, aggregation, async () => void counts.pauses++);

  function ask(path: string, accept = 'application/json'): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const httpRequest: Partial<HttpRequest> = {
      headers: { accept },
      query: new URLSearchParams(),
      async send(code, _headers, body) {
        assert.equal(code, 200);
        resolve(Buffer.from(body as Buffer));
      },
    };
    const handler = endpoints.get(path) ?? endpoints.get('/openapi/v3/')!;
    const context = { info: { path } };
    handler(httpRequest as HttpRequest, context as never, {}).catch(reject);
    return promise;
  }
  return { counts, ask, close: () => server.close() };
}

test('each document is built in steps of a few paths or definitions', async (t) => {
  const { counts, ask, close } = await startEndpoints();
  t.after(close);
  const pausesFor = async (path: string, accept?: string): Promise<number> => {
    const before = counts.pauses;
    await ask(path, accept);
    return counts.pauses - before;
  };
  const { paths, definitions } = JSON.parse((await ask('/openapi/v2')).toString()) as {
    readonly paths: object;
    readonly definitions: object;
  };
  const pathSteps = Math.floor(Object.keys(paths).length / 8);
  const definitionSteps = Math.floor(Object.keys(definitions).length / 32);
  assert.ok(counts.pauses >= pathSteps + definitionSteps, `${counts.pauses} pauses`);
  assert.ok((await pausesFor('/openapi/v2', v2Protobuf)) >= pathSteps + definitionSteps);
  assert.ok((await pausesFor('/openapi/v3')) >= pathSteps + definitionSteps);
  assert.equal(await pausesFor('/openapi/v3/api/v1'), 0, 'the index has built all documents');
});

test('a document built in steps has the bytes of one that is built at once', async (t) => {
  const { ask, close } = await startEndpoints();
  t.after(close);
  const whole = JSON.stringify(openApiV2(publishedResources, vocabulary, publishedEndpoints));
  assert.ok((await ask('/openapi/v2')).equals(Buffer.from(whole)));
});

for (const [path, accept] of [
  ['/openapi/v2', undefined],
  ['/openapi/v2', v2Protobuf],
  ['/openapi/v3', undefined],
  ['/openapi/v3/apis/apps/v1', undefined],
] as const) {
  test(`clients that ask for ${path}${accept ? ' as protobuf' : ''} together share one build`, async (t) => {
    const { counts, ask, close } = await startEndpoints();
    t.after(close);
    const alone = await ask(path, accept);
    assert.ok(counts.pauses > 0);
    const another = await startEndpoints();
    t.after(another.close);
    const all = await Promise.all([1, 2, 3].map(() => another.ask(path, accept)));
    assert.equal(another.counts.pauses, counts.pauses);
    for (const each of all) assert.ok(each.equals(alone));
  });
}

test('a change of the kinds while a document is built starts another build', async (t) => {
  const { counts, ask, close } = await startEndpoints();
  t.after(close);
  await ask('/openapi/v2');
  const { pauses } = counts;
  counts.generation++;
  const before = ask('/openapi/v2');
  counts.generation++;
  const [first, second] = await Promise.all([before, ask('/openapi/v2')]);
  assert.equal(counts.pauses, 3 * pauses);
  assert.ok(first.equals(second));
});
