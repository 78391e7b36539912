import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap } from '@kruise/api/core/configmap';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import type { Log } from '@kruise/client/log';
import { virtualClock } from '@kruise/values/virtual-clock';
import { tunedClient } from './client-flags.ts';

const reference = { namespace: 'default', name: 'kube-root-ca.crt' };
const off = { v: '0', restConfigQps: '0', restConfigBurst: '0' };

function recorder(): { readonly log: Log; readonly lines: object[] } {
  const lines: object[] = [];
  const add = (fields: object, message: string) => void lines.push({ ...fields, message });
  return { lines, log: { info: add, warn: add, error: add } };
}

test('a client without flags is returned unchanged', async () => {
  await using server = await startTestServer();
  const clock = virtualClock();
  assert.equal(tunedClient(server.client, off, { clock, log: recorder().log }), server.client);
});

test('requests beyond --rest-config-qps and its burst wait', async () => {
  await using server = await startTestServer();
  const clock = virtualClock();
  const client = tunedClient(
    server.client,
    { ...off, restConfigQps: '2', restConfigBurst: '1' },
    { clock, log: recorder().log },
  );
  const answered: number[] = [];
  const requests = [1, 2].map((number) => client.list(configMap).then(() => answered.push(number)));
  await requests[0];
  await clock.advance(400);
  assert.deepEqual(answered, [1]);
  await clock.advance(100);
  await requests[1];
  assert.deepEqual(answered, [1, 2]);
});

test('requests are logged from --v=6 on, including rejected requests', async () => {
  await using server = await startTestServer();
  const clock = virtualClock();
  const { log, lines } = recorder();
  const client = tunedClient(server.client, { ...off, v: '6' }, { clock, log });
  await client.list(configMap, { namespace: 'default' });
  await assert.rejects(client.get(configMap, { ...reference, name: 'none' }));
  const path = '/api/v1/namespaces/default/configmaps';
  assert.deepEqual(lines, [
    { method: 'GET', path, code: 200, milliseconds: 0, message: 'Response' },
    { method: 'GET', path: `${path}/none`, code: 404, milliseconds: 0, message: 'Response' },
  ]);
});

test('a verbosity that is not a number is rejected', async () => {
  await using server = await startTestServer();
  const means = { clock: virtualClock(), log: recorder().log };
  assert.throws(() => tunedClient(server.client, { ...off, v: 'debug' }, means), /--v must be a number, not debug/);
});
