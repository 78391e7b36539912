/**
 * Service ports of a node: which endpoints each port of a Service uses, and under which policies. A Service of two IP
 * families has service ports in both, with the addresses and endpoints of that family only.
 */
import type { Service, ServiceSpec } from '@kruise/api/core/service';
import type { EndpointSlice } from '@kruise/api/discovery/endpointslice';
import {
  contains,
  formatAddress,
  formatPrefix,
  maskPrefix,
  type Prefix,
  parseLegacyAddress,
  parseLegacyPrefix,
} from '@kruise/values/address';
import { ParseError } from '@kruise/values/parse-error';

export type Protocol = 'TCP' | 'UDP' | 'SCTP';
export type IPFamily = 'IPv4' | 'IPv6';

/** An address and port that serves a Service. */
export type ProxyEndpoint = {
  readonly address: string;
  readonly port: number;
  /** True if the endpoint is on this node. */
  readonly isLocal: boolean;
  /** True if the endpoint may be on this node: it is, or its node is unknown. */
  readonly mayBeLocal: boolean;
};

export type ServicePort = {
  /** `namespace/name` of the Service. */
  readonly service: string;
  readonly portName: string;
  readonly protocol: Protocol;
  readonly family: IPFamily;
  readonly port: number;
  readonly clusterIP: string;
  readonly externalIPs: readonly string[];
  /** Load balancer IPs whose traffic arrives with this IP as its destination. */
  readonly loadBalancerIPs: readonly string[];
  /** CIDR blocks of the clients of the load balancer IPs; empty allows all. */
  readonly sourceRanges: readonly string[];
  readonly nodePort?: number;
  /** Timeout of session affinity by client address; undefined without session affinity. */
  readonly affinitySeconds?: number;
  readonly isInternalLocal: boolean;
  readonly isExternalLocal: boolean;
  /** True if an endpoint that serves exists on any node. */
  readonly hasEndpoints: boolean;
  /** Endpoints under the traffic policy Cluster. */
  readonly cluster: readonly ProxyEndpoint[];
  /** Endpoints under the traffic policy Local. */
  readonly local: readonly ProxyEndpoint[];
  /** Every `address:port` that serves, on any node and in any zone; the reply of a connection may come from each. */
  readonly serving: ReadonlySet<string>;
};

/** The node on which the decision is made. */
export type ServiceNode = { readonly name: string; readonly zone?: string };

export const serviceNameLabel = 'kubernetes.io/service-name';
const proxyNameLabel = 'service.kubernetes.io/service-proxy-name';
const headlessLabel = 'service.kubernetes.io/headless';
const defaultAffinitySeconds = 10_800;

/** Label selector of the Services and EndpointSlices that kube-proxy handles. */
export const proxiedObjects = `!${proxyNameLabel},!${headlessLabel}`;

/** Returns the unique name of a service port: `namespace/name/protocol/port name`. */
export function servicePortKey({ service, protocol, portName }: ServicePort): string {
  return `${service}/${protocol.toLowerCase()}/${portName}`;
}

/** Reports whether a service port has addresses other than its cluster IP. */
export function isExternal({ nodePort, externalIPs, loadBalancerIPs }: ServicePort): boolean {
  return nodePort !== undefined || externalIPs.length > 0 || loadBalancerIPs.length > 0;
}

