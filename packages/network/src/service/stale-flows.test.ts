import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createServiceTable } from './packet-route.ts';
import type { ServicePort } from './service-port.ts';
import { mayLeaveStaleFlows, parseFlows, staleFlows } from './stale-flows.ts';

const dns = (serving: readonly string[], fields: Partial<ServicePort> = {}): ServicePort => ({
  service: 'kube-system/kube-dns',
  portName: 'dns',
  protocol: 'UDP',
  family: 'IPv4',
  port: 53,
  clusterIP: '10.96.0.10',
  externalIPs: [],
  loadBalancerIPs: [],
  sourceRanges: [],
  nodePort: 30053,
  isInternalLocal: false,
  isExternalLocal: false,
  hasEndpoints: serving.length > 0,
  cluster: [],
  local: [],
  serving: new Set(serving),
  ...fields,
});

const listing = `udp      17 29 src=10.244.0.9 dst=10.96.0.10 sport=4000 dport=53 src=10.244.0.2 dst=10.244.0.9 sport=53 dport=4000 mark=0 use=1
udp      17 29 src=10.244.0.9 dst=10.96.0.10 sport=4001 dport=53 [UNREPLIED] src=10.244.0.3 dst=10.244.0.9 sport=53 dport=4001 mark=0 use=1
udp      17 29 src=10.244.0.9 dst=10.96.0.10 sport=4002 dport=53 [UNREPLIED] src=10.96.0.10 dst=10.244.0.9 sport=53 dport=4002 mark=0 use=1
udp      17 29 src=192.0.2.1 dst=172.20.0.2 sport=4003 dport=30053 src=10.244.0.3 dst=172.20.0.2 sport=53 dport=4003 [ASSURED] mark=0 use=1
udp      17 29 src=10.244.0.9 dst=192.0.2.53 sport=4004 dport=53 src=192.0.2.53 dst=10.244.0.9 sport=53 dport=4004 mark=0 use=1
conntrack v1.4.7 (conntrack-tools): 5 flow entries have been shown.
`;

test('flows are stale whose replies come from no endpoint of their Service', () => {
  const nodePorts = new Set(['172.20.0.2']);
  const stale = (serving: readonly string[]) => {
    const table = createServiceTable();
    table.replace('kube-system/kube-dns', [dns(serving)]);
    return staleFlows(parseFlows(listing), table, nodePorts).map(({ sourcePort }) => sourcePort);
  };
  assert.deepEqual(stale(['10.244.0.2:53']), [4001, 4002, 4003]);
  assert.deepEqual(stale(['10.244.0.2:53', '10.244.0.3:53']), [4002]);
  assert.deepEqual(stale([]), [], 'a Service without endpoints rejects packets');
});

for (const [title, before, after, expected] of [
  ['a removed endpoint', [dns(['a:53', 'b:53'])], [dns(['b:53'])], true],
  ['the first endpoint', [dns([])], [dns(['a:53'])], true],
  ['a Service with endpoints', [], [dns(['a:53'])], true],
  ['an added endpoint', [dns(['a:53'])], [dns(['a:53', 'b:53'])], false],
  ['the last endpoint that is removed', [dns(['a:53'])], [dns([])], false],
  ['a TCP port', [dns(['a:53'], { protocol: 'TCP' })], [dns(['b:53'], { protocol: 'TCP' })], false],
  ['another port', [dns(['a:53'])], [dns(['a:53']), dns(['a:54'], { portName: 'tls', protocol: 'TCP' })], false],
] as const) {
  test(`${title} ${expected ? 'may leave' : 'leaves no'} stale flows`, () => {
    assert.equal(mayLeaveStaleFlows(before, after), expected);
  });
}
