import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConfigMap, configMap } from '@kruise/api/core/configmap';
import type { Client } from '@kruise/client/client';
import { TransportError } from '@kruise/client/http-transport';
import { listAll } from '@kruise/client/pages';
import { seededRandom } from '@kruise/values/random';
import { assertStored, createAcknowledgedWrites, write } from './acknowledged-writes.ts';
import { startCluster, temporaryHome, withoutControllers } from './cluster.ts';

const rounds = Number(process.env.KRUISE_CRASH_ROUNDS ?? 8);
const writers = 32;
const namespace = 'default';

/** Collects the events of a watch, which resumes after each crash from the last resourceVersion. */
async function watch(
  client: Client,
  from: string,
  events: string[],
  state: Map<string, ConfigMap>,
  signal: AbortSignal,
) {
  let resourceVersion = from;
  while (!signal.aborted) {
    try {
      for await (const { type, object } of client.watch(configMap, { namespace, resourceVersion, signal })) {
        assert.notEqual(type, 'ERROR', JSON.stringify(object));
        resourceVersion = object.metadata.resourceVersion!;
        events.push(resourceVersion);
        state.set(object.metadata.name!, object);
      }
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      await sleep(5);
    }
  }
}

test(`the API server loses no acknowledged write when it is killed ${rounds} times under load`, async (context) => {
  const home = temporaryHome();
  context.after(() => rmSync(home, { recursive: true }));
  const random = seededRandom(rounds);
  let cluster = await startCluster(home, withoutControllers);
  const { client, close } = cluster.connect();
  context.after(close);
  const { metadata } = await client.list(configMap, { namespace });
  const writes = createAcknowledgedWrites();
  const events: string[] = [];
  const state = new Map<string, ConfigMap>();
  const stopWriting = new AbortController();
  const stopWatching = new AbortController();
  const watching = watch(client, metadata.resourceVersion!, events, state, stopWatching.signal);
  const writing = Promise.all(
    Array.from({ length: writers }, (_, writer) => write(client, writer, writes, namespace, stopWriting.signal)),
  );
  let known = 0;
  for (let round = 0; round < rounds; round++) {
    while (writes.revisions.size < known + 20) await sleep(2);
    await sleep(random.next() * 100);
    await cluster.kill();
    known = writes.revisions.size;
    cluster = await startCluster(home, withoutControllers);
  }
  stopWriting.abort();
  await writing;

  const { items, metadata: listed } = await listAll(client, configMap, { namespace, limit: 1000 });
  assertStored(writes, items);
  const stored = new Map(items.map((item) => [item.metadata.name!, item]));
  const newest = Math.max(...items.map((item) => Number(item.metadata.resourceVersion)));
  while (Number(events.at(-1)) < newest) await sleep(5);
  stopWatching.abort();
  await watching;
  assert.ok(Number(listed.resourceVersion) >= newest);
  const outOfOrder = events.filter((revision, index) => index > 0 && Number(revision) <= Number(events[index - 1]));
  assert.deepEqual(outOfOrder, []);
  const seenOnce = new Set(events);
  assert.deepEqual(
    [...writes.revisions].filter((revision) => !seenOnce.has(revision)),
    [],
  );
  for (const [name, { metadata: seen }] of state) {
    assert.equal(seen.resourceVersion, stored.get(name)?.metadata.resourceVersion, name);
  }
  assert.equal(await cluster.stop(), 0);
});
