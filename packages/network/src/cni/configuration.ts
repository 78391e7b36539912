/**
 * CNI configuration of a node. Every Pod is connected by a routed veth pair (plugin `ptp`), not by a bridge: all
 * traffic of a Pod, also to another Pod of the node, is routed and passes the hooks of nftables, whether or not the
 * kernel has `br_netfilter`.
 */

export type CniConfigurationOptions = {
  /** CIDR blocks of the Pods of the node: at most one of each family. */
  readonly podCidrs: readonly string[];
  readonly mtu: number;
  /** Names of the installed plugins. */
  readonly plugins: ReadonlySet<string>;
  /** Reports whether the plugin `firewall` can work: it calls iptables. */
  readonly hasIptables: boolean;
  /** Directory of the address leases of `host-local`. */
  readonly dataDir?: string;
};

/** A network configuration list. */
export type CniConfiguration = {
  readonly cniVersion: string;
  readonly name: string;
  readonly plugins: readonly PluginConfiguration[];
};

export type PluginConfiguration = { readonly type: string; readonly [field: string]: unknown };

/** File in the configuration directory that belongs to `kruise network`. */
export const configurationFile = '10-kruise.conflist';
export const networkName = 'kruise';

/** Version that the plugins of Debian 12 and later support. */
const cniVersion = '1.0.0';
const requiredPlugins = ['ptp', 'host-local'];

/** Returns the plugins that are missing for a network. */
export function missingPlugins(plugins: ReadonlySet<string>): readonly string[] {
  return requiredPlugins.filter((plugin) => !plugins.has(plugin));
}

/** Returns the configuration of a node: the required plugins, and host ports, bandwidth and firewall if available. */
export function cniConfiguration(options: CniConfigurationOptions): CniConfiguration {
  const { podCidrs, mtu, plugins, hasIptables, dataDir } = options;
  const has4 = podCidrs.some((each) => !each.includes(':'));
  const has6 = podCidrs.some((each) => each.includes(':'));
  const chained: readonly PluginConfiguration[] = [
    { type: 'portmap', capabilities: { portMappings: true }, snat: true },
    { type: 'bandwidth', capabilities: { bandwidth: true } },
    // Docker sets the policy of the FORWARD chain to DROP; this plugin accepts the traffic of Pods there.
    ...(hasIptables ? [{ type: 'firewall', backend: 'iptables' }] : []),
  ];
  return {
    cniVersion,
    name: networkName,
    plugins: [
      {
        type: 'ptp',
        mtu,
        // Pods of other nodes see the address of a Pod; `masquerade.ts` handles the traffic that leaves the cluster.
        ipMasq: false,
        ipam: {
          type: 'host-local',
          ranges: podCidrs.map((subnet) => [{ subnet }]),
          routes: [...(has4 ? [{ dst: '0.0.0.0/0' }] : []), ...(has6 ? [{ dst: '::/0' }] : [])],
          ...(dataDir === undefined ? {} : { dataDir }),
        },
      },
      ...chained.filter(({ type }) => plugins.has(type)),
    ],
  };
}

/** Formats a configuration as the content of its file. */
export function formatConfiguration(configuration: CniConfiguration): string {
  return `${JSON.stringify(configuration, undefined, 2)}\n`;
}

export type ConfigurationFile = { readonly name: string; readonly content: string };

/** Networks that other programs than Kubernetes' network plugins install. */
const otherPrograms = new Set(['podman', 'podman-default-kube-network', 'crio', 'containerd-net', 'lo', 'loopback']);

/**
 * Finds the network of another plugin in the configuration directory. Its files are left alone, and ours is not
 * written. Networks of container tools do not count.
 */
export function findOtherNetwork(
  files: readonly ConfigurationFile[],
): { readonly file: string; readonly network: string } | undefined {
  for (const { name: file, content } of files.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (file === configurationFile || !/\.(conflist|conf|json)$/.test(file)) continue;
    const network = networkOf(content);
    if (network !== undefined && !otherPrograms.has(network)) return { file, network };
  }
  return undefined;
}

/** Returns the name of the network of a file; undefined if the file is not a usable configuration. */
function networkOf(content: string): string | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(content);
  } catch {
    // Runtimes skip such files, too.
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null) return undefined;
  const { name, type, plugins } = parsed as { name?: unknown; type?: unknown; plugins?: unknown };
  const types = Array.isArray(plugins) ? plugins.map((each: { type?: unknown } | null) => each?.type) : [type];
  const isUsable = types.some((each) => typeof each === 'string' && each !== 'loopback');
  return isUsable && typeof name === 'string' ? name : undefined;
}
