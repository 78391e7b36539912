import assert from 'node:assert/strict';
import { test } from 'node:test';
import { service } from '@kruise/api/core/service';
import { startTestServer } from '../testing/test-server.ts';

test('the ipMode of a load balancer address defaults to VIP, unless a status patch sets it', async () => {
  await using server = await startTestServer();
  const { client } = server;
  const reference = { name: 'web', namespace: 'default' };
  await client.create(service, { metadata: reference, spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } });
  const ingress = [{ ip: '203.0.113.1' }, { ip: '203.0.113.2', ipMode: 'Proxy' }];
  const patch = { status: { loadBalancer: { ingress } } };
  const { status } = await client.patch(service, reference, patch, { type: 'merge', subresource: 'status' });
  assert.deepEqual(
    status?.loadBalancer?.ingress?.map(({ ipMode }) => ipMode),
    ['VIP', 'Proxy'],
  );
});
