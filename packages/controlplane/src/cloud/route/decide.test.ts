import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@kruise/api/core/node';
import { parsePrefix } from '@kruise/values/address';
import type { Route } from '../provider.ts';
import { networkCondition, planRoutes } from './decide.ts';

const node = (name: string, ...podCIDRs: string[]): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name },
  spec: { podCIDRs },
});
const route = (targetNode: string, destination: string, isBlackhole = false): Route => ({
  name: `${targetNode}-${destination}`,
  targetNode,
  destination,
  isBlackhole,
});

const cases: readonly [
  name: string,
  nodes: readonly Node[],
  routes: readonly Route[],
  create: readonly string[],
  remove: readonly string[],
][] = [
  ['a node without a route gets one', [node('a', '10.0.1.0/24')], [], ['a 10.0.1.0/24'], []],
  [
    'a node gets a route per IP family',
    [node('a', '10.0.1.0/24', 'fd00::/64')],
    [],
    ['a 10.0.1.0/24', 'a fd00::/64'],
    [],
  ],
  ['an existing route is kept', [node('a', '10.0.1.0/24')], [route('a', '10.0.1.0/24')], [], []],
  ['a route to a deleted node is deleted', [], [route('a', '10.0.1.0/24')], [], ['a 10.0.1.0/24']],
  [
    'a route to another node is deleted',
    [node('b', '10.0.1.0/24')],
    [route('a', '10.0.1.0/24')],
    ['b 10.0.1.0/24'],
    ['a 10.0.1.0/24'],
  ],
  [
    'a blackhole route is recreated',
    [node('a', '10.0.1.0/24')],
    [route('a', '10.0.1.0/24', true)],
    ['a 10.0.1.0/24'],
    ['a 10.0.1.0/24'],
  ],
  [
    'a route outside of the cluster CIDRs is kept',
    [],
    [route('a', '192.168.0.0/24'), route('', '0.0.0.0/0'), route('', 'default')],
    [],
    [],
  ],
  ['a node without a Pod CIDR needs no route', [node('a')], [], [], []],
];
for (const [name, nodes, routes, create, remove] of cases) {
  test(name, () => {
    const plan = planRoutes(nodes, routes, [parsePrefix('10.0.0.0/16'), parsePrefix('fd00::/56')]);
    assert.deepEqual(
      plan.create.map(({ node: to, destination }) => `${to.metadata.name} ${destination}`),
      create,
    );
    assert.deepEqual(
      plan.remove.map(({ targetNode, destination }) => `${targetNode} ${destination}`),
      remove,
    );
  });
}

test('a route that depends on node addresses is recreated when they change', () => {
  const addresses = [
    { type: 'InternalIP', address: '192.0.2.1' },
    { type: 'Hostname', address: 'a' },
  ];
  const at: Node = { ...node('a', '10.0.1.0/24'), status: { addresses } };
  const plan = (targetAddresses: typeof addresses) => {
    const { create, remove } = planRoutes(
      [at],
      [{ ...route('a', '10.0.1.0/24'), targetAddresses }],
      [parsePrefix('10.0.0.0/16')],
    );
    return [create.length, remove.length];
  };
  assert.deepEqual(plan(addresses.toReversed()), [0, 0]);
  assert.deepEqual(plan(addresses.slice(1)), [1, 1]);
});

test('the NetworkUnavailable condition of a node is set once', () => {
  assert.equal(networkCondition(node('a'), true)?.reason, 'RouteCreated');
  assert.equal(networkCondition(node('a'), false)?.reason, 'NoRouteCreated');
  const reachable: Node = { ...node('a'), status: { conditions: [{ type: 'NetworkUnavailable', status: 'False' }] } };
  assert.equal(networkCondition(reachable, true), undefined);
  assert.equal(networkCondition(reachable, false)?.status, 'True');
});
