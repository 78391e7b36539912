/**
 * Rules of nftables. One table per IP family; the destinations of all Services are elements of verdict maps, so that
 * a packet is matched in constant time and a change of a Service touches only its own chains and elements.
 *
 * Endpoints are rules of the Service's chain instead of chains of their own: a set or chain for each endpoint would be
 * most of the ruleset, and the kernel finds a set by a linear search. Only session affinity needs a chain and a set for
 * each endpoint. The hairpin check, which would need a chain as well, is one set of the endpoints on this node.
 */
import { digestOf, shortHash } from './names.ts';
import { addressesOf, allowsNode, type LocalTraffic } from './packet-route.ts';
import type { Chain, Entry, Fragment } from './ruleset.ts';
import {
  hostPort,
  type IPFamily,
  isExternal,
  type ProxyEndpoint,
  type ServicePort,
  servicePortKey,
  withSortedEndpoints,
} from './service-port.ts';

export const nftTable = 'kube-proxy';

export type NftOptions = {
  readonly family: IPFamily;
  readonly localTraffic?: LocalTraffic;
  readonly masqueradeAll: boolean;
  readonly masqueradeBit: number;
  /** Addresses of node ports; `all` for every local address. */
  readonly nodePortAddresses: 'all' | readonly string[];
  /** All addresses of the node, for the source ranges of load balancers. */
  readonly nodeAddresses: readonly string[];
  /** CIDR blocks of cluster IPs. Packets to their addresses without a Service are dropped. */
  readonly serviceRanges: readonly string[];
};

/** Returns `ip` or `ip6`, the name of the family in nftables. */
export function nftFamily(family: IPFamily): 'ip' | 'ip6' {
  return family === 'IPv4' ? 'ip' : 'ip6';
}

/** Base chains: hook and priority. The filter chains come before destination NAT, except `filter-output-post-dnat`. */
const baseChains = {
  'filter-prerouting': 'type filter hook prerouting priority -110 ;',
  'filter-input': 'type filter hook input priority -110 ;',
  'filter-forward': 'type filter hook forward priority -110 ;',
  'filter-output': 'type filter hook output priority -110 ;',
  'filter-output-post-dnat': 'type filter hook output priority -90 ;',
  'nat-prerouting': 'type nat hook prerouting priority -100 ;',
  'nat-output': 'type nat hook output priority -100 ;',
  'nat-postrouting': 'type nat hook postrouting priority 100 ;',
} as const;

/** Verdict maps and sets that all Services share, with their types. */
function sharedSets({ family }: NftOptions): readonly string[] {
  const address = family === 'IPv4' ? 'ipv4_addr' : 'ipv6_addr';
  return [
    `set ${sets.clusterIPs} { type ${address} ; }`,
    `set ${sets.nodePortIPs} { type ${address} ; }`,
    `set ${sets.hairpin} { type ${address} . ${address} ; }`,
    `map ${sets.serviceIPs} { type ${address} . inet_proto . inet_service : verdict ; }`,
    `map ${sets.nodePorts} { type inet_proto . inet_service : verdict ; }`,
    `map ${sets.noEndpointServices} { type ${address} . inet_proto . inet_service : verdict ; }`,
    `map ${sets.noEndpointNodePorts} { type inet_proto . inet_service : verdict ; }`,
    `map ${sets.firewallIPs} { type ${address} . inet_proto . inet_service : verdict ; }`,
  ];
}

const sets = {
  clusterIPs: 'cluster-ips',
  nodePortIPs: 'nodeport-ips',
  hairpin: 'hairpin-endpoints',
  serviceIPs: 'service-ips',
  nodePorts: 'service-nodeports',
  noEndpointServices: 'no-endpoint-services',
  noEndpointNodePorts: 'no-endpoint-nodeports',
  firewallIPs: 'firewall-ips',
} as const;

/** Prefix of the dynamic sets of session affinity. Their elements belong to the kernel. */
export const affinityPrefix = 'affinity-';

/** Returns the commands that create the table, its base chains and shared sets. They change nothing that exists. */
export function nftSkeleton(options: NftOptions): readonly string[] {
  const family = nftFamily(options.family);
  return [
    `add table ${family} ${nftTable} { comment "rules for kube-proxy" ; }`,
    ...Object.entries(baseChains).map(
      ([name, definition]) => `add chain ${family} ${nftTable} ${name} { ${definition} }`,
    ),
    ...sharedSets(options).map((definition) => {
      const [kind = '', ...rest] = definition.split(' ');
      return `add ${kind} ${family} ${nftTable} ${rest.join(' ')}`;
    }),
  ];
}

