/**
 * Rules of iptables, in the form that `iptables-save` prints, so that installed rules are compared as text. Chain names
 * start with their table: `nat KUBE-SERVICES`.
 */
import { digestOf, shortHash } from './names.ts';
import { allowsNode, type LocalTraffic } from './packet-route.ts';
import type { Chain, Entry, Fragment } from './ruleset.ts';
import {
  hostPort,
  type IPFamily,
  isExternal,
  type ProxyEndpoint,
  type ServicePort,
  withSortedEndpoints,
} from './service-port.ts';

export type IptablesOptions = {
  readonly family: IPFamily;
  readonly localTraffic?: LocalTraffic;
  readonly masqueradeAll: boolean;
  readonly masqueradeBit: number;
  readonly nodePortAddresses: 'all' | readonly string[];
  readonly nodeAddresses: readonly string[];
  /** True if node ports are open on loopback addresses. */
  readonly localhostNodePorts: boolean;
  /** True if packets that conntrack considers invalid are dropped before they reach a Pod with a foreign address. */
  readonly dropInvalid: boolean;
  /** Omits the comments of endpoints, which are most of the text of a large ruleset. */
  readonly omitComments?: boolean;
};

export type IptablesTable = 'nat' | 'filter' | 'mangle';
export const iptablesTables: readonly IptablesTable[] = ['mangle', 'filter', 'nat'];

/** Chain whose absence shows that the rules were flushed by another program. */
export const canaryChain = 'KUBE-PROXY-CANARY';

/** Chains with one rule per destination. Their rules are added and deleted one by one. */
export const dispatchChains: ReadonlySet<string> = new Set([
  'nat KUBE-SERVICES',
  'nat KUBE-NODEPORTS',
  'filter KUBE-SERVICES',
  'filter KUBE-EXTERNAL-SERVICES',
  'filter KUBE-NODEPORTS',
  'filter KUBE-PROXY-FIREWALL',
]);

/** Key of the rule at the end of a dispatch chain. */
export const lastRuleKey = 'last';

/** Jumps from the built-in chains. */
export function iptablesJumps({
  localhostNodePorts,
  family,
}: Pick<IptablesOptions, 'localhostNodePorts' | 'family'>): readonly Entry[] {
  const isNew = '-m conntrack --ctstate NEW';
  const comment = (text: string) => `-m comment --comment "${text}"`;
  const portals = comment('kubernetes service portals');
  const external = comment('kubernetes externally-visible service portals');
  const firewall = comment('kubernetes load balancer firewall');
  const jumps = [
    ['filter INPUT', `${isNew} ${external}`, 'KUBE-EXTERNAL-SERVICES'],
    ['filter FORWARD', `${isNew} ${external}`, 'KUBE-EXTERNAL-SERVICES'],
    ['filter INPUT', comment('kubernetes health check service ports'), 'KUBE-NODEPORTS'],
    ['filter FORWARD', `${isNew} ${portals}`, 'KUBE-SERVICES'],
    ['filter OUTPUT', `${isNew} ${portals}`, 'KUBE-SERVICES'],
    ['filter FORWARD', comment('kubernetes forwarding rules'), 'KUBE-FORWARD'],
    ['filter INPUT', `${isNew} ${firewall}`, 'KUBE-PROXY-FIREWALL'],
    ['filter OUTPUT', `${isNew} ${firewall}`, 'KUBE-PROXY-FIREWALL'],
    ['filter FORWARD', `${isNew} ${firewall}`, 'KUBE-PROXY-FIREWALL'],
    ['nat OUTPUT', portals, 'KUBE-SERVICES'],
    ['nat PREROUTING', portals, 'KUBE-SERVICES'],
    ['nat POSTROUTING', comment('kubernetes postrouting rules'), 'KUBE-POSTROUTING'],
  ];
  if (family === 'IPv4' && localhostNodePorts) {
    jumps.push(['filter INPUT', comment('kubernetes anti-martian rules'), 'KUBE-FIREWALL']);
    jumps.push(['filter OUTPUT', comment('kubernetes anti-martian rules'), 'KUBE-FIREWALL']);
  }
  return jumps.map(([container = '', condition, target]) => {
    const value = `${condition} -j ${target}`;
    return { container, key: value, value };
  });
}

