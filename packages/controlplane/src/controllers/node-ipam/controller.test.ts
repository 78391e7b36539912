import assert from 'node:assert/strict';
import { test } from 'node:test';
import { event } from '@kruise/api/core/event';
import { node } from '@kruise/api/core/node';
import { startCluster } from '../../testing/cluster.ts';

test('nodes get a part of the cluster range each, and a node that finds none gets that of one that goes', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await client.create(node, { metadata: { name: 'old' }, spec: { podCIDR: '10.0.1.0/24', podCIDRs: ['10.0.1.0/24'] } });
  await cluster.run(['node-ipam-controller', 'ttl-controller'], { clusterRanges: ['10.0.0.0/23'] });
  await client.create(node, { metadata: { name: 'a' } });
  await cluster.pass(1);
  await client.create(node, { metadata: { name: 'b' } });
  await cluster.pass(1);
  const blockOf = async (name: string) => (await client.get(node, { name })).spec?.podCIDRs;
  assert.deepEqual(await blockOf('a'), ['10.0.0.0/24']);
  assert.equal(await blockOf('b'), undefined);
  const events = (await client.list(event)).items.map(({ source, reason, message }) => [
    source?.component,
    reason,
    message,
  ]);
  assert.deepEqual(events, [['cidrAllocator', 'CIDRNotAvailable', 'Node b status is now: CIDRNotAvailable']]);

  await client.delete(node, { name: 'old' });
  await cluster.pass(15);
  assert.deepEqual(await blockOf('b'), ['10.0.1.0/24']);
  assert.equal((await client.get(node, { name: 'b' })).metadata.annotations?.['node.alpha.kubernetes.io/ttl'], '0');
  assert.deepEqual(cluster.complaints, []);
});
