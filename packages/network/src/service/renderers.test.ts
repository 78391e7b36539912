import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { iptablesFragment, iptablesStaticFragment } from './iptables.ts';
import { iptablesBatches, iptablesTransaction, parseIptablesSave } from './iptables-script.ts';
import { shortHash } from './names.ts';
import { nftFragment, nftStaticFragment } from './nftables.ts';
import { nftTransaction, parseNftTable } from './nftables-script.ts';
import { createRuleset, noRules } from './ruleset.ts';
import type { ServicePort } from './service-port.ts';

const options = {
  family: 'IPv4',
  masqueradeAll: false,
  masqueradeBit: 14,
  nodePortAddresses: ['172.20.0.2'],
  nodeAddresses: ['172.20.0.2'],
  serviceRanges: ['10.96.0.0/12'],
  localhostNodePorts: true,
  dropInvalid: true,
} as const;

function servicePort(count: number, fields: Partial<ServicePort> = {}): ServicePort {
  const endpoints = Array.from({ length: count }, (_, index) => ({
    address: `10.244.1.${index + 1}`,
    port: 8080,
    isLocal: false,
    mayBeLocal: false,
  }));
  return {
    service: 'shop/web',
    portName: 'http',
    protocol: 'TCP',
    family: 'IPv4',
    port: 80,
    clusterIP: '10.96.0.7',
    externalIPs: [],
    loadBalancerIPs: [],
    sourceRanges: [],
    isInternalLocal: false,
    isExternalLocal: false,
    hasEndpoints: count > 0,
    cluster: endpoints,
    local: [],
    serving: new Set(),
    ...fields,
  };
}

test('names have the hashes that Kubernetes uses', () => {
  // Chains of the Service default/kubernetes, as every cluster with kube-proxy has them.
  assert.equal(`KUBE-SVC-${shortHash('default/kubernetes:httpstcp', 16)}`, 'KUBE-SVC-NPX46M4PTMTKRN6Y');
  assert.equal(shortHash('default/kubernetes/tcp/https', 8), '2QRHZV4L');
});

