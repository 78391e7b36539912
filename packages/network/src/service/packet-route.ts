/**
 * Where a packet goes: the semantics of kube-proxy as one pure function. The simulated network calls it for each
 * connection, and the rules of nftables and iptables are tested against it with real packets.
 */
import {
  familyOf,
  hostPort,
  isInRanges,
  type Protocol,
  type ProxyEndpoint,
  type ServicePort,
  servicePortKey,
} from './service-port.ts';

/** The first packet of a connection. */
export type Packet = {
  readonly source: string;
  /** Interface on which the packet arrived; undefined if the node itself sends it. */
  readonly inputInterface?: string;
  readonly destination: string;
  readonly port: number;
  readonly protocol: Protocol;
};

/** Condition that recognizes traffic of Pods on this node. */
export type LocalTraffic =
  | { readonly by: 'cidr'; readonly range: string }
  | { readonly by: 'bridge'; readonly name: string }
  | { readonly by: 'interface-prefix'; readonly prefix: string };

/** Properties of the node and the proxy that decide about a packet. */
export type PacketContext = {
  /** All addresses of the node. */
  readonly nodeAddresses: ReadonlySet<string>;
  /** Addresses of the node on which node ports are open. */
  readonly nodePortAddresses: ReadonlySet<string>;
  readonly localTraffic?: LocalTraffic;
  readonly masqueradeAll: boolean;
  /** Rejects packets to unknown ports of cluster IPs. iptables lets them pass, because the check would be slow. */
  readonly rejectUnknownPorts: boolean;
};

export type PacketTarget = {
  readonly address: string;
  readonly port: number;
  /** True if the source becomes an address of the node. */
  readonly isMasqueraded: boolean;
};

export type PacketRoute =
  /** The packet belongs to no Service. */
  | { readonly verdict: 'pass' }
  | { readonly verdict: 'reject' }
  | { readonly verdict: 'drop' }
  | {
      readonly verdict: 'forward';
      /** One of these at random. */
      readonly targets: readonly PacketTarget[];
      /** Key and timeout of session affinity: connections from one source keep their target. */
      readonly affinity?: { readonly key: string; readonly seconds: number };
    };

/** Lookup of service ports by destination. Two Services may have one external IP; the first by name gets its traffic. */
export type ServiceLookup = {
  byAddress(address: string, port: number, protocol: Protocol): ServicePort | undefined;
  byNodePort(port: number, protocol: Protocol, family: ServicePort['family']): ServicePort | undefined;
  isClusterIP(address: string): boolean;
};

/** Decides where a packet goes. */
export function routePacket(lookup: ServiceLookup, packet: Packet, context: PacketContext): PacketRoute {
  const { destination, port, protocol } = packet;
  const found = lookup.byAddress(destination, port, protocol);
  if (found) {
    if (found.hasEndpoints && found.loadBalancerIPs.includes(destination) && !isAllowedSource(found, packet, context)) {
      return { verdict: 'drop' };
    }
    return found.clusterIP === destination
      ? routeInternal(found, packet, context)
      : routeExternal(found, packet, context);
  }
  if (context.nodePortAddresses.has(destination)) {
    const open = lookup.byNodePort(port, protocol, familyOf(destination));
    if (open) return routeExternal(open, packet, context);
  }
  return context.rejectUnknownPorts && lookup.isClusterIP(destination) ? { verdict: 'reject' } : { verdict: 'pass' };
}

function routeInternal(found: ServicePort, packet: Packet, context: PacketContext): PacketRoute {
  if (!found.hasEndpoints) return { verdict: 'reject' };
  const endpoints = found.isInternalLocal ? found.local : found.cluster;
  if (endpoints.length === 0) return { verdict: 'drop' };
  const isMasqueraded =
    context.masqueradeAll || (context.localTraffic !== undefined && !isLocalTraffic(packet, context));
  return forward(found, endpoints, packet, context, isMasqueraded);
}

function routeExternal(found: ServicePort, packet: Packet, context: PacketContext): PacketRoute {
  if (!found.hasEndpoints) return { verdict: 'reject' };
  if (!found.isExternalLocal) return forward(found, found.cluster, packet, context, true);
  // Traffic that is already in the cluster would not be balanced again by the load balancer; it uses all endpoints.
  if (context.localTraffic && isLocalTraffic(packet, context))
    return forward(found, found.cluster, packet, context, false);
  if (context.nodeAddresses.has(packet.source)) return forward(found, found.cluster, packet, context, true);
  return found.local.length > 0 ? forward(found, found.local, packet, context, false) : { verdict: 'drop' };
}

