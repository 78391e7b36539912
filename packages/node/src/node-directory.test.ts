import assert from 'node:assert/strict';
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
