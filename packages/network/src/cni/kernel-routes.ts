/**
 * Brings routes, the VXLAN device and its neighbours to a plan, with `ip` and `bridge` of iproute2. The kernel is read
 * first and only differences are written. Routes carry a protocol number of ours; no other route is changed.
 */
import {
  formatAddress,
  formatPrefix,
  type Prefix,
  parseLegacyAddress,
  parseLegacyPrefix,
} from '@kruise/values/address';
import { CommandError, type CommandRunner } from '../host/run-command.ts';
import { type Link, type RoutePlan, vxlanDevice } from './route-plan.ts';

/** Protocol number of our routes (`ip route show proto 76`). */
const routeProtocol = '76';

export type VxlanOptions = { readonly id: number; readonly port: number };
export const defaultVxlan: VxlanOptions = { id: 4096, port: 4789 };

/** Returns the network interfaces with their addresses. */
export async function readLinks(run: CommandRunner): Promise<readonly Link[]> {
  const listed = JSON.parse(await run('ip', ['-j', 'address', 'show', 'up'])) as readonly ListedLink[];
  return listed
    .filter(({ ifname }) => ifname !== undefined && ifname !== 'lo' && ifname !== vxlanDevice)
    .map(({ ifname = '', mtu = 0, addr_info = [] }) => ({
      name: ifname,
      mtu,
      addresses: addr_info.flatMap(({ local = '', prefixlen = 0, scope }): Prefix[] => {
        const address = scope === 'global' ? parseLegacyAddress(local) : undefined;
        return address ? [{ address, length: prefixlen }] : [];
      }),
    }));
}

type ListedLink = {
  readonly ifname?: string;
  readonly mtu?: number;
  readonly addr_info?: readonly { readonly local?: string; readonly prefixlen?: number; readonly scope?: string }[];
};

/** Writes the differences between the kernel and the plan. Returns the number of commands. */
export async function applyRoutes(run: CommandRunner, plan: RoutePlan, options: VxlanOptions): Promise<number> {
  const device = await applyDevice(run, plan, options);
  const tunnels = plan.vxlan ? await tunnelCommands(run, plan) : { ip: [], bridge: [] };
  const routes = [...(await routeCommands(run, plan, 4)), ...(await routeCommands(run, plan, 6))];
  // Neighbours before routes: a route without its neighbour would lose packets.
  await batch(run, 'bridge', tunnels.bridge);
  await batch(run, 'ip', [...tunnels.ip, ...routes]);
  return device + tunnels.bridge.length + tunnels.ip.length + routes.length;
}

/** Removes all routes of ours and the VXLAN device. */
export async function removeRoutes(run: CommandRunner): Promise<void> {
  await run('ip', ['-4', 'route', 'flush', 'proto', routeProtocol]);
  await run('ip', ['-6', 'route', 'flush', 'proto', routeProtocol]);
  if (await readVxlan(run)) await run('ip', ['link', 'delete', vxlanDevice]);
}

/** Runs commands in one process. One that fails does not keep the others from being run. */
async function batch(run: CommandRunner, program: 'ip' | 'bridge', commands: readonly string[]): Promise<void> {
  if (commands.length > 0) await run(program, ['-force', '-batch', '-'], { input: `${commands.join('\n')}\n` });
}

async function routeCommands(run: CommandRunner, plan: RoutePlan, family: 4 | 6): Promise<readonly string[]> {
  const ofFamily = (text: string) => text.includes(':') === (family === 6);
  const show = ['route', 'show', 'table', 'main', 'proto', routeProtocol];
  const output = await run('ip', ['-j', `-${family}`, ...show]);
  const present = new Map<string, ListedRoute>();
  for (const route of JSON.parse(output === '' ? '[]' : output) as readonly ListedRoute[]) {
    present.set(canonicalDestination(route.dst ?? '', family), route);
  }
  const commands: string[] = [];
  const write = (destination: string, details: string) => {
    // Only `replace` what is ours: where another program has a route, `add` fails and the failure is reported.
    const verb = present.has(destination) ? 'replace' : 'add';
    commands.push(`route ${verb} ${details} proto ${routeProtocol}`);
  };
  const wanted = new Set<string>();
  for (const { destination, gateway, device } of plan.routes.filter((each) => ofFamily(each.destination))) {
    wanted.add(destination);
    const current = present.get(destination);
    if (current?.dev === device && canonical(current.gateway ?? '') === gateway) continue;
    const onLink = device === vxlanDevice ? ' onlink' : '';
    write(destination, `${destination} via ${gateway} dev ${device}${onLink}`);
  }
  for (const destination of plan.unreachable.filter(ofFamily)) {
    wanted.add(destination);
    if (present.get(destination)?.type !== 'unreachable') write(destination, `unreachable ${destination}`);
  }
  for (const [destination, { type, gateway, dev }] of present) {
    if (wanted.has(destination)) continue;
    const kind = type === 'unreachable' ? 'unreachable ' : '';
    const through = kind === '' ? `${gateway ? ` via ${gateway}` : ''}${dev ? ` dev ${dev}` : ''}` : '';
    commands.push(`route del ${kind}${destination}${through} proto ${routeProtocol}`);
  }
  return commands;
}

type ListedRoute = Partial<Record<'dst' | 'type' | 'gateway' | 'dev', string>>;

/** The listing omits the length of a single address. */
function canonicalDestination(text: string, family: 4 | 6): string {
  if (text === 'default') return text;
  return formatPrefix(parseLegacyPrefix(text.includes('/') ? text : `${text}/${family === 4 ? 32 : 128}`));
}

