import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createServiceTable, type Packet, type PacketContext, routePacket } from './packet-route.ts';
import type { ServicePort } from './service-port.ts';

const node = '172.20.0.2';
const context: PacketContext = {
  nodeAddresses: new Set([node]),
  nodePortAddresses: new Set([node]),
  localTraffic: { by: 'cidr', range: '10.244.0.0/16' },
  masqueradeAll: false,
  rejectUnknownPorts: true,
};

const endpoint = (address: string, isLocal: boolean) => ({ address, port: 8080, isLocal, mayBeLocal: isLocal });
const own = endpoint('10.244.0.2', true);
const remote = endpoint('10.244.1.2', false);

function servicePort(fields: Partial<ServicePort> = {}): ServicePort {
  return {
    service: 'shop/web',
    portName: 'http',
    protocol: 'TCP',
    family: 'IPv4',
    port: 80,
    clusterIP: '10.96.0.7',
    externalIPs: ['203.0.113.1'],
    loadBalancerIPs: ['198.51.100.1'],
    sourceRanges: [],
    nodePort: 30080,
    isInternalLocal: false,
    isExternalLocal: false,
    hasEndpoints: true,
    cluster: [own, remote],
    local: [own],
    serving: new Set(['10.244.0.2:8080', '10.244.1.2:8080']),
    ...fields,
  };
}

const pod = '10.244.0.9';
const client = '192.0.2.1';
const none = { hasEndpoints: false, cluster: [], local: [], serving: new Set<string>() };
const externalLocal = { isExternalLocal: true };
const onlyRemote = { isExternalLocal: true, local: [], cluster: [remote] };

/** Describes the route in a short form: targets, with `*` for a masqueraded source. */
function route(fields: Partial<ServicePort>, packet: Partial<Packet>, more: Partial<PacketContext> = {}): string {
  const table = createServiceTable();
  table.replace('shop/web', [servicePort(fields)]);
  const full: Packet = { source: pod, destination: '10.96.0.7', port: 80, protocol: 'TCP', ...packet };
  const found = routePacket(table, full, { ...context, ...more });
  if (found.verdict !== 'forward') return found.verdict;
  return found.targets.map(({ address, isMasqueraded }) => `${address}${isMasqueraded ? '*' : ''}`).join(' ');
}

const cluster = '10.244.0.2 10.244.1.2';
const masqueraded = '10.244.0.2* 10.244.1.2*';
const external = { destination: '203.0.113.1' };
const balancer = { destination: '198.51.100.1' };
const nodePort = { destination: node, port: 30080 };
const ranges = { sourceRanges: ['192.0.2.0/28'] };
const nodeRange = { sourceRanges: ['172.20.0.0/24'] };