/** Returns the rules that do not depend on Services. */
export function nftStaticFragment(options: NftOptions): Fragment {
  const { family, localTraffic, masqueradeAll, nodePortAddresses, serviceRanges } = options;
  const ip = nftFamily(family);
  const mark = markText(options);
  const isNew = 'ct state new';
  const destination = `${ip} daddr . meta l4proto . th dport`;
  const nodePort = 'meta l4proto . th dport';
  const loopback = family === 'IPv4' ? '127.0.0.0/8' : '::1';
  const toNode =
    nodePortAddresses === 'all'
      ? `fib daddr type local ${ip} daddr != ${loopback}`
      : `${ip} daddr @${sets.nodePortIPs}`;
  const setMark = `meta mark set meta mark | ${mark}`;
  const toClusterIP = `${ip} daddr @${sets.clusterIPs}`;
  const masqueradeInternal = masqueradeAll
    ? [`${toClusterIP} ${setMark}`]
    : localTraffic
      ? [`${toClusterIP} ${notFrom(localTraffic, ip)} ${setMark}`]
      : [];
  const chains: Record<string, readonly string[]> = {
    'filter-prerouting': [`${isNew} jump firewall-check`],
    'filter-input': [`${isNew} jump nodeport-endpoints-check`, `${isNew} jump service-endpoints-check`],
    'filter-forward': [`${isNew} jump service-endpoints-check`, `${isNew} jump cluster-ips-check`],
    'filter-output': [`${isNew} jump service-endpoints-check`, `${isNew} jump firewall-check`],
    'filter-output-post-dnat': [`${isNew} jump cluster-ips-check`],
    'nat-prerouting': ['jump services'],
    'nat-output': ['jump services'],
    'nat-postrouting': ['jump masquerading'],
    'nodeport-endpoints-check': [`${toNode} ${nodePort} vmap @${sets.noEndpointNodePorts}`],
    'service-endpoints-check': [`${destination} vmap @${sets.noEndpointServices}`],
    'firewall-check': [`${destination} vmap @${sets.firewallIPs}`],
    'cluster-ips-check': [
      `${toClusterIP} goto reject-chain`,
      ...(serviceRanges.length > 0 ? [`${ip} daddr { ${serviceRanges.join(', ')} } drop`] : []),
    ],
    services: [
      ...masqueradeInternal,
      `${destination} vmap @${sets.serviceIPs}`,
      `${toNode} ${nodePort} vmap @${sets.nodePorts}`,
    ],
    masquerading: [
      `ct status dnat ${ip} saddr . ${ip} daddr @${sets.hairpin} masquerade fully-random`,
      `meta mark & ${mark} == 0 return`,
      `meta mark set meta mark ^ ${mark}`,
      'masquerade fully-random',
    ],
    // A reset ends a connection attempt at once; some systems retry after an ICMP error.
    'reject-chain': ['meta l4proto tcp reject with tcp reset', 'reject'],
  };
  return {
    chains: Object.entries(chains).map(([name, rules]) => chainOf(name, rules)),
    entries:
      nodePortAddresses === 'all'
        ? []
        : nodePortAddresses.map((address) => ({ container: sets.nodePortIPs, key: address, value: '' })),
    sets: [],
  };
}

/** Returns the rules of the service ports of a Service, all of one family. */
export function nftFragment(ports: readonly ServicePort[], options: NftOptions): Fragment {
  const chains: Chain[] = [];
  const entries = new Map<string, Entry>();
  const affinitySets: string[] = [];
  const add = (container: string, key: string, value: string) => {
    entries.set(`${container} ${key}`, { container, key, value });
  };
  for (const port of ports) renderPort(withSortedEndpoints(port), options, chains, affinitySets, add);
  return { chains, entries: [...entries.values()], sets: affinitySets };
}

type AddEntry = (container: string, key: string, value: string) => void;

