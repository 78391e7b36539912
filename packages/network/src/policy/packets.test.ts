/**
 * The kernel's rules compared with the definition: Pods as network namespaces, connected by the CNI plugins, on two
 * machines. Random policies; every Pod probes every other one.
 */
import assert from 'node:assert/strict';
import type { NetworkPolicySpec } from '@kruise/api/networking/networkpolicy';
import { formatAddress, formatPrefix } from '@kruise/values/address';
import fc from 'fast-check';
import { createLab, type Lab, type Machine, type TestPod } from '../cni/testing/machines.ts';
import type { Probe } from '../cni/testing/pod-agent.ts';
import { withPlugins } from '../cni/testing/with-plugins.ts';
import { readNftTable, writeTransaction } from '../host/nft.ts';
import { compilePolicy } from './compiled-policy.ts';
import { type Connection, isAllowed } from './is-allowed.ts';
import { createPolicyTable, type PolicyTable } from './policy-table.ts';
import { policyTableName } from './run.ts';
import { anyPolicyWorld, type PolicyWorld, viewOf } from './testing/arbitrary-policies.ts';

const targets: readonly Pick<Connection, 'protocol' | 'port'>[] = [
  { protocol: 'TCP', port: 80 },
  { protocol: 'TCP', port: 81 },
  { protocol: 'UDP', port: 80 },
];
const familyOf = (address: string) => (address.includes(':') ? 6 : 4);
/** A dropped connection takes this time; a mismatch is probed again with more. */
const timeoutMs = 400;
const patientMs = 4000;

type Source = { readonly agent: TestPod | Machine; readonly addresses: readonly string[] };
type Case = { readonly source: Source; readonly connection: Connection };

for (const [title, mode, links] of [
  ['on two machines of one link', 'auto', 1],
  ['on two machines with VXLAN between them', 'auto', 2],
] as const) {
  withPlugins(`nftables allows what isAllowed allows, ${title}`, async () => {
    const lab = await createLab(links);
    try {
      const machines = [
        await lab.addMachine({ name: 'm1', link: 1, host: 1 }),
        await lab.addMachine({ name: 'm2', link: links, host: 2 }),
      ];
      const plans = await Promise.all(machines.map((machine) => machine.applyRoutes(machines, mode)));
      assert.deepEqual(
        plans.map(({ vxlan }) => vxlan !== undefined),
        machines.map(() => links === 2),
      );
      await compareWithKernel(lab, machines, links === 2);
    } finally {
      await lab.close();
    }
  });
}

async function compareWithKernel(lab: Lab, machines: readonly Machine[], isTunnelled: boolean): Promise<void> {
  const pods: { readonly machine: Machine; readonly pod: TestPod }[] = [];
  for (const machine of machines)
    for (let count = 0; count < 3; count++) pods.push({ machine, pod: await machine.addPod() });
  const addressesOfNodes = new Map(machines.map(({ node }) => [node.name, node.addresses.map(formatAddress)]));
  const sources: Source[] = pods.map(({ pod }) => ({ agent: pod, addresses: pod.addresses }));
  // Through VXLAN, a node has the address of its endpoint.
  const nodeSources = machines.map((machine): Source => {
    const own = isTunnelled ? machine.node.podCidrs.map(({ address }) => address) : machine.node.addresses;
    return { agent: machine, addresses: own.map(formatAddress) };
  });
  const servers = [...pods.flatMap(({ pod }) => pod.addresses), ...[...addressesOfNodes.values()].flat()];
  const cases: Case[] = [];
  const addCase = (source: Source, destination: string, target: Pick<Connection, 'protocol' | 'port'>) => {
    const own = source.addresses.find((each) => familyOf(each) === familyOf(destination));
    if (own && own !== destination) cases.push({ source, connection: { source: own, destination, ...target } });
  };
  for (const source of sources) {
    for (const destination of servers) for (const target of targets) addCase(source, destination, target);
    for (const destination of lab.outside.addresses) addCase(source, destination, { protocol: 'TCP', port: 80 });
  }
  for (const [index, source] of nodeSources.entries()) {
    for (const { machine, pod } of pods) {
      // The node's own Pods see the address of their gateway; every address of the node is allowed.
      const isOwn = machine === machines[index];
      const seenAs = isOwn ? { agent: machine, addresses: machine.node.addresses.map(formatAddress) } : source;
      for (const destination of pod.addresses) addCase(seenAs, destination, { protocol: 'TCP', port: 80 });
    }
  }

  // IPv6 addresses take up to two seconds to become usable.
  await waitUntil(async () => (await probeAll(cases, patientMs)).every(Boolean));

  const tables = machines.map(({ node }) => newTable(node.name, machines));
  let rounds = 0;
  let last: PolicyWorld | undefined;
  const places = pods.map(({ machine, pod }) => ({ nodeName: machine.node.name, addresses: pod.addresses }));
  await fc.assert(
    fc.asyncProperty(anyPolicyWorld(places, lab.outside.addresses), async (world) => {
      rounds++;
      for (const [index, machine] of machines.entries()) {
        // A restarted process takes over the rules of the last one.
        if (rounds % 5 === 0) {
          const restarted = newTable(machine.node.name, machines);
          if (last) applyWorld(restarted, undefined, last);
          restarted.nft.adopt(await readNftTable(machine.run, policyTableName));
          tables[index] = restarted;
        }
        const table = tables[index]!;
        applyWorld(table, last, world);
        await write(machine, table);
        const listing = await readNftTable(machine.run, policyTableName);
        assert(table.nft.isIntact(listing));
        assert.equal(
          [...listing.sets.values()].reduce((sum, each) => sum + each.size, 0),
          table.nft.elementCount(),
        );
      }
      last = world;
      const view = viewOf(world, addressesOfNodes);
      const expected = cases.map(({ connection }) => isAllowed(view, connection));
      const results = await probeAll(cases, timeoutMs);
      // Only what differs is probed again: the machine may have been too busy for the short timeout.
      const doubtful = cases.filter((_, at) => results[at] !== expected[at]);
      const again = await probeAll(doubtful, patientMs);
      const different = doubtful.filter((each, at) => again[at] !== expected[cases.indexOf(each)]);
      assert.deepEqual(
        different.map(({ connection }) => ({ ...connection, allowed: isAllowed(view, connection) })),
        [],
      );
    }),
    { numRuns: 12, endOnFailure: true },
  );
}

