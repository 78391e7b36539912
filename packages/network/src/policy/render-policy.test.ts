import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NetworkPolicySpec } from '@kruise/api/networking/networkpolicy';
import { compilePolicy } from './compiled-policy.ts';
import { renderRules } from './render-policy.ts';

type Rule = NonNullable<NetworkPolicySpec['ingress']>[number];

function render(rule: Rule): readonly string[] {
  const { rules } = compilePolicy({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { namespace: 'a', name: 'p' },
    spec: { podSelector: {}, policyTypes: ['Ingress'], ingress: [rule] },
  });
  return renderRules(rules.ingress ?? [], 'ingress', {
    peers: (_peer, family) => `peers-${family}`,
    ports: ({ name }, _direction, family) => `${name}-${family}`,
  });
}

const block = (cidr: string, ...except: readonly string[]) => ({
  ipBlock: { cidr, ...(except.length > 0 ? { except } : {}) },
});

const cases: readonly { name: string; rule: Rule; lines: readonly string[] }[] = [
  { name: 'an empty rule accepts everything', rule: {}, lines: ['accept'] },
  {
    name: 'a selector is one set of each family',
    rule: { from: [{ podSelector: {} }] },
    lines: ['ip saddr @peers-4 accept', 'ip6 saddr @peers-6 accept'],
  },
  {
    name: 'ports of a protocol are one set without overlaps',
    rule: { ports: [{ port: 80 }, { port: 81, endPort: 90 }, { port: 85, endPort: 95 }, { port: 443 }] },
    lines: ['tcp dport { 80-95, 443 } accept'],
  },
  {
    name: 'protocols have rules of their own',
    rule: { ports: [{ port: 53 }, { port: 53, protocol: 'UDP' }, { protocol: 'SCTP' }] },
    lines: ['tcp dport { 53 } accept', 'udp dport { 53 } accept', 'meta l4proto sctp accept'],
  },
  {
    name: 'a named port is a set of Pods with their ports',
    rule: { ports: [{ port: 'http' }] },
    lines: ['ip daddr . tcp dport @http-4 accept', 'ip6 daddr . tcp dport @http-6 accept'],
  },
  {
    name: 'blocks without exceptions are one set, without nested ones',
    rule: { from: [block('10.1.0.0/16'), block('10.0.0.0/8'), block('192.168.0.0/16')] },
    lines: ['ip saddr { 10.0.0.0/8, 192.168.0.0/16 } accept'],
  },
  {
    name: 'exceptions without nested ones',
    rule: { from: [block('10.0.0.0/8', '10.1.2.0/24', '10.1.0.0/16')] },
    lines: ['ip saddr { 10.0.0.0/8 } ip saddr != { 10.1.0.0/16 } accept'],
  },
  {
    name: 'a block that is excepted as a whole matches nothing',
    rule: { from: [block('10.0.0.0/8', '10.0.0.0/8')] },
    lines: [],
  },
  {
    name: 'all addresses of a family',
    rule: { from: [block('0.0.0.0/0'), block('::/0', 'fd00::/8')] },
    lines: ['meta nfproto ipv4 accept', 'meta nfproto ipv6 ip6 saddr != { fd00::/8 } accept'],
  },
  {
    name: 'families of peers and ports match each other',
    rule: { from: [block('10.0.0.0/8')], ports: [{ port: 'http' }] },
    lines: ['ip saddr { 10.0.0.0/8 } ip daddr . tcp dport @http-4 accept'],
  },
];
for (const { name, rule, lines } of cases) {
  test(`rendering: ${name}`, () => assert.deepEqual(render(rule), lines));
}
