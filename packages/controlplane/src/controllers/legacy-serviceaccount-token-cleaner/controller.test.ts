import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Secret, secret } from '@kruise/api/core/secret';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { startTestServer, type TestServer } from '@kruise/apiserver/testing/test-server';
import { runControllers } from '@kruise/client/manager';
import type { WatchEvent } from '@kruise/client/transport';
import { systemClock, systemRandom } from '@kruise/values/system';
import { legacyServiceAccountTokenCleaner } from './controller.ts';

const yearMs = 365 * 24 * 60 * 60 * 1000;
const reference = { namespace: 'default', name: 'robot-token' };

/** Returns what happens to the Secret if the controller runs some years later. */
async function happensAfter(server: TestServer, years: number): Promise<WatchEvent<Secret>> {
  const stop = new AbortController();
  const { metadata } = await server.client.list(secret);
  const events = server.client.watch(secret, { resourceVersion: metadata.resourceVersion ?? '' });
  const running = runControllers(
    [legacyServiceAccountTokenCleaner],
    {
      client: server.clientOf({ username: 'system:kube-controller-manager', groups: [] }),
      clientFor: () =>
        server.clientOf({
          username: 'system:serviceaccount:kube-system:legacy-service-account-token-cleaner',
          groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system'],
        }),
      clock: { ...systemClock, now: () => systemClock.now() + years * yearMs },
      random: systemRandom,
    },
    stop.signal,
  );
  try {
    for await (const event of events) return event;
    assert.fail('nothing happens');
  } finally {
    stop.abort();
    await running;
  }
}

test('an unused token is invalidated after a year, and deleted after another', async () => {
  await using server = await startTestServer();
  const { client } = server;
  await client.create(serviceAccount, {
    metadata: { name: 'robot', namespace: 'default' },
    secrets: [{ name: reference.name }],
  });
  await client.create(secret, {
    metadata: { ...reference, annotations: { 'kubernetes.io/service-account.name': 'robot' } },
    type: 'kubernetes.io/service-account-token',
  });

  const marking = await happensAfter(server, 1.1);
  assert.deepEqual(
    [marking.type, Object.keys(marking.object.metadata.labels ?? {})],
    ['MODIFIED', ['kubernetes.io/legacy-token-invalid-since']],
  );
  assert.equal((await happensAfter(server, 2.2)).type, 'DELETED');
});
