import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NetworkPolicySpec } from '@kruise/api/networking/networkpolicy';
import { parsePrefix } from '@kruise/values/address';
import type { TableListing } from '../host/nft-table.ts';
import { compilePolicy } from './compiled-policy.ts';
import type { PolicyPod } from './policy-pod.ts';
import { createPolicyTable, type PolicyTable } from './policy-table.ts';

const pod = (name: string, address: string, fields: Partial<PolicyPod> = {}): PolicyPod => ({
  namespace: 'a',
  name,
  labels: { app: name.split('-')[0] ?? '' },
  nodeName: 'node-1',
  addresses: [address],
  ports: [],
  isTerminating: false,
  createdAt: '',
  ...fields,
});
const remote = { nodeName: 'node-2' };

const policy = (name: string, spec: NetworkPolicySpec, namespace = 'a') =>
  compilePolicy({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { namespace, name },
    spec,
  });
const webFromDb = policy('web-from-db', {
  podSelector: { matchLabels: { app: 'web' } },
  policyTypes: ['Ingress'],
  ingress: [{ from: [{ podSelector: { matchLabels: { app: 'db' } } }], ports: [{ port: 80 }] }],
});

/** Commits the next transaction; returns its lines without the name of the table. */
function commit({ nft }: PolicyTable): readonly string[] {
  const transaction = nft.nextTransaction();
  transaction?.committed();
  transaction?.cleaned();
  const text = `${transaction?.script ?? ''}${transaction?.cleanup ?? ''}`;
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replace('inet t ', '').replaceAll(/-[0-9a-f]{16}/g, '-#'));
}

function tableOf(pods: readonly PolicyPod[], policies = [webFromDb]): PolicyTable {
  const table = createPolicyTable('inet t', 'node-1');
  table.setNamespace('a', { 'kubernetes.io/metadata.name': 'a' });
  table.setPodCidrs([parsePrefix('10.0.0.0/24')]);
  for (const each of pods) table.setPod(`${each.namespace}/${each.name}`, each);
  for (const each of policies) table.setPolicy(`${each.namespace}/${each.name}`, each);
  return table;
}

test('the first transaction replaces the table atomically', () => {
  const lines = commit(tableOf([pod('web-1', '10.0.0.1')]));
  assert.deepEqual(lines.slice(0, 3), ['add table inet t', 'delete table inet t', 'add table inet t']);
  assert.ok(lines.includes('add rule policy-ingress-# ip saddr @peers-#-v4 tcp dport { 80 } accept'));
  assert.ok(lines.includes('add rule pods-ingress-# jump policy-ingress-# comment "a/web-from-db"'));
  assert.ok(lines.includes('add rule pods-ingress-# drop'));
  assert.ok(lines.includes('add element ingress-v4 { 10.0.0.1 : goto pods-ingress-# }'));
});

test('a Pod that appears in a peer set is one element', () => {
  const table = tableOf([pod('web-1', '10.0.0.1')]);
  commit(table);
  table.setPod('a/db-1', pod('db-1', '10.0.1.1', remote));
  assert.deepEqual(commit(table), ['add element peers-#-v4 { 10.0.1.1 }']);
  table.setPod('a/db-1', undefined);
  assert.deepEqual(commit(table), ['delete element peers-#-v4 { 10.0.1.1 }']);
});

test('a Pod that no rule depends on costs no transaction', () => {
  const table = tableOf([pod('web-1', '10.0.0.1')]);
  commit(table);
  table.setPod('a/cache-1', pod('cache-1', '10.0.1.2', remote));
  table.setPod('b/db-1', pod('db-1', '10.0.1.3', { ...remote, namespace: 'b' }));
  assert.deepEqual(commit(table), []);
});

test('another local Pod with the same policies shares their chains', () => {
  const table = tableOf([pod('web-1', '10.0.0.1')]);
  commit(table);
  table.setPod('a/web-2', pod('web-2', '10.0.0.2'));
  assert.deepEqual(commit(table).toSorted(), [
    'add element ingress-v4 { 10.0.0.2 : goto pods-ingress-# }',
    'add element known-v4 { 10.0.0.2 }',
    'add element self-v4 { 10.0.0.2 . 10.0.0.2 }',
  ]);
});

test('a label that moves a Pod between sets moves its address', () => {
  const table = tableOf([pod('web-1', '10.0.0.1'), pod('db-1', '10.0.1.1', remote)]);
  commit(table);
  table.setPod('a/db-1', pod('db-1', '10.0.1.1', { ...remote, labels: { app: 'cache' } }));
  assert.deepEqual(commit(table), ['delete element peers-#-v4 { 10.0.1.1 }']);
});

test('policies without a local Pod have no chains and no sets', () => {
  const lines = commit(tableOf([pod('web-1', '10.0.1.1', remote)]));
  assert.ok(!lines.some((line) => /peers|policy-ingress|pods-ingress/.test(line)));
});

test('chains and sets are removed with their last user', () => {
  const table = tableOf([pod('web-1', '10.0.0.1'), pod('db-1', '10.0.1.1', remote)]);
  commit(table);
  table.setPolicy('a/web-from-db', undefined);
  const lines = commit(table);
  assert.ok(lines.includes('delete element ingress-v4 { 10.0.0.1 }'));
  for (const name of ['chain policy-ingress-#', 'chain pods-ingress-#', 'set peers-#-v4', 'set peers-#-v6']) {
    assert.ok(lines.includes(`delete ${name}`), name);
  }
});

