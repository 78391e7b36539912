import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NetworkPolicySpec } from '@kruise/api/networking/networkpolicy';
import { compilePolicy } from './compiled-policy.ts';
import { type Connection, isAllowed, type PolicyView } from './is-allowed.ts';
import type { PolicyPod } from './policy-pod.ts';

const pod = (name: string, address: string, fields: Partial<PolicyPod> = {}): PolicyPod => ({
  namespace: 'a',
  name,
  labels: { name },
  nodeName: 'node-1',
  addresses: [address],
  ports: [],
  isTerminating: false,
  createdAt: '',
  ...fields,
});

/** Pods web and db in namespace a, and other in namespace b. */
const pods = [
  pod('web', '10.0.0.1', {
    addresses: ['10.0.0.1', 'fd00::1'],
    ports: [
      { name: 'http', protocol: 'TCP', port: 8080 },
      { name: 'dns', protocol: 'UDP', port: 53 },
    ],
  }),
  pod('db', '10.0.0.2', { ports: [{ name: 'http', protocol: 'TCP', port: 80 }] }),
  pod('other', '10.0.1.1', { namespace: 'b', nodeName: 'node-2' }),
];
const namespaces: Readonly<Record<string, Record<string, string>>> = {
  a: { 'kubernetes.io/metadata.name': 'a' },
  b: { 'kubernetes.io/metadata.name': 'b', team: 'one' },
};

function viewOf(...specs: readonly NetworkPolicySpec[]): PolicyView {
  return {
    podAt: (address) => pods.find(({ addresses }) => addresses.includes(address)),
    policiesIn: (namespace) =>
      specs
        .map((spec, index) =>
          compilePolicy({
            apiVersion: 'networking.k8s.io/v1',
            kind: 'NetworkPolicy',
            metadata: { namespace: 'a', name: `p${index}` },
            spec,
          }),
        )
        .filter((each) => each.namespace === namespace),
    labelsOfNamespace: (name) => namespaces[name],
    isAddressOfNode: (address, nodeName) => address === (nodeName === 'node-1' ? '192.168.0.1' : '192.168.0.2'),
  };
}

const web = { matchLabels: { name: 'web' } };
const db = { matchLabels: { name: 'db' } };
const teamOne = { matchLabels: { team: 'one' } };
const denyAll: NetworkPolicySpec = { podSelector: {}, policyTypes: ['Ingress', 'Egress'] };
const from = (...peers: NonNullable<NonNullable<NetworkPolicySpec['ingress']>[number]['from']>): NetworkPolicySpec => ({
  podSelector: web,
  policyTypes: ['Ingress'],
  ingress: [{ from: peers }],
});
const ports = (
  ...each: NonNullable<NonNullable<NetworkPolicySpec['ingress']>[number]['ports']>
): NetworkPolicySpec => ({
  podSelector: web,
  policyTypes: ['Ingress'],
  ingress: [{ ports: each }],
});
const to = (rule: NonNullable<NetworkPolicySpec['egress']>[number]): NetworkPolicySpec => ({
  podSelector: db,
  policyTypes: ['Egress'],
  egress: [rule],
});