describe('a packet', () => {
  for (const [title, fields, packet, expected, more] of [
    ['of a Pod to a cluster IP keeps its source', {}, {}, cluster],
    ['of the node to a cluster IP is masqueraded', {}, { source: node }, masqueraded],
    ['of an outside client to a cluster IP is masqueraded', {}, { source: client }, masqueraded],
    ['is masqueraded with masqueradeAll', {}, {}, masqueraded, { masqueradeAll: true }],
    [
      'of an endpoint that may be chosen itself is masqueraded to itself',
      {},
      { source: '10.244.0.2' },
      '10.244.0.2* 10.244.1.2',
    ],
    ['to an unknown port of a cluster IP is rejected', {}, { port: 81 }, 'reject'],
    ['to an unknown port passes if that is not checked', {}, { port: 81 }, 'pass', { rejectUnknownPorts: false }],
    ['of another protocol is rejected', {}, { protocol: 'UDP' }, 'reject'],
    ['to another address passes', {}, { destination: '10.96.0.8' }, 'pass'],
    ['to a Service without endpoints is rejected', none, {}, 'reject'],
    ['to an external IP is masqueraded', {}, { ...external, source: client }, masqueraded],
    ['to an external IP without endpoints is rejected', none, { ...external, source: client }, 'reject'],
    ['to a node port is masqueraded', {}, { ...nodePort, source: client }, masqueraded],
    ['to a node port without endpoints is rejected', none, { ...nodePort, source: client }, 'reject'],
    ['to a node port at another address passes', {}, { destination: '172.20.0.3', port: 30080 }, 'pass'],
    ['with the internal policy Local goes to the node', { isInternalLocal: true }, {}, '10.244.0.2'],
    [
      'with the internal policy Local and no local endpoint is dropped',
      { isInternalLocal: true, local: [] },
      {},
      'drop',
    ],
    ['with the external policy Local keeps its source', externalLocal, { ...nodePort, source: client }, '10.244.0.2'],
    [
      'with the external policy Local and no local endpoint is dropped',
      onlyRemote,
      { ...nodePort, source: client },
      'drop',
    ],
    ['of a Pod with the external policy Local goes to every endpoint', externalLocal, balancer, cluster],
    ['of a Pod with the external policy Local needs no local endpoint', onlyRemote, balancer, '10.244.1.2'],
    [
      'of the node with the external policy Local is masqueraded',
      externalLocal,
      { ...balancer, source: node },
      masqueraded,
    ],
    ['from an allowed source range reaches the load balancer IP', ranges, { ...balancer, source: client }, masqueraded],
    ['from another source is dropped at the load balancer IP', ranges, { ...balancer, source: '192.0.2.99' }, 'drop'],
    ['from another source reaches the external IP', ranges, { ...external, source: '192.0.2.99' }, masqueraded],
    [
      'of the load balancer IP itself is allowed if the node is',
      nodeRange,
      { ...balancer, source: '198.51.100.1' },
      masqueraded,
    ],
    [
      'of the load balancer IP itself is dropped if the node is not allowed',
      ranges,
      { ...balancer, source: '198.51.100.1' },
      'drop',
    ],
    [
      'to an endpoint on the host network keeps its source',
      { cluster: [endpoint(node, true)] },
      { ...external, source: client },
      node,
    ],
    [
      'on the bridge of the Pods keeps its source',
      {},
      { inputInterface: 'cni0' },
      cluster,
      { localTraffic: { by: 'bridge', name: 'cni0' } },
    ],
    [
      'on another interface is masqueraded',
      {},
      { inputInterface: 'eth0' },
      masqueraded,
      { localTraffic: { by: 'interface-prefix', prefix: 'veth' } },
    ],
  ] as const) {
    test(title, () => assert.equal(route(fields, packet as Partial<Packet>, more as Partial<PacketContext>), expected));
  }

  test('has the key and timeout of session affinity', () => {
    const table = createServiceTable();
    table.replace('shop/web', [servicePort({ affinitySeconds: 60 })]);
    const packet = { source: pod, destination: '10.96.0.7', port: 80, protocol: 'TCP' } as const;
    const found = routePacket(table, packet, context);
    assert.deepEqual(found.verdict === 'forward' && found.affinity, { key: 'shop/web/tcp/http', seconds: 60 });
  });
});

describe('the service table', () => {
  const shared = (service: string) => servicePort({ service, clusterIP: '10.96.0.8', nodePort: 30081 });

  test('gives a destination that two Services claim to the first by name, in either order', () => {
    for (const order of [
      ['shop/a', 'shop/b'],
      ['shop/b', 'shop/a'],
    ]) {
      const table = createServiceTable();
      for (const name of order) table.replace(name, [shared(name)]);
      assert.equal(table.byAddress('203.0.113.1', 80, 'TCP')?.service, 'shop/a');
      assert.equal(table.byNodePort(30081, 'TCP', 'IPv4')?.service, 'shop/a');
      table.replace('shop/a', []);
      assert.equal(table.byAddress('203.0.113.1', 80, 'TCP')?.service, 'shop/b');
      table.replace('shop/b', []);
      assert.equal(table.byAddress('203.0.113.1', 80, 'TCP'), undefined);
      assert.equal(table.isClusterIP('10.96.0.8'), false);
    }
  });
});
