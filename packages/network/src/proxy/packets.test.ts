/**
 * Sends packets through the rules of nftables and iptables, and compares where they arrive with the pure decision. The
 * Services are random; each round changes some of them, so that partial syncs are tested as well.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Service } from '@kruise/api/core/service';
import type { EndpointSlice } from '@kruise/api/discovery/endpointslice';
import { after as wait } from '@kruise/values/clock';
import { pick, type Random, randomInteger, seededRandom } from '@kruise/values/random';
import { systemClock } from '@kruise/values/system';
import type { CommandRunner } from '../host/run-command.ts';
import type { IptablesOptions } from '../service/iptables.ts';
import type { NftOptions } from '../service/nftables.ts';
import {
  createServiceTable,
  type Packet,
  type PacketContext,
  type PacketRoute,
  routePacket,
} from '../service/packet-route.ts';
import { hostPort, type IPFamily, type Protocol, servicePortsOf } from '../service/service-port.ts';
import { cleanUpIptables, createIptablesProxier } from './iptables-proxier.ts';
import { hasIptables, hasNftables } from './mode.ts';
import { cleanUpNftables, createNftablesProxier } from './nftables-proxier.ts';
import type { Proxier } from './proxier.ts';
import {
  addresses,
  labFamilies,
  labObstacle,
  type Outcome,
  type PacketLab,
  type Place,
  serverPorts,
  startPacketLab,
} from './testing/packet-lab.ts';

const obstacle = labObstacle();
const isRequired = process.env.CI === 'true';
const skip = obstacle !== undefined && !isRequired ? obstacle : false;
const serviceCount = 14;
const rounds = 3;
const node = { name: 'node-1', zone: 'zone-a' };
const nodePortBase = 30_000;

let lab: PacketLab;
before(async () => {
  if (!skip) lab = await startPacketLab();
});
after(() => lab?.close());

type World = { readonly service: Service; readonly slices: readonly EndpointSlice[] };

/** Returns a random Service with its endpoints; the index gives it addresses and node ports of its own. */
function randomWorld(random: Random, index: number, family: IPFamily): World {
  const own = addresses[family];
  const chance = (share: number) => random.next() < share;
  const at = (range: string) =>
    range.replace(/(0\/24|0\.0\/16|\/64)$/, (end) =>
      end === '0/24' ? `${index + 1}` : end === '/64' ? `${index + 1}` : `1.${index + 1}`,
    );
  const [clusterRange = '', externalRange = '', balancerRange = ''] = own.services;
  const type = pick(random, ['ClusterIP', 'NodePort', 'LoadBalancer'] as const);
  const hasNodePort = type === 'NodePort' || (type === 'LoadBalancer' && chance(0.8));
  const isExternal = type !== 'ClusterIP';
  const protocols: readonly Protocol[] = chance(0.5) ? ['TCP', 'UDP'] : [pick(random, ['TCP', 'UDP'] as const)];
  const ports = protocols.map((protocol, offset) => ({
    name: protocol.toLowerCase(),
    protocol,
    port: 80 + index,
    ...(hasNodePort ? { nodePort: nodePortBase + 2 * index + offset } : {}),
  }));
  const clusterIP = at(clusterRange);
  const name = `svc-${index}`;
  const service: Service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'test' },
    spec: {
      type,
      clusterIP,
      clusterIPs: [clusterIP],
      ports,
      ...(chance(0.3) ? { externalIPs: [at(externalRange)] } : {}),
      ...(isExternal && chance(0.5) ? { externalTrafficPolicy: 'Local' } : {}),
      ...(chance(0.3) ? { internalTrafficPolicy: 'Local' } : {}),
      ...(chance(0.25) ? { sessionAffinity: 'ClientIP' } : {}),
      ...(type === 'LoadBalancer' && chance(0.5)
        ? { loadBalancerSourceRanges: [pick(random, [`${own.outside}/${family === 'IPv4' ? 32 : 128}`, own.podRange])] }
        : {}),
    },
    ...(type === 'LoadBalancer' ? { status: { loadBalancer: { ingress: [{ ip: at(balancerRange) }] } } } : {}),
  };
  const candidates = [own.pod1, own.pod2, ...own.remotes, own.node];
  const hints = chance(0.3);
  const endpoints = candidates
    .filter(() => chance(0.5))
    .map((address) => {
      const isLocal = address === own.pod1 || address === own.pod2 || address === own.node;
      const isTerminating = chance(0.2);
      return {
        addresses: [address],
        conditions: { ready: !isTerminating && chance(0.9), serving: chance(0.8), terminating: isTerminating },
        nodeName: isLocal ? node.name : 'node-2',
        ...(hints ? { hints: { forZones: [{ name: pick(random, ['zone-a', 'zone-b']) }] } } : {}),
      };
    });
  const slice: EndpointSlice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${name}-1`, namespace: 'test', labels: { 'kubernetes.io/service-name': name } },
    addressType: family,
    endpoints,
    ports: ports.map((port) => ({ name: port.name, protocol: port.protocol, port: pick(random, serverPorts) })),
  };
  return { service, slices: chance(0.1) ? [] : [slice] };
}

const places: readonly Place[] = ['node', 'pod1', 'pod2', 'outside'];

function packetOf(from: Place, family: IPFamily, destination: string, port: number, protocol: Protocol): Packet {
  const own = addresses[family];
  // A packet to an address of the node itself has this address as its source.
  const isOwn = from === 'node' && (destination === own.node || destination === own.gateway);
  const inputInterface = from === 'node' ? {} : { inputInterface: from === 'outside' ? 'eth0' : from };
  return { source: isOwn ? destination : own[from], destination, port, protocol, ...inputInterface };
}

/** Returns what is wrong with the outcome of a packet. */
function fault(route: PacketRoute, outcome: Outcome, packet: Packet, nodeAddresses: ReadonlySet<string>) {
  switch (route.verdict) {
    case 'pass':
      return outcome.result === 'reached' ? 'reached an endpoint without a Service' : undefined;
    case 'reject':
      return outcome.result === 'refused' || isBlocked(outcome) ? undefined : 'not refused';
    case 'drop':
      return outcome.result === 'dropped' || isBlocked(outcome) ? undefined : 'not dropped';
    case 'forward': {
      if (outcome.result !== 'reached') return 'reached no endpoint';
      const target = route.targets.find(({ address, port }) => hostPort(address, port) === outcome.server);
      if (!target) return 'reached a wrong endpoint';
      const isMasqueraded = outcome.client !== packet.source;
      if (isMasqueraded && !nodeAddresses.has(outcome.client)) return 'source is no address of the node';
      // The node's own packets have an address of the node as their source, masqueraded or not.
      if (nodeAddresses.has(packet.source)) return undefined;
      return isMasqueraded === target.isMasqueraded ? undefined : 'source address differs';
    }
  }
}

/** The node's own datagrams fail in the same way whether they are rejected or dropped. */
function isBlocked(outcome: Outcome): boolean {
  return outcome.result === 'failed' && outcome.code === 'EPERM';
}

type Renderer = {
  readonly name: string;
  readonly rejectsUnknownPorts: boolean;
  works(run: CommandRunner, family: IPFamily): Promise<boolean>;
  create(run: CommandRunner, options: NftOptions & IptablesOptions): Proxier;
  cleanUp(run: CommandRunner, options: IptablesOptions): Promise<void>;
};

const iptablesRenderer = (variant: string): Renderer => ({
  name: variant,
  rejectsUnknownPorts: false,
  works: (run, family) => hasIptables(run, family, variant),
  create: (run, options) => createIptablesProxier(run, options, { variant }),
  cleanUp: (run, { family }) => cleanUpIptables(run, family, variant),
});

const renderers: readonly Renderer[] = [
  {
    name: 'nftables',
    rejectsUnknownPorts: true,
    works: hasNftables,
    create: (run, options) => createNftablesProxier(run, systemClock, options),
    cleanUp: cleanUpNftables,
  },
  iptablesRenderer('iptables-nft'),
  iptablesRenderer('iptables-legacy'),
];

const seed = process.env.PACKETS_SEED ?? 'packets';

for (const family of labFamilies) {
  for (const renderer of renderers) {
    test(`${renderer.name} sends ${family} packets where the decision says`, {
      skip,
      timeout: 120_000,
    }, async (context) => {
      if (!(await renderer.works(lab.run, family))) {
        assert.ok(renderer.name === 'iptables-legacy' || !isRequired, `${renderer.name} works for ${family}`);
        context.skip(`${renderer.name} does not work here`);
        return;
      }
      const random = seededRandom(`${seed} ${family}`);
      const own = addresses[family];
      const nodeAddresses = new Set<string>([own.node, own.gateway]);
      const options = {
        family,
        localTraffic: pick(random, [
          { by: 'cidr', range: own.podRange },
          { by: 'interface-prefix', prefix: 'pod' },
        ] as const),
        masqueradeAll: random.next() < 0.3,
        masqueradeBit: 14,
        nodePortAddresses: pick(random, ['all', [own.node]] as const),
        nodeAddresses: [own.node],
        serviceRanges: [],
        localhostNodePorts: false,
        dropInvalid: true,
      };
      const packetContext: PacketContext = {
        nodeAddresses,
        nodePortAddresses: options.nodePortAddresses === 'all' ? nodeAddresses : new Set(options.nodePortAddresses),
        localTraffic: options.localTraffic,
        masqueradeAll: options.masqueradeAll,
        rejectUnknownPorts: renderer.rejectsUnknownPorts,
      };
      const proxier = renderer.create(lab.run, options);
      const table = createServiceTable();
      try {
        for (let round = 0; round < rounds; round++) {
          for (let index = 0; index < serviceCount; index++) {
            if (round > 0 && random.next() < 0.6) continue;
            const { service, slices } = randomWorld(random, index, family);
            const isDeleted = round > 0 && random.next() < 0.15;
            const ports = isDeleted ? [] : servicePortsOf(service, slices, node, family);
            table.replace(`test/svc-${index}`, ports);
            proxier.update(`test/svc-${index}`, ports);
          }
          const { isFull } = await proxier.sync();
          assert.equal(isFull, round === 0);
          await checkPackets(random, family, table, packetContext, nodeAddresses);
        }
        const { requeueAfterMs } = await proxier.sync();
        if (requeueAfterMs !== undefined) {
          await wait(systemClock, requeueAfterMs);
          await proxier.sync();
        }
        // A restart finds the rules as they are to be.
        const restarted = renderer.create(lab.run, options);
        for (let index = 0; index < serviceCount; index++) {
          restarted.update(`test/svc-${index}`, table.get(`test/svc-${index}`));
        }
        assert.deepEqual(await restarted.sync(), { isFull: true, hasChanges: false });
        assert.ok(await restarted.isIntact());
      } finally {
        await renderer.cleanUp(lab.run, options);
      }
      assert.equal(await proxier.isIntact(), false, 'no rules are left');
    });
  }
}

async function checkPackets(
  random: Random,
  family: IPFamily,
  table: ReturnType<typeof createServiceTable>,
  context: PacketContext,
  nodeAddresses: ReadonlySet<string>,
): Promise<void> {
  // A flow that an earlier round has begun keeps its endpoint.
  await lab.run('conntrack', ['-F']);
  const packets: { readonly from: Place; readonly packet: Packet }[] = [];
  for (let index = 0; index < serviceCount; index++) {
    const [first] = table.get(`test/svc-${index}`);
    if (!first) continue;
    const { clusterIP, externalIPs, loadBalancerIPs } = first;
    for (const from of places) {
      for (const protocol of ['TCP', 'UDP'] as const) {
        for (const address of [clusterIP, ...externalIPs, ...loadBalancerIPs]) {
          packets.push({ from, packet: packetOf(from, family, address, first.port, protocol) });
        }
        for (const offset of [0, 1]) {
          const port = nodePortBase + 2 * index + offset;
          for (const address of [addresses[family].node, addresses[family].gateway]) {
            packets.push({ from, packet: packetOf(from, family, address, port, protocol) });
          }
        }
      }
    }
    const unknown = 1000 + randomInteger(random, 1000);
    packets.push({ from: 'pod1', packet: packetOf('pod1', family, clusterIP, unknown, 'TCP') });
  }
  const sticky: { readonly from: Place; readonly packet: Packet }[] = [];
  const verdicts = new Set<string>();
  const faults = await Promise.all(
    packets.map(async ({ from, packet }) => {
      const { protocol, destination, port } = packet;
      const route = routePacket(table, packet, context);
      verdicts.add(route.verdict);
      const outcome = await lab.send(from, protocol, destination, port);
      const text = `${from} → ${protocol} ${hostPort(destination, port)}`;
      const found = fault(route, outcome, packet, nodeAddresses);
      if (found) return [`${text}: ${found}: ${JSON.stringify(outcome)}, expected ${JSON.stringify(route)}`];
      if (route.verdict === 'forward' && route.affinity) sticky.push({ from, packet });
      return [];
    }),
  );
  // Connections at the same time may choose different endpoints; those after them keep to one.
  const lost: string[] = [];
  for (const { from, packet } of sticky) {
    const { protocol, destination, port } = packet;
    const servers = new Set<string>();
    for (let count = 0; count < 3; count++) {
      servers.add(JSON.stringify(await lab.send(from, protocol, destination, port)));
    }
    if (servers.size !== 1) lost.push(`${from} → ${protocol} ${hostPort(destination, port)}: ${[...servers]}`);
  }
  assert.deepEqual(lost, [], 'session affinity is lost');
  assert.deepEqual(faults.flat(), []);
  assert.ok(verdicts.has('forward') && verdicts.size >= 3, `packets have all kinds of verdicts: ${[...verdicts]}`);
}
