import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Node } from '@kruise/api/core/node';
import { badRequest, unclassified } from '@kruise/machinery/status';
import type { Clock } from '@kruise/values/clock';
import { type Backend, type BackendTls, createNetwork, type Location } from './backend.ts';

/** Connects to nodes and to the Pods on them. A server in the same process as its kubelets needs no sockets. */
export type NodeConnector = {
  /** Returns the kubelet of a node. For logs, certificate verification may be skipped. */
  kubelet(node: Node, options?: { readonly unchecked?: boolean }): Backend;
  /** Returns the target of a node proxy request: the kubelet, or another port. */
  proxy(node: Node, port: { readonly scheme: string; readonly port: string }): Promise<Backend>;
  /** Returns the backend at an address in the cluster network. */
  address(location: Location): Backend;
  /** Connects to the cluster network, if it is not the network of this machine. */
  readonly dial?: Dial;
  close(): void;
};

/** Opens a connection into the cluster network; undefined for an address outside of it. */
export type Dial = (target: { readonly host: string; readonly port: number }) => Promise<Duplex | undefined>;

/** Types of node addresses. */
export const nodeAddressTypes = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'] as const;
export type NodeAddressType = (typeof nodeAddressTypes)[number];

/** Order of kubeadm: node names are rarely resolvable by DNS. */
const defaultAddressTypes: readonly NodeAddressType[] = ['InternalIP', 'ExternalIP', 'Hostname'];
const defaultKubeletPort = 10250;

/** Access to kubelets: the client certificate to present, the authority to trust, and the order of node addresses. */
export type KubeletAccess = BackendTls & {
  /** Types of addresses by preference: the first type that a node has an address of is used. */
  readonly addressTypes?: readonly NodeAddressType[];
};

/** Connects to nodes over the network, at the addresses in their status. */
export function networkConnector(clock: Clock, access: KubeletAccess = {}): NodeConnector {
  const { addressTypes = defaultAddressTypes, ...kubeletTls } = access;
  const kubelets = createNetwork(clock, kubeletTls);
  const { authority: _, ...unchecked } = kubeletTls;
  const anyKubelet = createNetwork(clock, unchecked);
  // Pod certificates can have any CA, so they are not verified; the cluster network is trusted.
  const pods = createNetwork(clock, {});
  const kubeletAt = (node: Node): Location => ({
    scheme: 'https',
    host: addressOf(node, addressTypes),
    port: node.status?.daemonEndpoints?.kubeletEndpoint?.Port || defaultKubeletPort,
  });

  return {
    kubelet: (node, options) => (options?.unchecked ? anyKubelet : kubelets).at(kubeletAt(node)),
    async proxy(node, { scheme, port }) {
      const kubelet = kubeletAt(node);
      await checkProxyable(kubelet.host);
      if (port === '' || port === String(kubelet.port)) return kubelets.at(kubelet);
      return pods.at({ scheme: scheme === 'https' ? 'https' : 'http', host: kubelet.host, port: Number(port) });
    },
    address: (location) => pods.at(location),
    close() {
      for (const network of [kubelets, anyKubelet, pods]) network.close();
    },
  };
}

function addressOf({ metadata, status }: Node, types: readonly NodeAddressType[]): string {
  const addresses = status?.addresses ?? [];
  for (const type of types) {
    const found = addresses.find((each) => each.type === type);
    if (found) return found.address;
    const label = type === 'Hostname' && metadata.labels?.['kubernetes.io/hostname'];
    if (label) return label;
  }
  const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ');
  throw unclassified(`no preferred addresses found; known addresses: [${known}]`);
}

const notGlobal = new BlockList();
notGlobal.addAddress('0.0.0.0');
notGlobal.addSubnet('127.0.0.0', 8);
notGlobal.addSubnet('169.254.0.0', 16);
notGlobal.addSubnet('224.0.0.0', 4);
notGlobal.addAddress('255.255.255.255');
notGlobal.addAddress('::', 'ipv6');
notGlobal.addAddress('::1', 'ipv6');
notGlobal.addSubnet('fe80::', 10, 'ipv6');
notGlobal.addSubnet('ff00::', 8, 'ipv6');

/** Reports whether an address is global unicast: users must not reach servers that listen only on this machine. */
export function isGlobalUnicast(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && !notGlobal.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

async function checkProxyable(host: string): Promise<void> {
  let addresses: { readonly address: string }[];
  try {
    addresses = await lookup(host, { all: true });
  } catch {
    throw badRequest(`lookup ${host}: no such host`);
  }
  if (!addresses.every(({ address }) => isGlobalUnicast(address))) throw badRequest('address not allowed');
}