test('policies with equal selectors share a set', () => {
  const second = policy('second', {
    podSelector: {},
    ingress: [{ from: [{ podSelector: { matchLabels: { app: 'db' } } }] }],
  });
  const lines = commit(tableOf([pod('web-1', '10.0.0.1')], [webFromDb, second]));
  assert.equal(lines.filter((line) => line.startsWith('add set peers')).length, 2, 'one of each family');
});

test('a namespace whose labels change moves all its Pods', () => {
  const fromTeam = policy('from-team', {
    podSelector: {},
    policyTypes: ['Ingress'],
    ingress: [{ from: [{ namespaceSelector: { matchLabels: { team: 'one' } } }] }],
  });
  const elsewhere = { ...remote, namespace: 'b' };
  const table = tableOf(
    [pod('web-1', '10.0.0.1'), pod('x', '10.0.1.1', elsewhere), pod('y', '10.0.1.2', elsewhere)],
    [fromTeam],
  );
  commit(table);
  table.setNamespace('b', { team: 'one' });
  assert.deepEqual(commit(table), ['add element peers-#-v4 { 10.0.1.1, 10.0.1.2 }']);
  table.setNamespace('b', { team: 'two' });
  assert.deepEqual(commit(table), ['delete element peers-#-v4 { 10.0.1.1, 10.0.1.2 }']);
});

test('a named port of an ingress rule follows the ports of local Pods only', () => {
  const named = policy('named', {
    podSelector: {},
    policyTypes: ['Ingress'],
    ingress: [{ ports: [{ port: 'http' }] }],
  });
  const http = (port: number) => ({ ports: [{ name: 'http', protocol: 'TCP' as const, port }] });
  const table = tableOf([pod('web-1', '10.0.0.1', http(80))], [named]);
  assert.ok(commit(table).includes('add element ports-ingress-tcp-#-v4 { 10.0.0.1 . 80 }'));
  table.setPod('a/web-2', pod('web-2', '10.0.1.1', { ...remote, ...http(80) }));
  assert.deepEqual(commit(table), []);
  table.setPod('a/web-1', pod('web-1', '10.0.0.1', http(8080)));
  assert.deepEqual(commit(table), [
    'delete element ports-ingress-tcp-#-v4 { 10.0.0.1 . 80 }',
    'add element ports-ingress-tcp-#-v4 { 10.0.0.1 . 8080 }',
  ]);
});

test('an address that passes to another Pod has the policies of that Pod', () => {
  const terminating = pod('db-1', '10.0.0.1', { isTerminating: true });
  const table = tableOf([terminating]);
  assert.ok(!commit(table).some((line) => line.startsWith('add element ingress-v4')));
  table.setPod('a/web-1', pod('web-1', '10.0.0.1'));
  assert.ok(commit(table).includes('add element ingress-v4 { 10.0.0.1 : goto pods-ingress-# }'));
  table.setPod('a/db-1', undefined);
  assert.deepEqual(
    commit(table).filter((line) => /ingress|known|self/.test(line)),
    [],
    'the address stays known and isolated',
  );
});

test('unknown addresses of the node are blocked only while there are policies', () => {
  const table = tableOf([]);
  const guard = /ip [sd]addr { 10\.0\.0\.0\/24 } ip [sd]addr != @known-v4 drop$/;
  assert.equal(commit(table).filter((line) => guard.test(line)).length, 3);
  table.setPolicy('a/web-from-db', undefined);
  assert.deepEqual(commit(table), [
    'flush chain forward-egress',
    'flush chain forward-ingress',
    'flush chain input-egress',
  ]);
});

test('a restarted process writes only what is wrong', () => {
  const pods = [pod('web-1', '10.0.0.1'), pod('db-1', '10.0.1.1', remote)];
  const first = tableOf(pods);
  const names = (kind: string, text: string) => [...text.matchAll(new RegExp(`^add ${kind} inet t (\\S+)(.*)$`, 'gm'))];
  const text = first.nft.nextTransaction()!.script;
  const rules = Map.groupBy(names('rule', text), ([, chain]) => chain);
  const listing: TableListing = {
    chains: new Map(names('chain', text).map(([, chain = '']) => [chain, rules.get(chain)?.length ?? 0])),
    sets: new Map([
      ...names('(?:set|map)', text).map(([, set = '']) => [set, new Map<string, string>()] as const),
      ...names('element', text).map(([, set = '', rest = '']) => {
        const elements = rest.replace(/^ \{ | \}$/g, '').split(', ');
        return [
          set,
          new Map(
            elements.map((each) => each.split(' : ') as [string, string]).map(([key, verdict = '']) => [key, verdict]),
          ),
        ] as const;
      }),
    ]),
  };
  const second = tableOf([...pods, pod('db-2', '10.0.1.2', remote)]);
  second.nft.adopt(listing);
  const lines = commit(second).filter((line) => !/(add|flush) (chain|rule) (forward|input)-/.test(line));
  assert.deepEqual(lines, ['add element peers-#-v4 { 10.0.1.2 }']);
});