function newTable(nodeName: string, machines: readonly Machine[]): PolicyTable {
  const table = createPolicyTable(policyTableName, nodeName);
  table.setPodCidrs(machines.find(({ node }) => node.name === nodeName)?.node.podCidrs ?? []);
  return table;
}

/** Changes a table from one world to the next as informers would: object by object. */
function applyWorld(table: PolicyTable, last: PolicyWorld | undefined, next: PolicyWorld): void {
  const keyOf = ({ namespace, name }: { readonly namespace?: string; readonly name?: string }) =>
    `${namespace}/${name}`;
  for (const [name, labels] of next.namespaces) table.setNamespace(name, labels);
  const policies = new Set(next.policies.map(({ metadata }) => keyOf(metadata)));
  for (const { metadata } of last?.policies ?? []) {
    if (!policies.has(keyOf(metadata))) table.setPolicy(keyOf(metadata), undefined);
  }
  const pods = new Set(next.pods.map(keyOf));
  for (const pod of next.pods) table.setPod(keyOf(pod), pod);
  for (const pod of last?.pods ?? []) if (!pods.has(keyOf(pod))) table.setPod(keyOf(pod), undefined);
  for (const policy of next.policies) table.setPolicy(keyOf(policy.metadata), compilePolicy(policy));
}

async function write({ run }: Machine, { nft }: PolicyTable): Promise<void> {
  const transaction = nft.nextTransaction();
  if (transaction) await writeTransaction(run, transaction);
}

async function probeAll(cases: readonly Case[], waitMs: number): Promise<readonly boolean[]> {
  const results = new Map<Case, boolean>();
  await Promise.all(
    [...Map.groupBy(cases, ({ source }) => source.agent)].map(async ([agent, own]) => {
      const probes = own.map(
        ({ connection: { destination, protocol, port } }): Probe => ({
          address: destination,
          // Only these two are generated.
          protocol: protocol as Probe['protocol'],
          port,
          timeoutMs: waitMs,
        }),
      );
      const seen = await agent.probe(probes);
      for (const [at, each] of own.entries()) results.set(each, (seen[at] ?? null) !== null);
    }),
  );
  return cases.map((each) => results.get(each) ?? false);
}

async function waitUntil(isDone: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 10; attempt++) if (await isDone()) return;
  assert.fail('the Pods do not reach each other without policies');
}