function canonical(text: string): string {
  const address = parseLegacyAddress(text);
  return address ? formatAddress(address) : text;
}

/** Creates, recreates or removes the VXLAN device. Returns the number of commands. */
async function applyDevice(run: CommandRunner, { vxlan }: RoutePlan, { id, port }: VxlanOptions): Promise<number> {
  const current = await readVxlan(run);
  if (!vxlan) {
    if (current) await run('ip', ['link', 'delete', vxlanDevice]);
    return current ? 1 : 0;
  }
  const data = current?.linkinfo?.info_data;
  const isRight =
    current?.address === vxlan.mac &&
    data?.id === id &&
    data.port === port &&
    canonical(data.local ?? data.local6 ?? '') === vxlan.local;
  const commands: string[] = [];
  if (current && !isRight) commands.push(`link delete ${vxlanDevice}`);
  if (!isRight) {
    const tunnel = `type vxlan id ${id} local ${vxlan.local} dstport ${port} nolearning`;
    commands.push(`link add ${vxlanDevice} address ${vxlan.mac} ${tunnel}`);
    commands.push(`link set ${vxlanDevice} addrgenmode none`);
  }
  if (!isRight || current?.mtu !== vxlan.mtu) commands.push(`link set ${vxlanDevice} mtu ${vxlan.mtu}`);
  if (!isRight || !current?.flags?.includes('UP')) commands.push(`link set ${vxlanDevice} up`);
  const kept = isRight ? await readDeviceAddresses(run) : [];
  for (const address of vxlan.addresses) {
    if (kept.includes(address)) continue;
    const length = address.includes(':') ? '128 nodad' : '32';
    commands.push(`address add ${address}/${length} dev ${vxlanDevice}`);
  }
  await batch(run, 'ip', commands);
  return commands.length;
}

type ListedVxlan = {
  readonly address?: string;
  readonly mtu?: number;
  readonly flags?: readonly string[];
  readonly linkinfo?: {
    readonly info_data?: {
      readonly id?: number;
      readonly port?: number;
      readonly local?: string;
      readonly local6?: string;
    };
  };
};

async function readVxlan(run: CommandRunner): Promise<ListedVxlan | undefined> {
  try {
    const listed = JSON.parse(await run('ip', ['-d', '-j', 'link', 'show', 'dev', vxlanDevice]));
    return (listed as readonly ListedVxlan[])[0];
  } catch (error) {
    if (error instanceof CommandError && error.message.includes('does not exist')) return undefined;
    throw error;
  }
}

async function readDeviceAddresses(run: CommandRunner): Promise<readonly string[]> {
  const listed = JSON.parse(await run('ip', ['-j', 'address', 'show', 'dev', vxlanDevice])) as readonly ListedLink[];
  return listed.flatMap(({ addr_info = [] }) => addr_info.map(({ local = '' }) => canonical(local)));
}

/** Returns the commands for the neighbours and the forwarding database of the VXLAN device. */
async function tunnelCommands(run: CommandRunner, { vxlan }: RoutePlan) {
  const tunnels = vxlan?.tunnels ?? [];
  const neighbours = new Map(tunnels.flatMap(({ mac, gateways }) => gateways.map((gateway) => [gateway, mac])));
  const remotes = new Map(tunnels.map(({ mac, node }) => [mac, node]));
  const listedNeighbours = [
    ...(JSON.parse((await run('ip', ['-j', '-4', 'neigh', 'show', 'dev', vxlanDevice])) || '[]') as ListedNeighbour[]),
    ...(JSON.parse((await run('ip', ['-j', '-6', 'neigh', 'show', 'dev', vxlanDevice])) || '[]') as ListedNeighbour[]),
  ];
  const listedRemotes = JSON.parse((await run('bridge', ['-j', 'fdb', 'show', 'dev', vxlanDevice])) || '[]');
  const ip = diff(
    neighbours,
    new Map(
      listedNeighbours
        .filter(({ state }) => state?.includes('PERMANENT'))
        .map(({ dst = '', lladdr = '' }) => [canonical(dst), lladdr]),
    ),
    (gateway, mac) => `neigh replace ${gateway} lladdr ${mac} dev ${vxlanDevice} nud permanent`,
    (gateway) => `neigh del ${gateway} dev ${vxlanDevice}`,
  );
  const bridge = diff(
    remotes,
    new Map((listedRemotes as readonly ListedRemote[]).map(({ mac = '', dst = '' }) => [mac, canonical(dst)])),
    (mac, node) => `fdb replace ${mac} dev ${vxlanDevice} dst ${node} self permanent`,
    (mac) => `fdb del ${mac} dev ${vxlanDevice} self`,
  );
  return { ip, bridge };
}

type ListedNeighbour = { readonly dst?: string; readonly lladdr?: string; readonly state?: readonly string[] };
type ListedRemote = { readonly mac?: string; readonly dst?: string };

function diff(
  wanted: ReadonlyMap<string, string>,
  present: ReadonlyMap<string, string>,
  put: (key: string, value: string) => string,
  remove: (key: string) => string,
): readonly string[] {
  return [
    ...[...wanted].flatMap(([key, value]) => (present.get(key) === value ? [] : [put(key, value)])),
    ...[...present.keys()].flatMap((key) => (wanted.has(key) ? [] : [remove(key)])),
  ];
}
