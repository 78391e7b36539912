import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type ConfigMap, configMap } from '@kruise/api/core/configmap';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import { connect } from '@kruise/client/connect';
import { startInformer } from '@kruise/client/informer';
import { keyOf } from '@kruise/client/object-key';
import { isNotFound } from '@kruise/machinery/status';
import type { Clock } from '@kruise/values/clock';
import { randomInteger, seededRandom } from '@kruise/values/random';
import { systemClock } from '@kruise/values/system';

/** The system clock, a hundred times as fast: backoffs and timeouts of minutes take a second. */
const fastClock: Clock = {
  now: () => systemClock.now() * 100,
  elapsedMs: () => systemClock.elapsedMs() * 100,
  setTimer: (delayMs, callback, signal) => systemClock.setTimer(delayMs / 100, callback, signal),
};

/** A relay to a port whose connections break after a random number of bytes, until it is repaired. */
async function startUnreliableRelay(port: number, seed: number) {
  const random = seededRandom(seed);
  const sockets = new Set<Socket>();
  let isMended = false;
  let breaks = 0;
  const server = createServer((near) => {
    const far = connectSocket(port, '127.0.0.1');
    let left = 3000 + randomInteger(random, 30_000);
    const cut = () => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', cut);
      socket.on('close', cut);
    }
    near.on('data', (chunk) => far.write(chunk));
    far.on('data', (chunk: Buffer) => {
      if (isMended || left > chunk.length) {
        near.write(chunk);
        left -= chunk.length;
        return;
      }
      breaks++;
      near.write(chunk.subarray(0, left), cut);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    breaks: () => breaks,
    mend: () => {
      isMended = true;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

test('an informer converges to the state of the server over an unreliable network', async () => {
  await using server = await startTestServer({ https: true });
  const way = await startUnreliableRelay(Number(new URL(server.url).port), 1);
  const folder = mkdtempSync(join(tmpdir(), 'kruise-test-'));
  const path = join(folder, 'kubeconfig');
  writeFileSync(path, server.kubeconfig.text.replaceAll(server.url, `https://127.0.0.1:${way.port}`));
  const { client, close } = connect(fastClock, { path });
  const stop = new AbortController();
  const changes = new Map<string, string>();
  const faults: string[] = [];
  const informer = startInformer(client, fastClock, seededRandom(1), configMap, { namespace: 'default' }, stop.signal);
  const isLast = Promise.withResolvers<void>();
  informer.handle(({ type, object, previous }) => {
    const key = keyOf(object);
    if (changes.get(key) !== previous?.metadata.resourceVersion && type === 'updated') faults.push(`a gap in ${key}`);
    if ((type === 'added') === changes.has(key)) faults.push(`${type} ${key} out of turn`);
    if (type === 'deleted') changes.delete(key);
    else changes.set(key, object.metadata.resourceVersion!);
    if (object.metadata.name === 'last') isLast.resolve();
  });

  const reference = (index: number) => ({ namespace: 'default', name: `object-${index % 40}` });
  // An object that is gone cannot be changed or deleted; the write is then skipped.
  const ignoreMissing = (error: unknown) => assert.ok(isNotFound(error));
  const filling = { data: { text: 'x'.repeat(500) } };
  for (let index = 0; index < 400; index++) {
    if (index < 40) await server.client.create(configMap, { metadata: reference(index), ...filling });
    else if (index % 9 === 0) await server.client.delete(configMap, reference(index)).catch(ignoreMissing);
    else {
      const change = { data: { index: String(index) } };
      await server.client.patch(configMap, reference(index), change, { type: 'merge' }).catch(ignoreMissing);
    }
    if (index % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await informer.synced;
  way.mend();
  await server.client.create(configMap, { metadata: { namespace: 'default', name: 'last' } });
  await isLast.promise;

  const { items } = await server.client.list(configMap, { namespace: 'default' });
  const sorted = (objects: readonly ConfigMap[]) =>
    objects.map((object) => `${keyOf(object)} ${object.metadata.resourceVersion}`).sort();
  assert.deepEqual(sorted(informer.list()), sorted(items));
  assert.deepEqual(faults, []);
  assert.ok(way.breaks() >= 3, `${way.breaks()} connections broke`);
  stop.abort();
  close();
  way.close();
  rmSync(folder, { recursive: true });
});