function renderPort(
  found: ServicePort,
  options: NftOptions,
  chains: Chain[],
  affinitySets: string[],
  add: AddEntry,
): void {
  const { clusterIP, cluster, local, sourceRanges, isInternalLocal, isExternalLocal, nodePort } = found;
  const ip = nftFamily(options.family);
  const protocol = found.protocol.toLowerCase();
  const destinationOf = (address: string) => `${address} . ${protocol} . ${found.port}`;
  const base = baseName(servicePortKey(found));
  const external = addressesOf(found).filter((address) => address !== clusterIP);

  add(sets.clusterIPs, clusterIP, '');
  if (!found.hasEndpoints) {
    for (const address of [clusterIP, ...external])
      add(sets.noEndpointServices, destinationOf(address), 'goto reject-chain');
    if (nodePort) add(sets.noEndpointNodePorts, `${protocol} . ${nodePort}`, 'goto reject-chain');
    return;
  }
  if (sourceRanges.length > 0 && found.loadBalancerIPs.length > 0) {
    const allowed = [
      ...sourceRanges,
      ...(allowsNode(sourceRanges, options.nodeAddresses) ? found.loadBalancerIPs : []),
    ];
    chains.push(chainOf(`firewall-${base}`, [`${ip} saddr != { ${allowed.join(', ')} } drop`]));
    for (const address of found.loadBalancerIPs) {
      add(sets.firewallIPs, destinationOf(address), `goto firewall-${base}`);
    }
  }
  const hasAffinity = found.affinitySeconds !== undefined;
  const used = new Set([...cluster, ...local]);
  if (hasAffinity) {
    const byAddress = new Map([...used].map((each) => [hostPort(each.address, each.port), each]));
    for (const endpoint of byAddress.values()) {
      const name = endpointName(found, endpoint);
      affinitySets.push(`${affinityPrefix}${name}`);
      chains.push(
        chainOf(`endpoint-${name}`, [
          `update @${affinityPrefix}${name} { ${ip} saddr timeout ${found.affinitySeconds}s }`,
          `meta l4proto ${protocol} dnat to ${hostPort(endpoint.address, endpoint.port)}`,
        ]),
      );
    }
  }
  for (const { address, mayBeLocal } of used) {
    if (mayBeLocal) add(sets.hairpin, `${address} . ${address}`, '');
  }
  if (cluster.length > 0) chains.push(chainOf(`service-${base}`, balance(found, cluster, ip)));
  if (local.length > 0) chains.push(chainOf(`local-${base}`, balance(found, local, ip)));

  const internalEndpoints = isInternalLocal ? local : cluster;
  if (internalEndpoints.length > 0) {
    add(sets.serviceIPs, destinationOf(clusterIP), `goto ${isInternalLocal ? 'local' : 'service'}-${base}`);
  } else {
    add(sets.noEndpointServices, destinationOf(clusterIP), 'drop');
  }
  if (!isExternal(found)) return;
  const setMark = `meta mark set meta mark | ${markText(options)}`;
  const rules = isExternalLocal
    ? [
        ...(options.localTraffic ? [`${from(options.localTraffic, ip)} goto service-${base}`] : []),
        `fib saddr type local ${setMark} goto service-${base}`,
        local.length > 0 ? `goto local-${base}` : 'drop',
      ]
    : [`${setMark} goto service-${base}`];
  chains.push(chainOf(`external-${base}`, rules));
  for (const address of external) add(sets.serviceIPs, destinationOf(address), `goto external-${base}`);
  if (nodePort) add(sets.nodePorts, `${protocol} . ${nodePort}`, `goto external-${base}`);
}

/** Above this number of endpoints, a map selects one in constant time. */
const maxSequentialEndpoints = 64;

/** Returns rules that select one of the endpoints with equal probability. */
function balance(found: ServicePort, endpoints: readonly ProxyEndpoint[], ip: 'ip' | 'ip6'): readonly string[] {
  const protocol = `meta l4proto ${found.protocol.toLowerCase()}`;
  const count = endpoints.length;
  if (found.affinitySeconds !== undefined) {
    const names = endpoints.map((endpoint) => endpointName(found, endpoint));
    const sticky = names.map((name) => `${ip} saddr @${affinityPrefix}${name} goto endpoint-${name}`);
    return [...sticky, ...names.map((name, index) => `${chance(count - index)}goto endpoint-${name}`)];
  }
  if (count > maxSequentialEndpoints) {
    const elements = endpoints.map(({ address, port }, index) => `${index} : ${address} . ${port}`);
    return [`${protocol} dnat ${ip} to numgen random mod ${count} map { ${elements.join(', ')} }`];
  }
  return endpoints.map(
    ({ address, port }, index) => `${protocol} ${chance(count - index)}dnat to ${hostPort(address, port)}`,
  );
}

/** Returns a condition that is true once in `count` packets. */
function chance(count: number): string {
  return count > 1 ? `numgen random mod ${count} 0 ` : '';
}

function chainOf(name: string, rules: readonly string[]): Chain {
  // The number of rules shows that a rule was removed by others; the digest is in the comment of the first.
  return { name, rules, digest: rules.length === 0 ? '' : `${digestOf(rules)}/${rules.length}` };
}

function markText({ masqueradeBit }: NftOptions): string {
  return `0x${(2 ** masqueradeBit).toString(16)}`;
}

/** Returns the condition of traffic from Pods on this node. */
function from(local: LocalTraffic, ip: 'ip' | 'ip6'): string {
  switch (local.by) {
    case 'cidr':
      return `${ip} saddr ${local.range}`;
    case 'bridge':
      return `iifname "${local.name}"`;
    case 'interface-prefix':
      return `iifname "${local.prefix}*"`;
  }
}

function notFrom(local: LocalTraffic, ip: 'ip' | 'ip6'): string {
  return from(local, ip).replace(/^(\w+ saddr|iifname) /, '$1 != ');
}

/** Longest name of a chain or set without its prefix. */
const maxNameLength = 240;

function baseName(name: string): string {
  return `${shortHash(name, 8)}-${name}`.slice(0, maxNameLength);
}

function endpointName(found: ServicePort, { address, port }: ProxyEndpoint): string {
  return baseName(`${servicePortKey(found)}__${address.replaceAll(':', '.')}/${port}`);
}
