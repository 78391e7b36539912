/**
 * Routes from one node to the Pods of all others, as a pure function. A node on a common link is the next hop itself;
 * any other node is reached through VXLAN. Everything about the VXLAN endpoint of a node follows from its Node object
 * (the MAC address from its name, the endpoint address from its Pod CIDR), so that nodes need not exchange anything.
 */
import { createHash } from 'node:crypto';
import type { Node } from '@kruise/api/core/node';
import {
  type Address,
  contains,
  formatAddress,
  formatPrefix,
  maskPrefix,
  type Prefix,
  parseLegacyAddress,
  parseLegacyPrefix,
  unmap,
} from '@kruise/values/address';
import { ParseError } from '@kruise/values/parse-error';
import { removeNested } from '../policy/compiled-policy.ts';

/** Kind of the routes to Pods of other nodes: `auto` uses VXLAN for nodes that are not on a common link. */
export type RouteMode = 'auto' | 'direct' | 'vxlan' | 'none';
export const routeModes: readonly RouteMode[] = ['auto', 'direct', 'vxlan', 'none'];

/** A node, as far as routes depend on it. */
export type RoutedNode = {
  readonly name: string;
  readonly addresses: readonly Address[];
  readonly podCidrs: readonly Prefix[];
};

/** A network interface of this machine. */
export type Link = {
  readonly name: string;
  readonly mtu: number;
  readonly addresses: readonly Prefix[];
};

export type Route = { readonly destination: string; readonly gateway: string; readonly device: string };

/** VXLAN endpoint of another node. */
export type Tunnel = { readonly mac: string; readonly node: string; readonly gateways: readonly string[] };

export type RoutePlan = {
  readonly routes: readonly Route[];
  /** CIDR blocks of the own Pods: addresses without a Pod are unreachable and must not follow the default route. */
  readonly unreachable: readonly string[];
  /** The VXLAN device; undefined if no node is reached through it. */
  readonly vxlan?: {
    readonly mac: string;
    readonly local: string;
    readonly mtu: number;
    readonly addresses: readonly string[];
    readonly tunnels: readonly Tunnel[];
  };
  /** MTU of the Pods. */
  readonly mtu: number;
  readonly podCidrs: readonly string[];
  /** Destinations that see the address of a Pod, by family. */
  readonly withoutMasquerade: Readonly<Record<4 | 6, readonly string[]>>;
  /** Nodes whose Pods cannot be reached, with the reason. */
  readonly unreached: readonly { readonly node: string; readonly reason: string }[];
};

export const vxlanDevice = 'kruise-vxlan';
const defaultMtu = 1500;
/** Headers of VXLAN: outer Ethernet (14), UDP (8), VXLAN (8), and IPv4 (20) or IPv6 (40). */
const vxlanOverhead = { 4: 50, 6: 70 } as const;

/** Returns the facts of a node. */
export function routedNode({ metadata, spec, status }: Node): RoutedNode {
  const internal = (status?.addresses ?? []).filter(({ type }) => type === 'InternalIP');
  const ranges = spec?.podCIDRs ?? (spec?.podCIDR ? [spec.podCIDR] : []);
  return {
    name: metadata.name ?? '',
    addresses: internal.flatMap(({ address }) => {
      const parsed = parseLegacyAddress(address);
      return parsed ? [unmap(parsed)] : [];
    }),
    podCidrs: parsePrefixes(ranges),
  };
}

/** Parses CIDR blocks; others are left out. */
export function parsePrefixes(texts: readonly string[]): readonly Prefix[] {
  return texts.flatMap((text) => {
    try {
      return [maskPrefix(parseLegacyPrefix(text))];
    } catch (error) {
      if (error instanceof ParseError) return [];
      throw error;
    }
  });
}

