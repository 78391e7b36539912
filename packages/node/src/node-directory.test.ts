import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { networkConnector } from '@kruise/apiserver/connect/node-connector';
import { systemClock } from '@kruise/values/system';
import { simulatedNode } from './cri/simulated/testing/simulated-node.ts';
import { createNodeDirectory } from './node-directory.ts';

test('a Pod that serves HTTPS is reached by its address', async () => {
  const node = simulatedNode();
  const { podSandboxId } = await node.runContainer({
    image: 'registry.k8s.io/e2e-test-images/agnhost:2.53',
    args: ['porter'],
    config: { envs: [{ key: 'SERVE_TLS_PORT_443', value: 'tls foo' }] },
  });
  const host = (await node.runtime.podSandboxStatus({ podSandboxId })).status.network?.ip ?? '';
  const directory = createNodeDirectory(networkConnector(systemClock));
  directory.add('node-1', { handler: {} as never, network: node.runtime.network, address: '192.168.0.1', port: 10250 });
  const { signal } = new AbortController();
  const request = { method: 'GET', path: '/', headers: {}, signal };
  const { code, body } = await directory.address({ scheme: 'https', host, port: 443 }).send(request);
  assert.deepEqual([code, await text(body)], [200, 'tls foo']);
  directory.close();
});

test('a server outside of the simulated network is reached beside real nodes', async () => {
  const node = simulatedNode();
  const directory = createNodeDirectory(networkConnector(systemClock));
  directory.add('node-1', { handler: {} as never, network: node.runtime.network, address: '192.168.0.1', port: 10250 });
  const server = createServer((_, response) => response.end('on this machine'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const location = { scheme: 'http', host: '127.0.0.1', port } as const;
  const request = { method: 'GET', path: '/', headers: {}, signal: new AbortController().signal };
  await assert.rejects(directory.address(location).send(request));
  directory.add('machine', { handler: {} as never, address: '192.0.2.1', port: 10250 });
  const { code, body } = await directory.address(location).send(request);
  assert.deepEqual([code, await text(body)], [200, 'on this machine']);
  directory.close();
  server.close();
});
