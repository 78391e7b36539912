import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { silentLog } from '@kruise/client/log';
import { virtualClock } from '@kruise/values/virtual-clock';
import { createProxyHealth, createServiceHealthServers } from './health.ts';

test('the proxy is healthy while no change waits too long', async () => {
  const clock = virtualClock(1_000_000);
  const health = createProxyHealth(clock, ['IPv4', 'IPv6'], 60_000);
  assert.equal(health.livez().code, 503, 'nothing has been synced');
  const sync = () => {
    for (const family of ['IPv4', 'IPv6'] as const) health.synced(family, clock.now());
  };
  sync();
  assert.equal(health.livez().code, 200);
  clock.advance(3_600_000);
  assert.equal(health.healthz().code, 200, 'without changes there is nothing to sync');
  health.queued();
  clock.advance(59_999);
  health.queued();
  assert.equal(health.healthz().code, 200);
  clock.advance(1);
  assert.equal(health.healthz().code, 503);
  sync();
  assert.equal(health.healthz().code, 200);
});

test('a change during a sync is still to be synced', async () => {
  const clock = virtualClock(1_000_000);
  const health = createProxyHealth(clock, ['IPv4'], 60_000);
  const startedAtMs = clock.now();
  clock.advance(10);
  health.queued();
  health.synced('IPv4', startedAtMs);
  clock.advance(60_000);
  assert.equal(health.livez().code, 503);
});

test('a node that is not eligible is live but not healthy', () => {
  const clock = virtualClock(1_000_000);
  const health = createProxyHealth(clock, ['IPv4'], 60_000);
  health.synced('IPv4', clock.now());
  health.setNodeEligible(false);
  assert.deepEqual([health.healthz().code, health.livez().code], [503, 200]);
  assert.equal(JSON.parse(health.healthz().body).nodeEligible, false);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('a health check node port reports the local endpoints of its Service', async () => {
  const failures: string[] = [];
  let isHealthy = true;
  const onFailure = (service: string) => void failures.push(service);
  const servers = createServiceHealthServers(['127.0.0.1'], () => isHealthy, onFailure, silentLog);
  const port = await freePort();
  const ask = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/`);
    const weight = response.headers.get('x-load-balancing-endpoint-weight');
    return [response.status, weight, await response.json()];
  };
  const body = (localEndpoints: number) => ({
    service: { namespace: 'shop', name: 'web' },
    localEndpoints,
    serviceProxyHealthy: isHealthy,
  });
  const untilListening = async () => {
    for (;;) {
      try {
        return await ask();
      } catch {
        // The server starts in the background.
        await new Promise(setImmediate);
      }
    }
  };
  servers.update('shop/web', port, 2);
  assert.deepEqual(await untilListening(), [200, '2', body(2)]);
  servers.update('shop/web', port, 0);
  assert.deepEqual(await ask(), [503, '0', body(0)]);
  servers.update('shop/web', port, 1);
  isHealthy = false;
  assert.deepEqual(await ask(), [503, '1', body(1)]);

  servers.update('shop/other', port, 1);
  while (failures.length === 0) await new Promise(setImmediate);
  assert.deepEqual(failures, ['shop/other'], 'a port that is in use is reported');
  await servers.close();
  await assert.rejects(ask());
});
