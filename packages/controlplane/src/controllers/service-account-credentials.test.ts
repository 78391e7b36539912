import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import { createClient } from '@kruise/client/client';
import { internalError } from '@kruise/machinery/status';
import { seededRandom } from '@kruise/values/random';
import { instantOf } from '@kruise/values/time';
import { virtualClock } from '@kruise/values/virtual-clock';
import { serviceAccountCredentials } from './service-account-credentials.ts';

async function setUp() {
  const clock = virtualClock(instantOf(2026, 1, 1));
  const server = await startTestServer({ clock, random: seededRandom(1) });
  const manager = server.clientOf({ username: 'system:kube-controller-manager', groups: [] });
  let isOut = false;
  let asked = 0;
  const client = createClient({
    ...manager.transport,
    async request(request) {
      if (request.path.endsWith('/token')) asked++;
      if (isOut) throw internalError('out of order');
      return manager.transport.request(request);
    },
  });
  const credentials = serviceAccountCredentials(client, clock, seededRandom(2), 'deployment-controller');
  return {
    ...server,
    clock,
    credentials,
    asked: () => asked,
    breakDown: () => {
      isOut = true;
    },
  };
}

test('a missing account is created, and one token serves many requests', async () => {
  const { credentials, client, asked, close } = await setUp();
  const [first, second] = await Promise.all([credentials.current(), credentials.current()]);
  assert.match(first.authorization ?? '', /^Bearer ey/);
  assert.equal(first, second);
  assert.equal(await credentials.current(), first);
  assert.equal(asked(), 2); // the first request found no account
  await client.get(serviceAccount, { namespace: 'kube-system', name: 'deployment-controller' });
  await close();
});

test('a token is renewed in the last fifth of its lifetime, never later', async () => {
  const { credentials, clock, asked, close } = await setUp();
  const first = await credentials.current();
  await clock.advanceAsync(0.69 * 3600_000);
  assert.equal(await credentials.current(), first);
  await clock.advanceAsync(0.115 * 3600_000);
  assert.notEqual(await credentials.current(), first);
  assert.equal(asked(), 3);
  await close();
});

test('a token that cannot be renewed is used until it expires', async () => {
  const { credentials, clock, breakDown, close } = await setUp();
  const first = await credentials.current();
  breakDown();
  await clock.advanceAsync(3599_000);
  assert.equal(await credentials.current(), first);
  await clock.advanceAsync(1_000);
  await assert.rejects(async () => credentials.current(), /out of order/);
  await close();
});

test('a rejected token is not used again', async () => {
  const { credentials, close } = await setUp();
  const first = await credentials.current();
  assert.equal(credentials.rejected?.(first), true);
  assert.notEqual(await credentials.current(), first);
  await close();
});
