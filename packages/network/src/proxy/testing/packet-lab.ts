/**
 * Network namespaces for tests that send packets: a node with two Pods, and an outside network with a client and two
 * Pods of another node. Everything is IPv4 and IPv6.
 *
 * ```
 * pod-1 10.244.1.2 ──┐
 * pod-2 10.244.1.3 ──┴─ node 172.20.0.2 ─── outside 172.20.0.9, with the Pods 10.244.2.2 and 10.244.2.3
 * ```
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type CommandRunner, systemCommands } from '../../host/run-command.ts';
import type { IPFamily, Protocol } from '../../service/service-port.ts';

export type Outcome =
  | { readonly result: 'reached'; readonly server: string; readonly client: string }
  | { readonly result: 'refused' | 'dropped' }
  | { readonly result: 'failed'; readonly code: string };

export type AgentRequest =
  | {
      readonly id: number;
      readonly type: 'listen';
      readonly servers: readonly { readonly address: string; readonly port: number }[];
    }
  | {
      readonly id: number;
      readonly type: 'send';
      readonly protocol: Protocol;
      readonly address: string;
      readonly port: number;
    };

export type Place = 'node' | 'pod1' | 'pod2' | 'outside';

export type PacketLab = {
  /** Runs commands in the namespace of the node. */
  readonly run: CommandRunner;
  /** Name of the namespace of the node, for `ip netns exec`. */
  readonly nodeNamespace: string;
  send(from: Place, protocol: Protocol, address: string, port: number): Promise<Outcome>;
  close(): void;
};

/** Addresses of the places, and interfaces on which the packets of Pods arrive at the node. */
export const addresses = {
  IPv4: {
    node: '172.20.0.2',
    gateway: '10.244.1.1',
    pod1: '10.244.1.2',
    pod2: '10.244.1.3',
    outside: '172.20.0.9',
    remotes: ['10.244.2.2', '10.244.2.3'],
    podRange: '10.244.0.0/16',
    services: ['10.96.0.0/16', '203.0.113.0/24', '198.51.100.0/24'],
  },
  IPv6: {
    node: 'fd20::2',
    gateway: 'fd44:1::1',
    pod1: 'fd44:1::2',
    pod2: 'fd44:1::3',
    outside: 'fd20::9',
    remotes: ['fd44:2::2', 'fd44:2::3'],
    podRange: 'fd44::/16',
    services: ['fd96::/64', 'fd03::/64', 'fd51::/64'],
  },
} as const;

export const serverPorts = [8080, 8081] as const;

/** The node forwards packets, and rejects each of many packets at once. */
const nodeSettings = [
  ['ipv4/ip_forward', 1],
  ['ipv6/conf/all/forwarding', 1],
  ['ipv4/icmp_ratemask', 0],
  ['ipv6/icmp/ratelimit', 0],
  ['ipv6/icmp/ratemask', '""'],
] as const;

/** Returns why no namespaces can be created; undefined if they can. */
export function labObstacle(): string | undefined {
  if (process.platform !== 'linux') return 'network namespaces need Linux';
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  try {
    execFileSync('ip', ['netns', 'list'], { stdio: 'pipe' });
    return undefined;
  } catch (error) {
    return `network namespaces need the program ip: ${(error as Error).message}`;
  }
}

/** Creates the namespaces and starts the servers. */
export async function startPacketLab(): Promise<PacketLab> {
  const prefix = `kpl${process.pid.toString(36)}`;
  const namespaceOf = (place: Place) => `${prefix}-${place}`;
  const places: readonly Place[] = ['node', 'pod1', 'pod2', 'outside'];
  const agents = new Map<Place, ReturnType<typeof startAgent>>();
  const close = () => {
    for (const agent of agents.values()) agent.close();
    for (const place of places) execFileSync('ip', ['netns', 'delete', namespaceOf(place)], { stdio: 'ignore' });
  };
  for (const place of places) execFileSync('ip', ['netns', 'add', namespaceOf(place)]);
  try {
    for (const place of places) {
      execFileSync('ip', ['-n', namespaceOf(place), '-batch', '-'], {
        input: commandsOf(place, namespaceOf).join('\n'),
      });
    }
    for (const [setting, value] of nodeSettings) {
      execFileSync('ip', [
        'netns',
        'exec',
        namespaceOf('node'),
        'sh',
        '-c',
        `echo ${value} > /proc/sys/net/${setting}`,
      ]);
    }
    for (const place of places) agents.set(place, startAgent(namespaceOf(place)));
    await Promise.all(
      places.map((place) => {
        const own = [addresses.IPv4, addresses.IPv6].flatMap((all) => (place === 'outside' ? all.remotes : all[place]));
        const servers = own.flatMap((address) => serverPorts.map((port) => ({ address, port })));
        return agents.get(place)?.ask({ type: 'listen', servers });
      }),
    );
  } catch (error) {
    close();
    throw error;
  }
  return {
    run: systemCommands(['ip', 'netns', 'exec', namespaceOf('node')]),
    nodeNamespace: namespaceOf('node'),
    send(from, protocol, address, port) {
      const agent = agents.get(from);
      if (!agent) throw new Error(`no agent at ${from}`);
      return agent.ask({ type: 'send', protocol, address, port });
    },
    close,
  };
}

