import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { type ConfigMap, configMap } from '@kruise/api/core/configmap';
import { findEtcd, startEtcd } from '@kruise/apiserver/store/etcd/server';
import type { Client } from '@kruise/client/client';
import { updateWithRetry } from '@kruise/client/update-with-retry';
import { isConflict } from '@kruise/machinery/status';
import { hasTool, startCluster, temporaryHome } from './cluster.ts';

const namespace = 'default';
const etcd = hasTool('etcd', 'several API servers on one etcd') ? findEtcd() : undefined;

if (etcd !== undefined) {
  test('two API servers on one etcd serve the same objects', async (context) => {
    const home = temporaryHome();
    context.after(() => rmSync(home, { recursive: true }));
    const store = await startEtcd(etcd);
    context.after(() => store.dispose());
    const servers = await Promise.all(
      ['one', 'two'].map((name) => startCluster(home, ['--etcd', store.endpoint], { command: 'apiserver', name })),
    );
    const connected = servers.map((server) => server.connect());
    context.after(() => {
      for (const { close } of connected) close();
    });
    const [one, two] = connected.map(({ client }) => client) as [Client, Client];

    const reference = { name: 'counter', namespace };
    const created = await one.create(configMap, { metadata: reference, data: { count: '0' } });
    // A write that one server has acknowledged is visible through the other immediately.
    assert.equal((await two.get(configMap, reference)).metadata.resourceVersion, created.metadata.resourceVersion);

    const watched = [one, two].map((client) => collect(client, created.metadata.resourceVersion!, '40'));
    const increment = (found: ConfigMap) => ({ ...found, data: { count: String(Number(found.data?.count) + 1) } });
    await Promise.all(
      [one, two].map(async (client) => {
        for (let times = 0; times < 20; times++) await updateWithRetry(client, configMap, reference, increment);
      }),
    );
    const expected = Array.from({ length: 40 }, (_, index) => String(index + 1));
    assert.deepEqual(await Promise.all(watched), [expected, expected]);

    const seen = await one.get(configMap, reference);
    await two.update(configMap, { ...seen, data: { count: 'theirs' } });
    await assert.rejects(one.update(configMap, { ...seen, data: { count: 'ours' } }), isConflict);

    for (const server of servers) assert.equal(await server.stop(), 0);
  });
}

/** Collects the counts of a watch up to the last. */
async function collect(client: Client, resourceVersion: string, last: string): Promise<string[]> {
  const counts: string[] = [];
  for await (const { object } of client.watch(configMap, {
    namespace,
    resourceVersion,
    fieldSelector: 'metadata.name=counter',
  })) {
    counts.push(object.data?.count ?? '');
    if (counts.at(-1) === last) break;
  }
  return counts;
}