describe('nftables', () => {
  const chainsOf = (...ports: readonly ServicePort[]) =>
    Object.fromEntries(
      nftFragment(ports, options).chains.map(({ name, rules }) => [name.replace(/-[A-Z2-7]{8}-/, '-'), rules]),
    );

  test('select one of a few endpoints with one rule each', () => {
    assert.deepEqual(chainsOf(servicePort(3)), {
      'service-shop/web/tcp/http': [
        'meta l4proto tcp numgen random mod 3 0 dnat to 10.244.1.1:8080',
        'meta l4proto tcp numgen random mod 2 0 dnat to 10.244.1.2:8080',
        'meta l4proto tcp dnat to 10.244.1.3:8080',
      ],
    });
  });

  test('select one of many endpoints with a map', () => {
    const [rule = '', ...others] = chainsOf(servicePort(100))['service-shop/web/tcp/http'] ?? [];
    assert.match(rule, /^meta l4proto tcp dnat ip to numgen random mod 100 map \{ 0 : 10\.244\.1\.100 \. 8080, /);
    assert.deepEqual(others, []);
  });

  test('translate SCTP', () => {
    const rules = chainsOf(servicePort(1, { protocol: 'SCTP' }))['service-shop/web/sctp/http'];
    assert.deepEqual(rules, ['meta l4proto sctp dnat to 10.244.1.1:8080']);
  });

  test('give every endpoint an affinity set', () => {
    const { sets, chains } = nftFragment([servicePort(2, { affinitySeconds: 60 })], options);
    assert.equal(sets.length, 2);
    const [name = ''] = sets;
    assert.match(chains[0]?.rules[0] ?? '', /^update @affinity-\S+ \{ ip saddr timeout 60s \}$/);
    assert.ok(chains.some(({ rules }) => rules[0]?.startsWith(`ip saddr @${name} goto endpoint-`)));
  });

  test('do not depend on the order of endpoints', () => {
    const port = servicePort(3);
    assert.deepEqual(
      nftFragment([{ ...port, cluster: port.cluster.toReversed() }], options),
      nftFragment([port], options),
    );
  });

  test('change a few lines for one endpoint', () => {
    const ruleset = createRuleset();
    ruleset.replace('', nftStaticFragment(options));
    for (let index = 0; index < 500; index++) {
      ruleset.replace(
        `shop/s${index}`,
        nftFragment(
          [servicePort(3, { service: `shop/s${index}`, clusterIP: `10.97.${index >> 8}.${index & 255}` })],
          options,
        ),
      );
    }
    ruleset.commit(ruleset.takeChanges());
    ruleset.replace('shop/s7', nftFragment([servicePort(2, { service: 'shop/s7', clusterIP: '10.97.0.7' })], options));
    const lines = nftTransaction(ruleset.takeChanges(), options);
    assert.deepEqual(
      lines.map((line) => line.split(' ').slice(0, 2).join(' ')),
      ['flush chain', 'add rule', 'add rule'],
    );
  });

  test('are read back as they are printed', () => {
    const text = `table ip kube-proxy {
\tcomment "rules for kube-proxy"
\tset cluster-ips {
\t\ttype ipv4_addr
\t\telements = { 10.96.0.1, 10.96.0.7,
\t\t\t     10.96.0.8 }
\t}

\tmap service-ips {
\t\ttype ipv4_addr . inet_proto . inet_service : verdict
\t\telements = { 10.96.0.1 . 6 . 443 : goto service-A,
\t\t\t     10.96.0.7 . 17 . 53 : goto service-B }
\t}

\tmap service-nodeports {
\t\ttype inet_proto . inet_service : verdict
\t\telements = { 132 . 30080 : goto external-A }
\t}

\tset affinity-X {
\t\ttype ipv4_addr
\t\tsize 65535
\t\tflags dynamic,timeout
\t\telements = { 10.244.0.9 timeout 3h expires 2h59m }
\t}

\tchain services {
\t\ttype nat hook output priority -100; policy accept;
\t\tip daddr 10.0.0.1 accept comment "ABCDEFGHIJKLMNOP/2"
\t\taccept
\t}

\tchain tampered {
\t\taccept comment "ABCDEFGHIJKLMNOP/2"
\t}

\tchain foreign {
\t\taccept
\t}

\tchain empty {
\t}
}
`;
    const { chains, entries, sets } = parseNftTable(text);
    assert.deepEqual(Object.fromEntries(chains), {
      services: 'ABCDEFGHIJKLMNOP/2',
      tampered: 'changed',
      foreign: 'changed',
      empty: '',
    });
    assert.deepEqual([...sets], ['affinity-X']);
    assert.deepEqual([...(entries.get('cluster-ips')?.keys() ?? [])], ['10.96.0.1', '10.96.0.7', '10.96.0.8']);
    assert.deepEqual(Object.fromEntries(entries.get('service-ips') ?? []), {
      '10.96.0.1 . tcp . 443': 'goto service-A',
      '10.96.0.7 . udp . 53': 'goto service-B',
    });
    assert.deepEqual(Object.fromEntries(entries.get('service-nodeports') ?? []), { 'sctp . 30080': 'goto external-A' });
  });
});

describe('iptables', () => {
  test('have the probabilities as the kernel stores them', () => {
    const chain = iptablesFragment([servicePort(3)], options).chains.find(({ name }) =>
      name.startsWith('nat KUBE-SVC-'),
    );
    const found = chain?.rules.map((rule) => /--probability (\S+)/.exec(rule)?.[1]);
    assert.deepEqual(found, ['0.33333333349', '0.50000000000', undefined]);
  });

  test('change only the chains of a Service', () => {
    const ruleset = createRuleset();
    ruleset.replace('', iptablesStaticFragment(options));
    ruleset.replace('shop/web', iptablesFragment([servicePort(3)], options));
    ruleset.commit(ruleset.takeChanges());
    ruleset.replace('shop/web', iptablesFragment([servicePort(2)], options));
    const input = iptablesTransaction(ruleset.takeChanges(), new Set(['nat KUBE-SERVICES', 'nat KUBE-NODEPORTS']));
    const nat = input.slice(input.indexOf('*nat'));
    assert.match(nat, /^:KUBE-SVC-\S+ - \[0:0\]$/m);
    assert.match(nat, /^-X KUBE-SEP-\S+$/m);
    assert.doesNotMatch(nat, /KUBE-SERVICES/);
  });

  test('write many new chains in transactions of limited size, before a rule refers to them', () => {
    const ruleset = createRuleset();
    ruleset.replace('', iptablesStaticFragment(options));
    for (let index = 0; index < 600; index++) {
      const service = `shop/s${index}`;
      const fields = { service, clusterIP: `10.97.${index >> 8}.${index & 255}`, nodePort: 30_000 + index };
      ruleset.replace(service, iptablesFragment([servicePort(2, fields)], options));
    }
    const changes = ruleset.takeChanges();
    const input = iptablesBatches(changes, new Set());
    const linesOf = (text: string) => text.split('\n').filter((line) => /^[:-]/.test(line));
    assert.deepEqual(linesOf(input).sort(), linesOf(iptablesTransaction(changes, new Set())).sort());

    const builtIn = new Set(['INPUT', 'OUTPUT', 'FORWARD', 'PREROUTING', 'POSTROUTING']);
    const transactions = input.split('COMMIT\n').filter((text) => text !== '');
    const declared = new Set<string>();
    const linked = new Set<string>();
    for (const transaction of transactions) {
      const [table = '', ...lines] = transaction.trimEnd().split('\n');
      assert.ok(!linked.has(table), `${table} changes after packets reach it`);
      const names = lines.flatMap((line) => /^:(\S+)/.exec(line)?.slice(1) ?? []);
      assert.ok(names.length <= 500);
      for (const name of names) declared.add(`${table} ${name}`);
      for (const line of lines) {
        const [, chain = ''] = /^-[AI] (\S+)/.exec(line) ?? [];
        if (builtIn.has(chain)) linked.add(table);
        const [, target] = / -j (KUBE-\S+)/.exec(line) ?? [];
        if (target !== undefined) assert.ok(declared.has(`${table} ${target}`), line);
      }
    }
    assert.deepEqual([...linked], ['*filter', '*nat']);
    assert.ok(transactions.length > 5);
  });

  test('leave the rules of others alone', () => {
    const text = `*nat
:PREROUTING ACCEPT [0:0]
:KUBE-SERVICES - [0:0]
:KUBE-KUBELET-CANARY - [0:0]
:CNI-HOSTPORT-DNAT - [0:0]
:KUBE-SVC-AAAAAAAAAAAAAAAA - [0:0]
-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT
-A KUBE-SERVICES -d 10.96.0.9/32 -p tcp -m comment --comment "a/b cluster IP" -m tcp --dport 80 -j KUBE-SVC-AAAAAAAAAAAAAAAA
COMMIT
`;
    const installed = parseIptablesSave(text, 'IPv4');
    const ruleset = createRuleset();
    ruleset.replace('', iptablesStaticFragment(options));
    ruleset.assume(installed);
    const changes = ruleset.takeChanges();
    assert.deepEqual(changes.staleChains, ['nat KUBE-SVC-AAAAAAAAAAAAAAAA']);
    assert.deepEqual(
      changes.deletedEntries.map(({ key }) => key),
      ['10.96.0.9/32 tcp 80'],
    );
    assert.ok(!changes.addedEntries.some(({ container }) => container === 'nat PREROUTING'), 'the jump exists');
    assert.deepEqual(noRules.chains.size, 0);
  });
});