function commandsOf(place: Place, namespaceOf: (place: Place) => string): readonly string[] {
  const { IPv4, IPv6 } = addresses;
  const both = <T>(make: (all: typeof IPv4 | typeof IPv6, bits: 32 | 128) => T) => [make(IPv4, 32), make(IPv6, 128)];
  switch (place) {
    case 'node':
      return [
        'link set lo up',
        ...(['pod1', 'pod2'] as const).flatMap((pod) => [
          `link add ${pod} type veth peer name eth0 netns ${namespaceOf(pod)}`,
          `link set ${pod} up`,
          ...both((all, bits) => `addr add ${all.gateway}/${bits} dev ${pod}${bits === 128 ? ' nodad' : ''}`),
          ...both((all, bits) => `route add ${all[pod]}/${bits} dev ${pod} src ${all.gateway}`),
        ]),
        `link add eth0 type veth peer name eth0 netns ${namespaceOf('outside')}`,
        'link set eth0 up',
        `addr add ${IPv4.node}/24 dev eth0`,
        `addr add ${IPv6.node}/64 dev eth0 nodad`,
        ...both((all) => `route add default via ${all.outside}`),
      ];
    case 'outside':
      return [
        'link set lo up',
        'link set eth0 up',
        `addr add ${IPv4.outside}/24 dev eth0`,
        `addr add ${IPv6.outside}/64 dev eth0 nodad`,
        ...both((all, bits) => all.remotes.map((each) => `addr add ${each}/${bits} dev lo`)).flat(),
        ...both((all, bits) => [
          ...[all.gateway, all.pod1, all.pod2].map((own) => `route add ${own}/${bits} via ${all.node}`),
          ...all.services.map((range) => `route add ${range} via ${all.node}`),
        ]).flat(),
      ];
    default:
      return [
        'link set lo up',
        'link set eth0 up',
        ...both((all, bits) => [
          `addr add ${all[place]}/${bits} dev eth0${bits === 128 ? ' nodad' : ''}`,
          `route add ${all.gateway}/${bits} dev eth0`,
          `route add default via ${all.gateway}`,
        ]).flat(),
      ];
  }
}

type NewRequest = AgentRequest extends infer R ? (R extends AgentRequest ? Omit<R, 'id'> : never) : never;

function startAgent(namespace: string) {
  const program = fileURLToPath(new URL('packet-agent.ts', import.meta.url));
  const child: ChildProcess = spawn('ip', ['netns', 'exec', namespace, process.execPath, program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const pending = new Map<number, PromiseWithResolvers<Outcome>>();
  let ids = 0;
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const { id, outcome } = JSON.parse(line) as { readonly id: number; readonly outcome: Outcome };
    pending.get(id)?.resolve(outcome);
    pending.delete(id);
  });
  const end = new Error(`the agent in ${namespace} has ended`);
  let hasEnded = false;
  child.on('exit', () => {
    hasEnded = true;
    for (const each of pending.values()) each.reject(end);
  });
  child.stdin!.on('error', () => {});
  return {
    ask(request: NewRequest): Promise<Outcome> {
      if (hasEnded) return Promise.reject(end);
      const id = ids++;
      const answer = Promise.withResolvers<Outcome>();
      pending.set(id, answer);
      child.stdin!.write(`${JSON.stringify({ ...request, id })}\n`);
      return answer.promise;
    },
    close: () => void child.stdin!.end(),
  };
}

/** Family of the addresses of a lab. */
export const labFamilies: readonly IPFamily[] = ['IPv4', 'IPv6'];