withPlugins('an unknown Pod is blocked while there are policies, and reachable from its node', async () => {
  const lab = await createLab(1);
  try {
    const machine = await lab.addMachine({ name: 'm1', link: 1, host: 1 });
    await machine.applyRoutes([machine], 'auto');
    const [known, unknown] = [await machine.addPod(), await machine.addPod()];
    const table = newTable('m1', [machine]);
    const pod = {
      namespace: 'a',
      name: 'known',
      labels: {},
      nodeName: 'm1',
      ports: [],
      isTerminating: false,
      createdAt: '',
    };
    table.setPod('a/known', { ...pod, addresses: known.addresses });
    const reaches = async (from: TestPod | Machine, to: TestPod | undefined, waitMs: number) => {
      const address = to?.addresses[0] ?? formatPrefix(machine.node.podCidrs[0]!).replace('.0/24', '.1');
      const [seen] = await from.probe([{ address, protocol: 'TCP', port: 80, timeoutMs: waitMs }]);
      return (seen ?? null) !== null;
    };
    await write(machine, table);
    assert(await reaches(known, unknown, patientMs), 'without policies, all Pods are open');

    table.setPolicy(
      'b/any',
      compilePolicy({
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { namespace: 'b', name: 'any' },
        spec: { podSelector: {} },
      }),
    );
    await write(machine, table);
    assert.equal(await reaches(known, unknown, timeoutMs), false);
    assert.equal(await reaches(unknown, known, timeoutMs), false);
    assert.equal(await reaches(unknown, undefined, timeoutMs), false, 'also to the node');
    assert(await reaches(machine, unknown, patientMs), 'probes of the kubelet pass');

    table.setPod('a/new', { ...pod, name: 'new', addresses: unknown.addresses });
    await write(machine, table);
    assert(await reaches(known, unknown, patientMs));
    assert(await reaches(unknown, known, patientMs));
  } finally {
    await lab.close();
  }
});

withPlugins('policies see the backend of a Service, and a Pod reaches itself through its Service', async () => {
  const lab = await createLab(1);
  try {
    const machine = await lab.addMachine({ name: 'm1', link: 1, host: 1 });
    await machine.applyRoutes([machine], 'auto');
    const [web, db] = [await machine.addPod(), await machine.addPod()];
    const [webAddress = ''] = web.addresses;
    const clusterIP = '10.96.0.10';
    // A Service as kube-proxy writes it: DNAT to the backend, and masquerading of a Pod that is its own backend.
    await machine.run('nft', ['-f', '-'], {
      input: `table ip service {
        chain prerouting {
          type nat hook prerouting priority dstnat;
          ip daddr ${clusterIP} tcp dport 8080 dnat to ${webAddress}:80
        }
        chain postrouting {
          type nat hook postrouting priority srcnat;
          ip saddr ${webAddress} ip daddr ${webAddress} masquerade
        }
      }
      `,
    });
    const table = newTable('m1', [machine]);
    const place = { namespace: 'a', nodeName: 'm1', isTerminating: false, createdAt: '', ports: [] };
    table.setPod('a/web', { ...place, name: 'web', labels: { name: 'web' }, addresses: web.addresses });
    table.setPod('a/db', { ...place, name: 'db', labels: { name: 'db' }, addresses: db.addresses });
    const setPolicy = (spec: NetworkPolicySpec) =>
      table.setPolicy(
        'a/policy',
        compilePolicy({
          apiVersion: 'networking.k8s.io/v1',
          kind: 'NetworkPolicy',
          metadata: { namespace: 'a', name: 'policy' },
          spec,
        }),
      );
    const reaches = async (from: TestPod, waitMs: number) => {
      const [seen] = await from.probe([{ address: clusterIP, protocol: 'TCP', port: 8080, timeoutMs: waitMs }]);
      return (seen ?? null) !== null;
    };

    const toWeb = { podSelector: { matchLabels: { name: 'web' } } };
    setPolicy({ podSelector: {}, policyTypes: ['Egress'], egress: [{ to: [toWeb], ports: [{ port: 80 }] }] });
    await write(machine, table);
    assert(await reaches(db, patientMs), 'the port and the Pod behind the Service are allowed');

    setPolicy({ podSelector: {}, policyTypes: ['Egress'], egress: [{ to: [toWeb], ports: [{ port: 8080 }] }] });
    await write(machine, table);
    assert.equal(await reaches(db, timeoutMs), false, 'the port of the Service does not count');

    setPolicy({
      podSelector: {},
      policyTypes: ['Egress'],
      egress: [{ to: [{ ipBlock: { cidr: `${clusterIP}/32` } }] }],
    });
    await write(machine, table);
    assert.equal(await reaches(db, timeoutMs), false, 'nor does its address');

    setPolicy({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
    await write(machine, table);
    assert.equal(await reaches(db, timeoutMs), false);
    assert(await reaches(web, patientMs), 'a Pod reaches itself');
  } finally {
    await lab.close();
  }
});
