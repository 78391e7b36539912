/** Facts about its node that kube-proxy uses. */
import type { Node } from '@kruise/api/core/node';
import { contains, parseLegacyAddress, parseLegacyPrefix } from '@kruise/values/address';
import type { LocalTraffic } from '../service/packet-route.ts';
import { familyOf, type IPFamily } from '../service/service-port.ts';
import type { ProxyConfiguration } from './configuration.ts';

const zoneLabel = 'topology.kubernetes.io/zone';
/** Taint of a node that the cluster autoscaler is about to delete. */
const deletionTaint = 'ToBeDeletedByClusterAutoscaler';

export type NodeView = {
  readonly zone?: string;
  /** Primary addresses of the node. */
  readonly addresses: readonly string[];
  readonly podRanges: readonly string[];
  /** True if load balancers should use this node. */
  readonly isEligible: boolean;
};

/** Returns the facts of a Node object. */
export function viewOf(node: Node | undefined): NodeView {
  const zone = node?.metadata.labels?.[zoneLabel];
  const all = node?.status?.addresses ?? [];
  const ofType = (wanted: string) => all.flatMap(({ type, address }) => (type === wanted ? address : []));
  const candidates = [...ofType('InternalIP'), ...ofType('ExternalIP')].filter((each) => parseLegacyAddress(each));
  const podRanges = node?.spec?.podCIDRs ?? (node?.spec?.podCIDR ? [node.spec.podCIDR] : []);
  const isTainted = node?.spec?.taints?.some(({ key }) => key === deletionTaint) ?? false;
  return {
    ...(zone === undefined ? {} : { zone }),
    addresses: (['IPv4', 'IPv6'] as const).flatMap(
      (family) => candidates.find((each) => familyOf(each) === family) ?? [],
    ),
    podRanges,
    isEligible: node !== undefined && node.metadata.deletionTimestamp === undefined && !isTainted,
  };
}

/** Returns how to recognize traffic of local Pods of a family; undefined if the configuration has no way. */
export function localTrafficOf(
  { detectLocalMode, clusterCIDR, bridgeInterface, interfaceNamePrefix }: ProxyConfiguration,
  { podRanges }: NodeView,
  family: IPFamily,
): LocalTraffic | undefined {
  switch (detectLocalMode) {
    case 'ClusterCIDR':
    case 'NodeCIDR': {
      const ranges = detectLocalMode === 'ClusterCIDR' ? clusterCIDR.split(',').map((each) => each.trim()) : podRanges;
      const range = ranges.find((each) => each !== '' && familyOf(each) === family);
      return range === undefined ? undefined : { by: 'cidr', range };
    }
    case 'BridgeInterface':
      return { by: 'bridge', name: bridgeInterface };
    case 'InterfaceNamePrefix':
      return { by: 'interface-prefix', prefix: interfaceNamePrefix };
  }
}

/**
 * Returns the addresses of node ports of a family. Without configuration iptables uses all addresses, and nftables the
 * primary ones, because a check of all local addresses is slower there.
 */
export function nodePortAddressesOf(
  { nodePortAddresses }: ProxyConfiguration,
  mode: 'nftables' | 'iptables',
  primary: readonly string[],
  local: readonly string[],
  family: IPFamily,
): 'all' | readonly string[] {
  const own = (addresses: readonly string[]) => addresses.filter((each) => familyOf(each) === family);
  const isPrimary = nodePortAddresses.length === 0 ? mode === 'nftables' : nodePortAddresses[0] === 'primary';
  if (isPrimary) return own(primary);
  const ranges = nodePortAddresses
    .map(parseLegacyPrefix)
    .filter(({ address }) => address.family === (family === 'IPv4' ? 4 : 6));
  if (nodePortAddresses.length === 0 || ranges.some(({ length }) => length === 0)) return 'all';
  return own(local).filter((each) => {
    const parsed = parseLegacyAddress(each);
    return parsed !== undefined && !isLoopback(each) && ranges.some((range) => contains(range, parsed));
  });
}

/** Reports whether an address is a loopback address. */
export function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1';
}