/** Returns the rules that do not depend on Services. */
export function iptablesStaticFragment(options: IptablesOptions): Fragment {
  const { family, dropInvalid, localhostNodePorts, nodePortAddresses } = options;
  const mark = markText(options);
  const chains: Record<string, readonly string[]> = {
    [`mangle ${canaryChain}`]: [],
    [`filter ${canaryChain}`]: [],
    [`nat ${canaryChain}`]: [],
    'nat KUBE-MARK-MASQ': [`-j MARK --set-xmark ${mark}/${mark}`],
    'nat KUBE-POSTROUTING': [
      `-m mark ! --mark ${mark}/${mark} -j RETURN`,
      `-j MARK --set-xmark ${mark}/0x0`,
      '-m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully',
    ],
    'filter KUBE-FORWARD': [
      ...(dropInvalid ? ['-m conntrack --ctstate INVALID -j DROP'] : []),
      `-m comment --comment "kubernetes forwarding rules" -m mark --mark ${mark}/${mark} -j ACCEPT`,
      '-m comment --comment "kubernetes forwarding conntrack rule" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT',
    ],
  };
  if (family === 'IPv4' && localhostNodePorts) {
    // route_localnet lets other hosts on the link send packets to loopback addresses.
    chains['filter KUBE-FIREWALL'] = [
      '! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment "block incoming localnet connections" ' +
        '-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP',
    ];
  }
  const comment = '-m comment --comment "kubernetes service nodeports; NOTE: this must be the last rule in this chain"';
  const loopback = family === 'IPv4' ? '127.0.0.0/8' : '::1/128';
  const hasLoopback = family === 'IPv4' && localhostNodePorts;
  const toNode =
    nodePortAddresses === 'all'
      ? [`${hasLoopback ? '' : `! -d ${loopback} `}${comment} -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS`]
      : nodePortAddresses.map((address) => `-d ${hostRange(address)} ${comment} -j KUBE-NODEPORTS`);
  const entries = [
    ...iptablesJumps(options),
    ...toNode.map((value, index) => ({ container: 'nat KUBE-SERVICES', key: `${lastRuleKey}${index}`, value })),
  ];
  return { chains: Object.entries(chains).map(([name, rules]) => chainOf(name, rules)), entries, sets: [] };
}

/** Returns the rule that lets health checks reach a node port. */
export function healthCheckEntry(service: string, port: number): Entry {
  return {
    container: 'filter KUBE-NODEPORTS',
    key: `tcp ${port}`,
    value: `-p tcp -m comment --comment "${service} health check node port" -m tcp --dport ${port} -j ACCEPT`,
  };
}

/** Returns the rules of the service ports of a Service, all of one family. */
export function iptablesFragment(ports: readonly ServicePort[], options: IptablesOptions): Fragment {
  const chains = new Map<string, Chain>();
  const entries = new Map<string, Entry>();
  for (const port of ports) {
    renderPort(
      withSortedEndpoints(port),
      options,
      (name, rules) => chains.set(name, chainOf(name, rules)),
      (container, key, value) => entries.set(`${container} ${key}`, { container, key, value }),
    );
  }
  return { chains: [...chains.values()], entries: [...entries.values()], sets: [] };
}

type AddChain = (name: string, rules: readonly string[]) => void;
type AddEntry = (container: string, key: string, value: string) => void;