/** Formats an address and port: `10.0.0.1:80` or `[fd00::1]:80`. */
export function hostPort(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/** Returns the family of an address. */
export function familyOf(address: string): IPFamily {
  return address.includes(':') ? 'IPv6' : 'IPv4';
}

/** Returns a service port with its endpoints in order, so that rules do not depend on the order of slices. */
export function withSortedEndpoints(port: ServicePort): ServicePort {
  const sorted = (endpoints: readonly ProxyEndpoint[]) =>
    endpoints.toSorted((a, b) => (hostPort(a.address, a.port) < hostPort(b.address, b.port) ? -1 : 1));
  return { ...port, cluster: sorted(port.cluster), local: sorted(port.local) };
}

/** Returns the service ports of a Service in one IP family. */
export function servicePortsOf(
  service: Service,
  slices: readonly EndpointSlice[],
  node: ServiceNode,
  family: IPFamily,
): readonly ServicePort[] {
  const { metadata, spec, status } = service;
  if (!spec || isIgnored(service)) return [];
  const name = `${metadata.namespace}/${metadata.name}`;
  // Names become parts of rules; the API server accepts no others.
  if (!/^[a-z0-9./-]+$/.test(name)) return [];
  const clusterIP = ofFamily(clusterIPsOf(spec), family)[0];
  if (clusterIP === undefined) return [];
  const ingress = status?.loadBalancer?.ingress ?? [];
  const virtualIPs = ingress.flatMap(({ ip, ipMode = 'VIP' }) => (ip && ipMode !== 'Proxy' ? ip : []));
  const sessionAffinity =
    spec.sessionAffinity === 'ClientIP'
      ? { affinitySeconds: spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? defaultAffinitySeconds }
      : {};
  const addresses = {
    clusterIP,
    externalIPs: ofFamily(spec.externalIPs ?? [], family),
    loadBalancerIPs: ofFamily(virtualIPs, family),
    sourceRanges: prefixesOfFamily(spec.loadBalancerSourceRanges ?? [], family),
  };
  const own = slices.filter(({ addressType, metadata: { labels } }) => addressType === family && !isIgnoredBy(labels));
  const ports = (spec.ports ?? []).filter((each) => /^[a-z0-9-]*$/.test(each.name ?? ''));
  return ports.map(({ name: portName = '', protocol = 'TCP', port, nodePort }) => {
    const rules = {
      service: name,
      portName,
      protocol: protocol as Protocol,
      family,
      port,
      ...addresses,
      ...sessionAffinity,
      ...(nodePort ? { nodePort } : {}),
      isInternalLocal: spec.internalTrafficPolicy === 'Local',
      isExternalLocal: spec.externalTrafficPolicy === 'Local',
    };
    const candidates = endpointsOf(own, portName, protocol, node, family);
    const isExternallyReachable =
      Boolean(nodePort) || addresses.externalIPs.length + addresses.loadBalancerIPs.length > 0;
    const usesCluster = !rules.isInternalLocal || isExternallyReachable;
    const usesLocal = rules.isInternalLocal || (rules.isExternalLocal && isExternallyReachable);
    const serving = candidates.filter(
      ({ isReady, isTerminating, isServing }) => isReady || (isTerminating && isServing),
    );
    return {
      ...rules,
      hasEndpoints: serving.length > 0,
      cluster: usesCluster ? withFallback(candidates, (ready) => inZone(ready, node.zone)) : [],
      local: usesLocal
        ? withFallback(
            candidates.filter(({ isLocal }) => isLocal),
            (ready) => ready,
          )
        : [],
      serving: new Set(serving.map(({ address, port: each }) => hostPort(address, each))),
    };
  });
}

/** Returns the number of ready endpoint addresses of a Service on this node, which health checks report. */
export function countLocalReady(slices: readonly EndpointSlice[], node: ServiceNode): number {
  const addresses = new Set<string>();
  for (const { endpoints, metadata } of slices) {
    if (isIgnoredBy(metadata.labels)) continue;
    for (const {
      conditions,
      nodeName,
      addresses: [address],
    } of endpoints ?? []) {
      if (nodeName === node.name && (conditions?.ready ?? true) && address !== undefined) addresses.add(address);
    }
  }
  return addresses.size;
}

type Candidate = ProxyEndpoint & {
  readonly isReady: boolean;
  readonly isServing: boolean;
  readonly isTerminating: boolean;
  readonly zones: readonly string[];
};

function endpointsOf(
  slices: readonly EndpointSlice[],
  portName: string,
  protocol: string,
  node: ServiceNode,
  family: IPFamily,
): readonly Candidate[] {
  const found = new Map<string, Candidate>();
  for (const { ports, endpoints } of slices) {
    const matching = ports?.filter((each) => (each.name ?? '') === portName && (each.protocol ?? 'TCP') === protocol);
    for (const { port } of matching ?? []) {
      if (!port) continue;
      for (const { addresses, conditions, nodeName, hints } of endpoints ?? []) {
        // Only the first address is used; the others are reserved by Kubernetes.
        const [address] = ofFamily(addresses.slice(0, 1), family);
        if (address === undefined) continue;
        const isLocal = nodeName === node.name;
        const key = hostPort(address, port);
        // Two slices have the same endpoint while it moves between them. The local one decides.
        if (found.has(key) && !isLocal) continue;
        found.set(key, {
          address,
          port,
          isLocal,
          mayBeLocal: isLocal || nodeName === undefined,
          isReady: conditions?.ready ?? true,
          isServing: conditions?.serving ?? true,
          isTerminating: conditions?.terminating ?? false,
          zones: (hints?.forZones ?? []).map(({ name }) => name),
        });
      }
    }
  }
  return [...found.values()];
}

/** Returns the ready endpoints, or else the terminating ones that still serve. */
function withFallback(
  candidates: readonly Candidate[],
  select: (ready: readonly Candidate[]) => readonly Candidate[],
): readonly ProxyEndpoint[] {
  const ready = select(candidates.filter(({ isReady }) => isReady));
  const chosen = ready.length > 0 ? ready : candidates.filter((each) => each.isServing && each.isTerminating);
  return chosen.map(({ address, port, isLocal, mayBeLocal }) => ({ address, port, isLocal, mayBeLocal }));
}

/**
 * Returns the endpoints with a hint for the zone. If one endpoint has no hints or none is for the zone, the hints are
 * incomplete, and following them would overload the endpoints that have them.
 */
function inZone(ready: readonly Candidate[], zone: string | undefined): readonly Candidate[] {
  if (zone === undefined || ready.some(({ zones }) => zones.length === 0)) return ready;
  const own = ready.filter(({ zones }) => zones.includes(zone));
  return own.length > 0 ? own : ready;
}

/** Reports whether kube-proxy ignores a Service: it is headless, an alias, or handled by another proxy. */
function isIgnored({ metadata, spec }: Service): boolean {
  if (isIgnoredBy(metadata.labels) || spec?.type === 'ExternalName') return true;
  const { clusterIP } = spec ?? {};
  return clusterIP === undefined || clusterIP === '' || clusterIP === 'None';
}

function isIgnoredBy(labels: Readonly<Record<string, string>> | undefined): boolean {
  return labels !== undefined && (proxyNameLabel in labels || headlessLabel in labels);
}

function clusterIPsOf({ clusterIPs, clusterIP }: ServiceSpec): readonly string[] {
  if (clusterIPs !== undefined && clusterIPs.length > 0) return clusterIPs;
  return clusterIP === undefined ? [] : [clusterIP];
}

/** Returns the addresses of a family in canonical form. Rules contain no text of an object that was not parsed. */
function ofFamily(addresses: readonly string[], family: IPFamily): readonly string[] {
  const found = new Set<string>();
  for (const text of addresses) {
    const parsed = parseLegacyAddress(text);
    if (parsed?.family === (family === 'IPv4' ? 4 : 6)) found.add(formatAddress(parsed));
  }
  return [...found];
}

/** Returns the CIDR blocks of a family in canonical form; empty if one of them is the whole address space. */
function prefixesOfFamily(ranges: readonly string[], family: IPFamily): readonly string[] {
  const prefixes = ranges.flatMap((text) => parsePrefixOf(text.trim(), family) ?? []);
  if (prefixes.some(({ length }) => length === 0)) return [];
  return [...new Set(prefixes.map(formatPrefix))].sort();
}

function parsePrefixOf(text: string, family: IPFamily): Prefix | undefined {
  try {
    const prefix = maskPrefix(parseLegacyPrefix(text));
    return prefix.address.family === (family === 'IPv4' ? 4 : 6) ? prefix : undefined;
  } catch (error) {
    // The API server has validated the ranges.
    if (error instanceof ParseError) return undefined;
    throw error;
  }
}

/** Reports whether one of the CIDR blocks contains the address. */
export function isInRanges(ranges: readonly string[], address: string): boolean {
  const parsed = parseLegacyAddress(address);
  return parsed !== undefined && ranges.some((range) => contains(parseLegacyPrefix(range), parsed));
}
