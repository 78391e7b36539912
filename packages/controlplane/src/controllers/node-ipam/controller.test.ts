import assert from 'node:assert/strict';
import { test } from 'node:test';
import { event } from '@kruise/api/core/event';
import { type Node, node } from '@kruise/api/core/node';
import { startCluster } from '../../testing/cluster.ts';
import { objectAfter } from '../../testing/execute-actions.ts';
import { decide } from './controller.ts';

test('nodes get a block of the cluster CIDR each, and a node without one gets that of a deleted node', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await client.create(node, { metadata: { name: 'old' }, spec: { podCIDR: '10.0.1.0/24', podCIDRs: ['10.0.1.0/24'] } });
  await cluster.run(['node-ipam-controller', 'ttl-controller'], { clusterRanges: ['10.0.0.0/23'] });
  await client.create(node, { metadata: { name: 'a' } });
  await cluster.advance(1);
  await client.create(node, { metadata: { name: 'b' } });
  await cluster.advance(1);
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
  await cluster.advance(15);
  assert.deepEqual(await blockOf('b'), ['10.0.1.0/24']);
  assert.equal((await client.get(node, { name: 'b' })).metadata.annotations?.['node.alpha.kubernetes.io/ttl'], '0');
  assert.deepEqual(cluster.warnings, []);
});

test('a node is assigned its block once, and a failure emits an event', () => {
  const found: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } };
  const decision = decide({ node: found, blocks: ['10.0.0.0/24', 'fd00::/64'] });
  const [action] = decision.actions;
  assert.deepEqual(action && 'outcomeEvents' in action && action.outcomeEvents?.failed, {
    type: 'Normal',
    reason: 'CIDRAssignmentFailed',
    message: 'Node a status is now: CIDRAssignmentFailed',
  });
  assert.deepEqual(objectAfter(found, decision)?.spec, {
    podCIDR: '10.0.0.0/24',
    podCIDRs: ['10.0.0.0/24', 'fd00::/64'],
  });
});
