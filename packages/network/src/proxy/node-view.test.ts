import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@kruise/api/core/node';
import { defaultProxyConfiguration } from './configuration.ts';
import { localTrafficOf, nodePortAddressesOf, viewOf } from './node-view.ts';

const node: Node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node-1', labels: { 'topology.kubernetes.io/zone': 'zone-a' } },
  spec: { podCIDRs: ['10.244.1.0/24', 'fd44:1::/64'] },
  status: {
    addresses: [
      { type: 'Hostname', address: 'node-1' },
      { type: 'ExternalIP', address: '203.0.113.2' },
      { type: 'InternalIP', address: '172.20.0.2' },
      { type: 'InternalIP', address: 'fd20::2' },
    ],
  },
};

test('the primary addresses of a node are the internal ones, one of each family', () => {
  const { addresses, zone, isEligible } = viewOf(node);
  assert.deepEqual([addresses, zone, isEligible], [['172.20.0.2', 'fd20::2'], 'zone-a', true]);
});

test('a node that is to be deleted is not eligible', () => {
  const taint = { key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' as const };
  assert.equal(viewOf({ ...node, spec: { taints: [taint] } }).isEligible, false);
  const metadata = { ...node.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
  assert.equal(viewOf({ ...node, metadata }).isEligible, false);
  assert.equal(viewOf(undefined).isEligible, false);
});

test('local traffic has the range of its family', () => {
  const configuration = { ...defaultProxyConfiguration, clusterCIDR: '10.244.0.0/16,fd44::/16' };
  const view = viewOf(node);
  assert.deepEqual(localTrafficOf(configuration, view, 'IPv6'), { by: 'cidr', range: 'fd44::/16' });
  const nodeCIDR = { ...configuration, detectLocalMode: 'NodeCIDR' } as const;
  assert.deepEqual(localTrafficOf(nodeCIDR, view, 'IPv4'), { by: 'cidr', range: '10.244.1.0/24' });
  assert.equal(localTrafficOf(defaultProxyConfiguration, view, 'IPv4'), undefined);
});

test('node ports have the configured addresses', () => {
  const local = ['127.0.0.1', '172.20.0.2', '10.0.0.2', '::1', 'fd20::2'];
  const of = (ranges: readonly string[], mode: 'nftables' | 'iptables', family: 'IPv4' | 'IPv6' = 'IPv4') =>
    nodePortAddressesOf(
      { ...defaultProxyConfiguration, nodePortAddresses: ranges },
      mode,
      ['172.20.0.2', 'fd20::2'],
      local,
      family,
    );
  assert.deepEqual(of([], 'nftables'), ['172.20.0.2']);
  assert.deepEqual(of([], 'iptables'), 'all');
  assert.deepEqual(of(['primary'], 'iptables', 'IPv6'), ['fd20::2']);
  assert.deepEqual(of(['10.0.0.0/8', '127.0.0.0/8'], 'nftables'), ['10.0.0.2']);
  assert.deepEqual(of(['10.0.0.0/8'], 'nftables', 'IPv6'), []);
  assert.deepEqual(of(['0.0.0.0/0'], 'nftables'), 'all');
});
