import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ipAddress } from '@kruise/api/networking/ipaddress';
import { serviceCIDR } from '@kruise/api/networking/servicecidr';
import { isNotFound } from '@kruise/machinery/status';
import { startCluster } from '../../testing/cluster.ts';

test('a range is deleted once its last Service address is released', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['service-cidr-controller']);
  const ready = async (name: string) => {
    const [condition] = (await client.get(serviceCIDR, { name })).status?.conditions ?? [];
    return `${condition?.status} ${condition?.message}`;
  };
  assert.equal(await ready('kubernetes'), 'True Kubernetes Service CIDR is ready');

  await client.create(serviceCIDR, { metadata: { name: 'more' }, spec: { cidrs: ['10.200.0.0/24'] } });
  await cluster.advance(1);
  assert.equal(await ready('more'), 'True Kubernetes Service CIDR is ready');
  const labels = {
    'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
    'ipaddress.kubernetes.io/ip-family': 'IPv4',
  };
  const parentRef = { group: '', resource: 'services', name: 'web', namespace: 'default' };
  await client.create(ipAddress, { metadata: { name: '10.200.0.7', labels }, spec: { parentRef } });
  await client.delete(serviceCIDR, { name: 'more' });
  await cluster.advance(60);
  assert.match(await ready('more'), /^False There are still IPAddresses referencing the ServiceCIDR/);

  await client.delete(ipAddress, { name: '10.200.0.7' });
  await cluster.advance(11);
  await assert.rejects(client.get(serviceCIDR, { name: 'more' }), isNotFound);
  assert.deepEqual(cluster.warnings, []);
});
