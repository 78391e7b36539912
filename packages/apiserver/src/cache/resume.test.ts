import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap } from '@kruise/api/core/configmap';
import { startTestServer } from '../testing/test-server.ts';

test('a watcher that resumes sees every change, including large ones that the cache has dropped', async () => {
  await using server = await startTestServer();
  const { client } = server;
  const metadata = { name: 'large', namespace: 'default' };
  let last = await client.create(configMap, { metadata, data: {} });
  const { resourceVersion } = last.metadata;
  const written: string[] = [];
  for (let count = 0; count < 45; count++) {
    last = await client.update(configMap, { ...last, data: { count: String(count), text: 'x'.repeat(900_000) } });
    written.push(String(count));
  }
  const seen: (string | undefined)[] = [];
  for await (const { object } of client.watch(configMap, { namespace: 'default', resourceVersion: resourceVersion! })) {
    seen.push(object.data?.count);
    if (seen.length === written.length) break;
  }
  assert.deepEqual(seen, written);
});
