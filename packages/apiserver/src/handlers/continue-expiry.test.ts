import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap } from '@kruise/api/core/configmap';
import { secret } from '@kruise/api/core/secret';
import { StatusError } from '@kruise/machinery/status';
import { virtualClock } from '@kruise/values/virtual-clock';
import { startTestServer } from '../testing/test-server.ts';

test('a continue token expires with compaction, even if nothing changed since', async () => {
  const clock = virtualClock(Date.UTC(2026, 0, 1));
  await using server = await startTestServer({ clock });
  const { client } = server;
  for (const name of ['a', 'b', 'c']) await client.create(configMap, { metadata: { name, namespace: 'default' } });
  const selection = { namespace: 'default', limit: 1 };
  const { continue: token = '' } = (await client.list(configMap, selection)).metadata;
  await client.create(secret, { metadata: { name: 'later', namespace: 'default' } });
  await clock.advanceAsync(5 * 60_000);
  assert.equal((await client.list(configMap, { ...selection, continue: token })).items[0]?.metadata.name, 'b');

  await clock.advanceAsync(5 * 60_000);
  const refusal = await client.list(configMap, { ...selection, continue: token }).catch((error) => error);
  assert.ok(refusal instanceof StatusError);
  assert.equal(refusal.status.reason, 'Expired');
  // The Status contains a token for an inconsistent continuation.
  const { continue: newer = '' } = (refusal.status as { metadata?: { continue?: string } }).metadata ?? {};
  assert.equal((await client.list(configMap, { ...selection, continue: newer })).items[0]?.metadata.name, 'b');
});