/** `source > destination` by name or address, with `:port` and `/protocol`. */
type Row = readonly [name: string, policies: readonly NetworkPolicySpec[], connection: string, isAllowed: boolean];
const rows: readonly Row[] = [
  ['without policies, all traffic is allowed', [], 'other > web', true],
  ['a selected Pod is isolated', [denyAll], 'db > web', false],
  ['a policy does not isolate Pods of other namespaces', [denyAll], '8.8.8.8 > other', true],
  ['a policy isolates the directions that it lists', [{ ...denyAll, policyTypes: ['Ingress'] }], 'web > other', true],
  ['policyTypes default to Ingress', [{ podSelector: web }], 'web > other', true],
  [
    'policyTypes default to Egress as well if there are egress rules',
    [{ podSelector: db, egress: [{ ports: [{ port: 1 }] }] }],
    'db > other',
    false,
  ],
  [
    'both directions must be allowed',
    [denyAll, { podSelector: web, policyTypes: ['Ingress'], ingress: [{}] }],
    'db > web',
    false,
  ],
  [
    'policies add up',
    [denyAll, { podSelector: {}, policyTypes: ['Ingress', 'Egress'], ingress: [{}], egress: [{}] }],
    'db > web',
    true,
  ],
  ['traffic of a Pod to itself is allowed', [denyAll], 'web > web', true],
  ['traffic from the own node is allowed', [denyAll], '192.168.0.1 > web', true],
  ['traffic from another node is not', [denyAll], '192.168.0.2 > web', false],
  ['egress to the own node is restricted', [denyAll], 'web > 192.168.0.1', false],
  ['a podSelector selects Pods of the same namespace', [from({ podSelector: {} })], 'db > web', true],
  ['a podSelector selects no Pods of other namespaces', [from({ podSelector: {} })], 'other > web', false],
  ['a podSelector selects no addresses outside of the cluster', [from({ podSelector: {} })], '8.8.8.8 > web', false],
  ['a namespaceSelector selects all Pods of a namespace', [from({ namespaceSelector: teamOne })], 'other > web', true],
  ['a namespaceSelector does not select the own namespace', [from({ namespaceSelector: teamOne })], 'db > web', false],
  [
    'both selectors of a peer must match',
    [from({ namespaceSelector: teamOne, podSelector: db })],
    'other > web',
    false,
  ],
  ['one of two peers must match', [from({ namespaceSelector: teamOne }, { podSelector: db })], 'db > web', true],
  ['an ipBlock contains addresses', [from({ ipBlock: { cidr: '8.8.0.0/16' } })], '8.8.8.8 > web', true],
  [
    'an ipBlock excludes its exceptions',
    [from({ ipBlock: { cidr: '8.8.0.0/16', except: ['8.8.8.0/24'] } })],
    '8.8.8.8 > web',
    false,
  ],
  ['an ipBlock may contain Pods', [from({ ipBlock: { cidr: '10.0.1.0/24' } })], 'other > web', true],
  [
    'an ipBlock of one family contains no addresses of the other',
    [from({ ipBlock: { cidr: '0.0.0.0/0' } })],
    'fd00::9 > fd00::1',
    false,
  ],
  [
    'an ipBlock of IPv6 contains IPv6 addresses',
    [from({ ipBlock: { cidr: 'fd00::/8', except: ['fd00::8/128'] } })],
    'fd00::9 > fd00::1',
    true,
  ],
  ['a port without protocol is a TCP port', [ports({ port: 80 })], 'other > web:80', true],
  ['a TCP port is no UDP port', [ports({ port: 80 })], 'other > web:80/UDP', false],
  ['a TCP port is no SCTP port', [ports({ port: 80 })], 'other > web:80/SCTP', false],
  ['a protocol without port allows all ports', [ports({ protocol: 'SCTP' })], 'other > web:7/SCTP', true],
  ['endPort ends a range', [ports({ port: 80, endPort: 90 })], 'other > web:90', true],
  ['ports after endPort are not allowed', [ports({ port: 80, endPort: 90 })], 'other > web:91', false],
  ['a named port is a port of the selected Pod', [ports({ port: 'http' })], 'other > web:8080', true],
  ['a named port is no port of other Pods', [ports({ port: 'http' })], 'other > web:80', false],
  ['a named port has a protocol', [ports({ port: 'dns' })], 'other > web:53/UDP', false],
  ['a named port with its protocol is allowed', [ports({ port: 'dns', protocol: 'UDP' })], 'other > web:53/UDP', true],
  [
    'an egress port of that name is a port of the destination',
    [to({ ports: [{ port: 'http' }] })],
    'db > web:8080',
    true,
  ],
  ['an egress port of that name is not that of the source', [to({ ports: [{ port: 'http' }] })], 'db > web:80', false],
  [
    'an egress port of that name does not exist outside of the cluster',
    [to({ ports: [{ port: 'http' }] })],
    'db > 8.8.8.8:80',
    false,
  ],
  [
    'an empty list of rules allows nothing',
    [{ podSelector: web, policyTypes: ['Ingress'], ingress: [] }],
    'db > web',
    false,
  ],
  [
    'an empty rule allows everything',
    [{ podSelector: web, policyTypes: ['Ingress'], ingress: [{}] }],
    '8.8.8.8 > web',
    true,
  ],
  [
    'an invalid exception invalidates its block',
    [from({ ipBlock: { cidr: '8.0.0.0/8', except: ['x'] } })],
    '8.8.8.8 > web',
    false,
  ],
  ['an invalid range allows nothing', [ports({ port: 90, endPort: 80 })], 'other > web:85', false],
];

function parse(text: string): Connection {
  const addressOf = (name: string) => pods.find((each) => each.name === name)?.addresses[0] ?? name;
  const [source = '', target = ''] = text.split(' > ');
  const [place = '', protocol = 'TCP'] = target.split('/');
  const [, name = '', port = '80'] = /^(.*?)(?::(\d+))?$/.exec(place.startsWith('fd') ? `${place}` : place) ?? [];
  const isAddress6 = place.startsWith('fd');
  return {
    source: addressOf(source),
    destination: isAddress6 ? place : addressOf(name),
    port: isAddress6 ? 80 : Number(port),
    // The rows name no others.
    protocol: protocol as Connection['protocol'],
  };
}

for (const [name, policies, connection, expected] of rows) {
  test(`${name}: ${connection}`, () => {
    assert.equal(isAllowed(viewOf(...policies), parse(connection)), expected);
  });
}
