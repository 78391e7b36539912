import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap } from '@kruise/api/core/configmap';
import { codecOf } from '@kruise/schema/codec';
import { decodeEnvelope } from '@kruise/schema/protobuf-envelope';
import { rawRequests } from '../testing/raw-requests.ts';
import { startTestServer } from '../testing/test-server.ts';

const accept = 'application/vnd.kubernetes.protobuf';

for (const count of [3, 200]) {
  test(`a list of ${count} has the same objects in protobuf and JSON, and Go's encoding`, async (context) => {
    await using server = await startTestServer({ https: true });
    const ask = rawRequests(server);
    context.after(() => ask.close());
    for (let index = 0; index < count; index++) {
      const metadata = { name: `settings-${index}`, namespace: 'default', labels: { odd: String(index % 2 === 1) } };
      await server.client.create(configMap, { metadata, data: { [`key-${index % 3}`]: 'ä'.repeat(index) } });
    }
    const path = '/api/v1/namespaces/default/configmaps';
    const json = JSON.parse((await ask(path)).text);
    const { code, bytes } = await ask(path, { headers: { accept } });
    const { raw, kind, apiVersion } = decodeEnvelope(bytes);
    assert.deepEqual([code, kind, apiVersion], [200, 'ConfigMapList', 'v1']);
    assert.equal(json.items.length, count);
    assert.ok(json.items.every((item: { metadata: { managedFields?: unknown[] } }) => item.metadata.managedFields));
    const codec = codecOf<unknown>(configMap.list);
    assert.deepEqual({ kind, apiVersion, ...(codec.fromProtobuf(raw) as object) }, json);
    assert.ok(Buffer.from(raw).equals(codec.toProtobuf(json)));
  });
}

test('a single protobuf object includes managedFields', async (context) => {
  await using server = await startTestServer({ https: true });
  const ask = rawRequests(server);
  context.after(() => ask.close());
  await server.client.create(configMap, { metadata: { name: 'settings', namespace: 'default' }, data: { a: '1' } });
  const path = '/api/v1/namespaces/default/configmaps/settings';
  const { raw } = decodeEnvelope((await ask(path, { headers: { accept } })).bytes);
  const { kind, apiVersion, ...json } = JSON.parse((await ask(path)).text);
  assert.deepEqual([kind, apiVersion], ['ConfigMap', 'v1']);
  assert.deepEqual(codecOf<unknown>(configMap.root).fromProtobuf(raw), json);
});
