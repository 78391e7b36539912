import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { virtualClock } from '@kruise/values/virtual-clock';
import { createNetwork } from './backend.ts';

test('a connection to an unresponsive backend times out', async () => {
  const clock = virtualClock();
  const network = createNetwork(clock, {});
  // Documentation address range: no host responds.
  const backend = network.at({ scheme: 'http', host: '203.0.113.1', port: 80 });
  const { signal } = new AbortController();
  const sent = backend.send({ method: 'GET', path: '/', headers: {}, signal });
  clock.advance(30_000);
  await assert.rejects(sent, /^Error: dial tcp 203\.0\.113\.1:80: i\/o timeout$/);
  network.close();
});

test('a backend that closes the connection without a response yields EOF', async () => {
  const server = createServer((socket) => socket.destroy());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const network = createNetwork(virtualClock(), {});
  const backend = network.at({ scheme: 'http', host: '127.0.0.1', port });
  const request = { method: 'GET', path: '/', headers: {}, signal: new AbortController().signal };
  await assert.rejects(backend.send(request), /^Error: EOF$/);
  await assert.rejects(backend.upgrade(request), /^Error: EOF$/);
  network.close();
  server.close();
});
