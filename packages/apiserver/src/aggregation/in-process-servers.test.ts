import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { backendOf } from './in-process-servers.ts';

async function ask(path: string): Promise<{ readonly code: number; readonly served: unknown }> {
  const backend = backendOf({ get: async ({ path: served, query }) => ({ served, query: `${query}` }) }, 'near');
  const { signal } = new AbortController();
  const answer = await backend.send({ method: 'GET', path, headers: {}, signal });
  assert.ok('body' in answer);
  return { code: answer.code, served: JSON.parse(await text(answer.body)).served };
}

test('an in-process server receives the path that was authorized', async () => {
  assert.deepEqual(await ask('/apis/g/v1/namespaces/a/pods?limit=2'), {
    code: 200,
    served: '/apis/g/v1/namespaces/a/pods',
  });
  assert.equal((await ask('/apis/g/v1//pods/')).served, '/apis/g/v1//pods/');
});

for (const path of [
  '/apis/g/v1/namespaces/mine/../yours/pods',
  '/apis/g/v1/namespaces/mine/%2e%2e/yours/pods',
  '/apis/g/v1/namespaces/mine/..%2fyours/pods',
  '/apis/g/v1/namespaces/mine/..\\yours/pods',
  '/apis/g/v1/./pods',
]) {
  test(`an in-process server receives no request for ${path}`, async () => {
    assert.deepEqual(await ask(path), { code: 404, served: undefined });
  });
}