/** Plans the routes of a node. */
export function planRoutes(
  self: RoutedNode,
  others: readonly RoutedNode[],
  links: readonly Link[],
  mode: RouteMode,
): RoutePlan {
  const routes: Route[] = [];
  const tunnels: Tunnel[] = [];
  const unreached: { node: string; reason: string }[] = [];
  const local = self.addresses[0];
  const uplink = local && links.find(({ addresses }) => addresses.some(({ address }) => isEqual(address, local)));
  const withoutMasquerade: Prefix[] = [...self.podCidrs, ...self.addresses.map(wholeAddress)];

  for (const node of others) {
    withoutMasquerade.push(...node.podCidrs);
    const gateways: string[] = [];
    let isOnLink = true;
    for (const cidr of mode === 'none' ? [] : node.podCidrs) {
      const direct = mode === 'vxlan' ? undefined : directRoute(cidr, node, links);
      if (direct) {
        routes.push(direct);
        continue;
      }
      isOnLink = false;
      const remote = node.addresses.find(({ family }) => family === local?.family);
      if (mode === 'direct') unreached.push({ node: node.name, reason: 'the node is not on a common link' });
      else if (!local || !remote) unreached.push({ node: node.name, reason: 'no node address of a common family' });
      else {
        const gateway = formatAddress(cidr.address);
        gateways.push(gateway);
        routes.push({ destination: formatPrefix(cidr), gateway, device: vxlanDevice });
        if (gateways.length === 1) tunnels.push({ mac: macOf(node.name), node: formatAddress(remote), gateways });
      }
    }
    // Networks between the nodes may drop the address of a Pod; on a common link there is nothing in between.
    if (isOnLink) withoutMasquerade.push(...node.addresses.map(wholeAddress));
  }

  const uplinkMtu = uplink?.mtu ?? defaultMtu;
  const tunnelMtu = local ? uplinkMtu - vxlanOverhead[local.family] : uplinkMtu;
  const needsTunnel = local !== undefined && (mode === 'vxlan' || tunnels.length > 0);
  const kept = removeNested(withoutMasquerade);
  const ofFamily = (family: 4 | 6) =>
    kept
      .filter(({ address }) => address.family === family)
      .map((each) => (isWhole(each) ? formatAddress(each.address) : formatPrefix(each)));
  return {
    routes,
    unreachable: mode === 'none' ? [] : self.podCidrs.map(formatPrefix),
    ...(needsTunnel
      ? {
          vxlan: {
            mac: macOf(self.name),
            local: formatAddress(local),
            mtu: tunnelMtu,
            addresses: self.podCidrs.map(({ address }) => formatAddress(address)),
            tunnels,
          },
        }
      : {}),
    mtu: needsTunnel ? tunnelMtu : uplinkMtu,
    podCidrs: self.podCidrs.map(formatPrefix),
    withoutMasquerade: { 4: ofFamily(4), 6: ofFamily(6) },
    unreached,
  };
}

/** Returns the route through an address of the node on a common link. */
function directRoute(cidr: Prefix, node: RoutedNode, links: readonly Link[]): Route | undefined {
  for (const address of node.addresses) {
    if (address.family !== cidr.address.family) continue;
    const link = links.find(({ addresses }) => addresses.some((own) => !isWhole(own) && contains(own, address)));
    if (link) return { destination: formatPrefix(cidr), gateway: formatAddress(address), device: link.name };
  }
  return undefined;
}

/** Returns the MAC address of the VXLAN endpoint of a node: locally administered, unicast. */
export function macOf(nodeName: string): string {
  const digest = createHash('sha256').update(nodeName).digest();
  const bytes = [(digest[0]! & 0xfc) | 0x02, ...digest.subarray(1, 6)];
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(':');
}

function wholeAddress(address: Address): Prefix {
  return { address, length: address.family === 4 ? 32 : 128 };
}

function isWhole({ address, length }: Prefix): boolean {
  return length === (address.family === 4 ? 32 : 128);
}

function isEqual(a: Address, b: Address): boolean {
  return a.family === b.family && a.bits === b.bits;
}