function forward(
  found: ServicePort,
  endpoints: readonly ProxyEndpoint[],
  { source }: Packet,
  { nodeAddresses }: PacketContext,
  isMasqueraded: boolean,
): PacketRoute {
  const targets = endpoints.map(({ address, port }) => ({
    address,
    port,
    // A packet to the node itself is not sent on, and keeps its source. An endpoint that reaches itself would receive a
    // packet from its own address, and its reply would not pass the node.
    isMasqueraded: !nodeAddresses.has(address) && (isMasqueraded || address === source),
  }));
  const { affinitySeconds } = found;
  if (affinitySeconds === undefined) return { verdict: 'forward', targets };
  return { verdict: 'forward', targets, affinity: { key: servicePortKey(found), seconds: affinitySeconds } };
}

function isLocalTraffic({ source, inputInterface = '' }: Packet, { localTraffic }: PacketContext): boolean {
  switch (localTraffic?.by) {
    case 'cidr':
      return isInRanges([localTraffic.range], source);
    case 'bridge':
      return inputInterface === localTraffic.name;
    case 'interface-prefix':
      return inputInterface.startsWith(localTraffic.prefix) && inputInterface !== '';
    case undefined:
      return false;
  }
}

/** Reports whether the source ranges of the load balancer allow the source of a packet. */
function isAllowedSource(found: ServicePort, { source, destination }: Packet, { nodeAddresses }: PacketContext) {
  if (found.sourceRanges.length === 0 || isInRanges(found.sourceRanges, source)) return true;
  // A node that connects to the load balancer IP may use this IP as its source.
  return source === destination && allowsNode(found.sourceRanges, nodeAddresses);
}

/** Reports whether source ranges contain an address of the node. */
export function allowsNode(ranges: readonly string[], nodeAddresses: Iterable<string>): boolean {
  for (const address of nodeAddresses) if (isInRanges(ranges, address)) return true;
  return false;
}

/** Table of service ports by destination; a change of a Service costs as much as its ports, not as the table. */
export type ServiceTable = ServiceLookup & {
  /** Replaces the service ports of a Service, which may be of both families. */
  replace(service: string, ports: readonly ServicePort[]): void;
  get(service: string): readonly ServicePort[];
};

/** Creates an empty table. */
export function createServiceTable(): ServiceTable {
  const services = new Map<string, readonly ServicePort[]>();
  const destinations = new Map<string, readonly ServicePort[]>();
  const clusterIPs = new Map<string, number>();

  const remove = (destination: string, port: ServicePort) => {
    const others = (destinations.get(destination) ?? []).filter((each) => each !== port);
    if (others.length > 0) destinations.set(destination, others);
    else destinations.delete(destination);
  };
  const add = (destination: string, port: ServicePort) => {
    const all = [...(destinations.get(destination) ?? []), port];
    destinations.set(destination, all.length > 1 ? all.sort(byService) : all);
  };
  const countClusterIPs = (ports: readonly ServicePort[], by: number) => {
    for (const address of new Set(ports.map(({ clusterIP }) => clusterIP))) {
      const count = (clusterIPs.get(address) ?? 0) + by;
      if (count > 0) clusterIPs.set(address, count);
      else clusterIPs.delete(address);
    }
  };

  return {
    byAddress: (address, port, protocol) => destinations.get(`${protocol} ${hostPort(address, port)}`)?.[0],
    byNodePort: (port, protocol, family) => destinations.get(`${protocol} ${family} ${port}`)?.[0],
    isClusterIP: (address) => clusterIPs.has(address),
    get: (service) => services.get(service) ?? [],
    replace(service, ports) {
      const before = services.get(service) ?? [];
      for (const port of before) for (const destination of destinationsOf(port)) remove(destination, port);
      countClusterIPs(before, -1);
      for (const port of ports) for (const destination of destinationsOf(port)) add(destination, port);
      countClusterIPs(ports, 1);
      if (ports.length > 0) services.set(service, ports);
      else services.delete(service);
    },
  };
}

/** Returns the addresses of a service port, without duplicates. */
export function addressesOf({ clusterIP, externalIPs, loadBalancerIPs }: ServicePort): readonly string[] {
  return [...new Set([clusterIP, ...externalIPs, ...loadBalancerIPs])];
}

function destinationsOf(found: ServicePort): readonly string[] {
  const { protocol, port, nodePort, family } = found;
  const destinations = addressesOf(found).map((address) => `${protocol} ${hostPort(address, port)}`);
  return nodePort === undefined ? destinations : [...destinations, `${protocol} ${family} ${nodePort}`];
}

function byService(a: ServicePort, b: ServicePort): number {
  return servicePortKey(a) < servicePortKey(b) ? -1 : 1;
}