function renderPort(found: ServicePort, options: IptablesOptions, addChain: AddChain, addEntry: AddEntry): void {
  const { clusterIP, externalIPs, loadBalancerIPs, cluster, local, port, nodePort, isInternalLocal, isExternalLocal } =
    found;
  const protocol = found.protocol.toLowerCase();
  const name = portNameOf(found);
  const hash = shortHash(name + protocol, 16);
  const service = `KUBE-SVC-${hash}`;
  const localService = `KUBE-SVL-${hash}`;
  const external = `KUBE-EXT-${hash}`;
  const keyOf = (address: string) => `${hostRange(address)} ${protocol} ${port}`;
  const rule = (address: string, text: string, action: string) =>
    `-d ${hostRange(address)} -p ${protocol} -m comment --comment "${name} ${text}" -m ${protocol} --dport ${port} -j ${action}`;
  const nodePortRule = (action: string) =>
    `-p ${protocol} -m comment --comment "${name}" -m ${protocol} --dport ${nodePort} -j ${action}`;
  const dispatch = (container: string, address: string, text: string, action: string) =>
    addEntry(container, keyOf(address), rule(address, text, action));
  // A reset ends a connection attempt at once; some systems retry after an ICMP error.
  const icmp = options.family === 'IPv4' ? 'icmp-port-unreachable' : 'icmp6-port-unreachable';
  const reject = `REJECT --reject-with ${protocol === 'tcp' ? 'tcp-reset' : icmp}`;
  const externalAddresses = [...new Set([...externalIPs, ...loadBalancerIPs])].filter((each) => each !== clusterIP);
  const kindOf = (address: string) => (loadBalancerIPs.includes(address) ? 'loadbalancer IP' : 'external IP');

  if (!found.hasEndpoints) {
    dispatch('filter KUBE-SERVICES', clusterIP, 'has no endpoints', reject);
    for (const address of externalAddresses) {
      dispatch('filter KUBE-EXTERNAL-SERVICES', address, 'has no endpoints', reject);
      // Packets of this node pass OUTPUT, which has no jump to the external services.
      dispatch('filter KUBE-SERVICES', address, 'has no endpoints', reject);
    }
    if (nodePort) {
      addEntry(
        'filter KUBE-EXTERNAL-SERVICES',
        `nodeport ${protocol} ${nodePort}`,
        `-p ${protocol} -m comment --comment "${name} has no endpoints" -m addrtype --dst-type LOCAL ` +
          `-m ${protocol} --dport ${nodePort} -j ${reject}`,
      );
    }
    return;
  }

  const endpoints = new Map([...cluster, ...local].map((each) => [hostPort(each.address, each.port), each]));
  for (const endpoint of endpoints.values()) {
    const { address } = endpoint;
    const chain = endpointChain(found, endpoint);
    const comment = options.omitComments ? '' : `-m comment --comment "${name}" `;
    const affinity =
      found.affinitySeconds === undefined
        ? ''
        : `-m recent --set --name ${chain} --mask ${fullMask(options.family)} --rsource `;
    addChain(`nat ${chain}`, [
      `-s ${hostRange(address)} ${comment}-j KUBE-MARK-MASQ`,
      `-p ${protocol} ${comment}${affinity}-m ${protocol} -j DNAT --to-destination ${hostPort(address, endpoint.port)}`,
    ]);
  }
  const internalChain = isInternalLocal ? localService : service;
  const { masqueradeAll, localTraffic } = options;
  const masquerade = masqueradeAll ? '' : localTraffic && `! ${from(localTraffic)}`;
  const masqueradeRules =
    masquerade === undefined ? [] : [withSource(rule(clusterIP, 'cluster IP', 'KUBE-MARK-MASQ'), masquerade)];
  if (cluster.length > 0) {
    addChain(`nat ${service}`, [...(isInternalLocal ? [] : masqueradeRules), ...balance(found, cluster, options)]);
  }
  if (local.length > 0) {
    addChain(`nat ${localService}`, [...(isInternalLocal ? masqueradeRules : []), ...balance(found, local, options)]);
  }
  const internalEndpoints = isInternalLocal ? local : cluster;
  if (internalEndpoints.length > 0) dispatch('nat KUBE-SERVICES', clusterIP, 'cluster IP', internalChain);
  else dispatch('filter KUBE-SERVICES', clusterIP, 'has no local endpoints', 'DROP');

  if (!isExternal(found)) return;
  const toService = `-j ${service}`;
  const rules = isExternalLocal
    ? [
        ...(localTraffic
          ? [`${from(localTraffic)} -m comment --comment "pod traffic for ${name} external destinations" ${toService}`]
          : []),
        `-m comment --comment "masquerade LOCAL traffic for ${name} external destinations" -m addrtype --src-type LOCAL -j KUBE-MARK-MASQ`,
        `-m comment --comment "route LOCAL traffic for ${name} external destinations" -m addrtype --src-type LOCAL ${toService}`,
        ...(local.length > 0 ? [`-j ${localService}`] : []),
      ]
    : [`-m comment --comment "masquerade traffic for ${name} external destinations" -j KUBE-MARK-MASQ`, toService];
  addChain(`nat ${external}`, rules);
  const hasFirewall = found.sourceRanges.length > 0 && loadBalancerIPs.length > 0;
  const firewall = `KUBE-FW-${hash}`;
  if (hasFirewall) {
    // The filter table sees the destination after NAT. Sources that this chain does not let pass keep the destination,
    // and are dropped there.
    const toNode = allowsNode(found.sourceRanges, options.nodeAddresses) ? loadBalancerIPs.map(hostRange) : [];
    addChain(
      `nat ${firewall}`,
      [...found.sourceRanges, ...toNode].map(
        (range) => `-s ${range} -m comment --comment "${name} loadbalancer IP" -j ${external}`,
      ),
    );
    for (const address of loadBalancerIPs) {
      dispatch('filter KUBE-PROXY-FIREWALL', address, `traffic not accepted by ${firewall}`, 'DROP');
    }
  }
  for (const address of externalAddresses) {
    const isFiltered = hasFirewall && loadBalancerIPs.includes(address);
    dispatch('nat KUBE-SERVICES', address, kindOf(address), isFiltered ? firewall : external);
  }
  if (nodePort) addEntry('nat KUBE-NODEPORTS', `${protocol} ${nodePort}`, nodePortRule(external));
  if (!isExternalLocal || local.length > 0) return;
  // Packets that no rule above has taken keep their destination, and are dropped in the filter table.
  for (const address of externalAddresses) {
    dispatch('filter KUBE-EXTERNAL-SERVICES', address, 'has no local endpoints', 'DROP');
  }
  if (nodePort) {
    addEntry(
      'filter KUBE-EXTERNAL-SERVICES',
      `nodeport ${protocol} ${nodePort}`,
      `-p ${protocol} -m comment --comment "${name} has no local endpoints" -m addrtype --dst-type LOCAL ` +
        `-m ${protocol} --dport ${nodePort} -j DROP`,
    );
  }
}

