import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAddress, parsePrefix } from '@kruise/values/address';
import fc from 'fast-check';
import { type Link, macOf, planRoutes, type RoutedNode, routedNode, vxlanDevice } from './route-plan.ts';

const node = (name: string, addresses: readonly string[], podCidrs: readonly string[]): RoutedNode => ({
  name,
  addresses: addresses.map(parseAddress),
  podCidrs: podCidrs.map(parsePrefix),
});
const eth0: Link = { name: 'eth0', mtu: 1500, addresses: ['192.168.1.1/24', 'fd01::1/64'].map(parsePrefix) };
const self = node('a', ['192.168.1.1', 'fd01::1'], ['10.244.1.0/24', 'fd00:1::/64']);
const near = node('b', ['192.168.1.2', 'fd01::2'], ['10.244.2.0/24', 'fd00:2::/64']);
const far = node('c', ['192.168.2.3'], ['10.244.3.0/24', 'fd00:3::/64']);

test('a node on a common link is the next hop', () => {
  const plan = planRoutes(self, [near], [eth0], 'auto');
  assert.deepEqual(plan.routes, [
    { destination: '10.244.2.0/24', gateway: '192.168.1.2', device: 'eth0' },
    { destination: 'fd00:2::/64', gateway: 'fd01::2', device: 'eth0' },
  ]);
  assert.equal(plan.vxlan, undefined);
  assert.equal(plan.mtu, 1500);
});

test('any other node is reached through VXLAN, both families over its address', () => {
  const plan = planRoutes(self, [far], [eth0], 'auto');
  assert.deepEqual(plan.routes, [
    { destination: '10.244.3.0/24', gateway: '10.244.3.0', device: vxlanDevice },
    { destination: 'fd00:3::/64', gateway: 'fd00:3::', device: vxlanDevice },
  ]);
  assert.deepEqual(plan.vxlan, {
    mac: macOf('a'),
    local: '192.168.1.1',
    mtu: 1450,
    addresses: ['10.244.1.0', 'fd00:1::'],
    tunnels: [{ mac: macOf('c'), node: '192.168.2.3', gateways: ['10.244.3.0', 'fd00:3::'] }],
  });
  assert.equal(plan.mtu, 1450, 'the headers of VXLAN fit into a packet');
});

test('over IPv6, the headers of VXLAN are longer', () => {
  const only6 = node('a', ['fd01::1'], ['fd00:1::/64']);
  const remote = node('c', ['fd02::3'], ['fd00:3::/64']);
  assert.equal(planRoutes(only6, [remote], [eth0], 'auto').vxlan?.mtu, 1430);
});

test('mode vxlan uses VXLAN on a common link, mode direct never', () => {
  assert.equal(planRoutes(self, [near], [eth0], 'vxlan').routes[0]?.device, vxlanDevice);
  const plan = planRoutes(self, [near, far], [eth0], 'direct');
  assert.ok(plan.routes.every(({ device }) => device === 'eth0'));
  assert.deepEqual([...new Set(plan.unreached.map((each) => each.node))], ['c']);
});

test('mode none has no routes', () => {
  const { routes, unreachable, vxlan } = planRoutes(self, [near, far], [eth0], 'none');
  assert.deepEqual([routes, unreachable, vxlan], [[], [], undefined]);
});

test('Pods keep their address within the cluster; nodes behind VXLAN see that of the node', () => {
  const { withoutMasquerade } = planRoutes(self, [near, far], [eth0], 'auto');
  assert.deepEqual(withoutMasquerade[4].toSorted(), [
    '10.244.1.0/24',
    '10.244.2.0/24',
    '10.244.3.0/24',
    '192.168.1.1',
    '192.168.1.2',
  ]);
  assert.deepEqual(withoutMasquerade[6].toSorted(), [
    'fd00:1::/64',
    'fd00:2::/64',
    'fd00:3::/64',
    'fd01::1',
    'fd01::2',
  ]);
});

test('a node without an address of a common family is reported', () => {
  const only6 = node('d', ['fd09::1'], ['10.244.4.0/24']);
  const plan = planRoutes(self, [only6], [eth0], 'auto');
  assert.deepEqual(plan.routes, []);
  assert.deepEqual(plan.unreached, [{ node: 'd', reason: 'no node address of a common family' }]);
});

test('the facts of a Node are its internal addresses and its Pod CIDRs', () => {
  const found = routedNode({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'x' },
    spec: { podCIDR: '10.244.9.0/24' },
    status: {
      addresses: [
        { type: 'ExternalIP', address: '1.2.3.4' },
        { type: 'InternalIP', address: '192.168.1.9' },
        { type: 'Hostname', address: 'x' },
      ],
    },
  });
  assert.deepEqual(found, node('x', ['192.168.1.9'], ['10.244.9.0/24']));
});

test('MAC addresses are unicast, locally administered and different', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      const first = Number.parseInt(macOf(a).slice(0, 2), 16);
      assert.equal(first & 0b11, 0b10);
      assert.equal(macOf(a) === macOf(b), a === b);
    }),
  );
});
