import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Node } from '@kruise/api/core/node';
import { badRequest, unclassified } from '@kruise/machinery/status';
import type { Clock } from '@kruise/values/clock';
import { type Backend, type BackendTls, createNetwork, type Location } from './backend.ts';

/** How the server reaches nodes and what runs on them. In one process with its kubelets it may do without sockets. */
export type NodeConnector = {
  /** The kubelet of a node. Logs may be asked for without checking whether it is the right one. */
  kubelet(node: Node, options?: { readonly unchecked?: boolean }): Backend;
  /** What a user wants to reach on a node: its kubelet, or another port. */
  proxy(node: Node, port: { readonly scheme: string; readonly port: string }): Promise<Backend>;
  /** What listens in the network of the cluster. */
  address(location: Location): Backend;
  /** Where the network of the cluster is not this machine's: the way into it. */
  readonly dial?: Dial;
  close(): void;
};

/** A bare connection into the network of the cluster; undefined for an address that is not of that network. */
export type Dial = (target: { readonly host: string; readonly port: number }) => Promise<Duplex | undefined>;

/** The types of addresses a node may have. */
export const nodeAddressTypes = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'] as const;
export type NodeAddressType = (typeof nodeAddressTypes)[number];

/** The order of kubeadm: names of nodes are rarely in any DNS. */
const defaultAddressTypes: readonly NodeAddressType[] = ['InternalIP', 'ExternalIP', 'Hostname'];
const defaultKubeletPort = 10250;

/** Access to kubelets: the client certificate to present, the authority to trust, and the order of node addresses. */
export type KubeletAccess = BackendTls & {
  /** Types of addresses by preference: the first type that a node has an address of is used. */
  readonly addressTypes?: readonly NodeAddressType[];
};

/** Reaches nodes over the network, as themselves say where they are. */
export function networkConnector(clock: Clock, access: KubeletAccess = {}): NodeConnector {
  const { addressTypes = defaultAddressTypes, ...kubeletTls } = access;
  const kubelets = createNetwork(clock, kubeletTls);
  const { authority: _, ...unchecked } = kubeletTls;
  const anyKubelet = createNetwork(clock, unchecked);
  // Pods have certificates of whomever; the way to them is as safe as the network of the cluster.
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

/** Whether an address may be one of another machine: users must not get to what listens for this one alone. */
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
