import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, get } from 'node:https';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type ConfigMap, configMap } from '@kruise/api/core/configmap';
import { credentialsIn, rawRequests } from '../testing/raw-requests.ts';
import { type Listening, startTestServer, type TestServer } from '../testing/test-server.ts';

type Server = TestServer & Listening;

const namespace = 'default';
const settings = (name: string, text = ''): Partial<ConfigMap> => ({ metadata: { name, namespace }, data: { text } });

/** Opens a watch on its own connection without reading from it. */
async function openUnread(server: Server): Promise<IncomingMessage> {
  const path = `/api/v1/namespaces/${namespace}/configmaps?watch=true&resourceVersion=${server.core.feed.revision}`;
  const request = get(`${server.url}${path}`, { agent: new Agent(credentialsIn(server)) });
  request.on('error', () => {});
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.on('error', () => {});
  return response;
}

/** Returns the names that a reading watcher sees from now on. */
function namesSeen({ client, core }: Server, count: number): Promise<readonly string[]> {
  const resourceVersion = String(core.feed.revision);
  return (async () => {
    const names: string[] = [];
    for await (const { object } of client.watch(configMap, { namespace, resourceVersion })) {
      names.push(object.metadata.name!);
      if (names.length === count) break;
    }
    return names;
  })();
}

test('a thousand idle watches cost little, and each receives every event', async () => {
  await using server = await startTestServer({ https: true });
  const watching = Array.from({ length: 1000 }, () => namesSeen(server, 2));
  await server.client.create(configMap, settings('first'));
  await server.client.create(configMap, settings('second'));
  for (const names of await Promise.all(watching)) assert.deepEqual(names, ['first', 'second']);
});

test('a watcher that never reads blocks no other watcher', async () => {
  await using server = await startTestServer({ https: true });
  const stalled = await openUnread(server);
  const names = Array.from({ length: 300 }, (_, index) => `settings-${index}`);
  const watching = namesSeen(server, names.length);
  for (const name of names) await server.client.create(configMap, settings(name, 'x'.repeat(50_000)));
  assert.deepEqual(await watching, names);
  stalled.destroy();
});

for (const [way, leave] of [
  ['hangs up', (watch: IncomingMessage) => watch.socket.end()],
  ['vanishes', (watch: IncomingMessage) => watch.socket.destroy()],
] as const) {
  test(`nothing is buffered for a watcher that ${way}`, async (context) => {
    await using server = await startTestServer({ https: true });
    const ask = rawRequests(server);
    context.after(() => ask.close());
    const watches = async () => {
      const { text } = await ask('/metrics');
      return Number(/^apiserver_longrunning_requests\{.*resource="configmaps".*\} (\d+)$/m.exec(text)?.[1]);
    };
    const watching = await Promise.all(Array.from({ length: 20 }, () => openUnread(server)));
    assert.equal(await watches(), 20);
    for (const watch of watching) leave(watch);
    while ((await watches()) > 0) await setImmediate();
  });
}
