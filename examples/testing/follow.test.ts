import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap } from '@kruise/api/core/configmap';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import { isConflict } from '@kruise/machinery/status';

test('an update with a stale resourceVersion is a conflict', async () => {
  await using server = await startTestServer();
  const { client } = server;

  const seen = await client.create(configMap, { metadata: { name: 'settings', namespace: 'default' } });
  await client.update(configMap, { ...seen, data: { colour: 'red' } });

  await assert.rejects(client.update(configMap, { ...seen, data: { colour: 'blue' } }), isConflict);
});

test('a watch reports the changes of an object', async () => {
  await using server = await startTestServer();
  const { client } = server;
  const reference = { name: 'settings', namespace: 'default' };

  await client.create(configMap, { metadata: reference });
  await client.delete(configMap, reference);

  const { metadata } = await client.list(configMap);
  const watch = client.watch(configMap, { resourceVersion: metadata.resourceVersion!, namespace: 'default' });
  await client.create(configMap, { metadata: reference, data: { colour: 'green' } });
  for await (const { type, object } of watch) {
    assert.deepEqual([type, object.data], ['ADDED', { colour: 'green' }]);
    break;
  }
});

test('other programs can connect to the server', async () => {
  await using server = await startTestServer({ https: true });
  const { client, url, kubeconfig } = server;

  await client.create(configMap, { metadata: { name: 'settings', namespace: 'default' } });

  assert.ok(kubeconfig.text.includes(url)); // kubectl --kubeconfig=… with `kubeconfig.path`
});

test('a user without permission is forbidden', async () => {
  await using server = await startTestServer();
  const visitor = server.clientOf({ username: 'visitor', groups: [] });

  await assert.rejects(visitor.list(configMap), /User "visitor" cannot list resource "configmaps"/);
});
