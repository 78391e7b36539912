import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap } from '@kruise/api/core/configmap';
import { StatusError } from '@kruise/machinery/status';
import { startTestServer } from '../testing/test-server.ts';

const settings = (name: string) => ({
  metadata: { name, namespace: 'default' },
  data: { text: 'x'.repeat(100_000) },
});

test('a server with a full store responds like kube-apiserver with a full etcd, and recovers after deletions', async () => {
  await using server = await startTestServer({ quotaBytes: 3_000_000 });
  const { client } = server;
  let made = 0;
  const fill = async () => {
    for (; ; made++) await client.create(configMap, settings(`c-${made}`));
  };
  await assert.rejects(fill, (error) => {
    assert.ok(error instanceof StatusError);
    const { status, message, reason, code } = error.status;
    assert.deepEqual(
      { status, message, reason, code },
      { status: 'Failure', message: 'etcdserver: mvcc: database space exceeded', reason: undefined, code: 500 },
    );
    return true;
  });
  assert.ok(made > 10);
  assert.equal((await client.list(configMap, { namespace: 'default' })).items.length, made);
  for (let index = 0; index < made; index++)
    await client.delete(configMap, { name: `c-${index}`, namespace: 'default' });
  await client.create(configMap, settings('after'));
});