function balance(
  found: ServicePort,
  endpoints: readonly ProxyEndpoint[],
  { family, omitComments }: IptablesOptions,
): readonly string[] {
  const name = portNameOf(found);
  const chains = endpoints.map((endpoint) => endpointChain(found, endpoint));
  const comments = endpoints.map(({ address, port }) =>
    omitComments ? '' : `-m comment --comment "${name} -> ${hostPort(address, port)}" `,
  );
  const { affinitySeconds } = found;
  const sticky =
    affinitySeconds === undefined
      ? []
      : chains.map(
          (chain, index) =>
            `${comments[index]}-m recent --rcheck --seconds ${affinitySeconds} --reap --name ${chain} ` +
            `--mask ${fullMask(family)} --rsource -j ${chain}`,
        );
  const random = chains.map((chain, index) => {
    const left = chains.length - index;
    const chance = left > 1 ? `-m statistic --mode random --probability ${probability(1 / left)} ` : '';
    return `${comments[index]}${chance}-j ${chain}`;
  });
  return [...sticky, ...random];
}

/** Formats a probability as the kernel stores it: a fraction of 2^31. */
function probability(value: number): string {
  return (Math.round(value * 2 ** 31) / 2 ** 31).toFixed(11);
}

function endpointChain(found: ServicePort, { address, port }: ProxyEndpoint): string {
  return `KUBE-SEP-${shortHash(portNameOf(found) + found.protocol.toLowerCase() + hostPort(address, port), 16)}`;
}

/** Returns `namespace/name:port`, or `namespace/name` for a port without a name. */
function portNameOf({ service, portName }: ServicePort): string {
  return portName === '' ? service : `${service}:${portName}`;
}

function chainOf(name: string, rules: readonly string[]): Chain {
  return { name, rules, digest: rules.length === 0 ? '' : digestOf(rules) };
}

function markText({ masqueradeBit }: IptablesOptions): string {
  return `0x${(2 ** masqueradeBit).toString(16)}`;
}

function hostRange(address: string): string {
  return `${address}/${address.includes(':') ? 128 : 32}`;
}

function fullMask(family: IPFamily): string {
  return family === 'IPv4' ? '255.255.255.255' : 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff';
}

/** Returns the condition of traffic from Pods on this node. */
function from(local: LocalTraffic): string {
  switch (local.by) {
    case 'cidr':
      return `-s ${local.range}`;
    case 'bridge':
      return `-i ${local.name}`;
    case 'interface-prefix':
      return `-i ${local.prefix}+`;
  }
}

/** Inserts a condition on source or interface where `iptables-save` prints it: around the destination. */
function withSource(rule: string, condition: string): string {
  if (condition === '') return rule;
  if (/^! -s /.test(condition)) return `${condition} ${rule}`;
  return rule.replace(/^(-d \S+)/, `$1 ${condition}`);
}
