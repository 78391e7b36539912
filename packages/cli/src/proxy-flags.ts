import type { Command } from 'commander';
import { addFixedFlags, type FixedFlag, loggingFlags } from './fixed-flags.ts';

/** Flags of `kruise proxy`, named as in kube-proxy. */
export type ProxyFlags = {
  readonly config?: string;
  readonly kubeconfig?: string;
  readonly hostnameOverride?: string;
  readonly proxyMode: string;
  readonly bindAddress: string;
  readonly bindAddressHardFail?: string | boolean;
  readonly clusterCidr: string;
  readonly detectLocalMode: string;
  readonly podBridgeInterface: string;
  readonly podInterfaceNamePrefix: string;
  readonly nodeportAddresses: string;
  readonly masqueradeAll?: string | boolean;
  readonly iptablesMasqueradeBit: string;
  readonly iptablesLocalhostNodeports: string | boolean;
  readonly iptablesMinSyncPeriod: string;
  readonly iptablesSyncPeriod: string;
  readonly configSyncPeriod: string;
  readonly healthzBindAddress: string;
  readonly metricsBindAddress: string;
  readonly oomScoreAdj: string;
  readonly conntrackMaxPerCore: string;
  readonly conntrackMin: string;
  readonly conntrackTcpBeLiberal?: string | boolean;
  readonly conntrackTcpTimeoutEstablished: string;
  readonly conntrackTcpTimeoutCloseWait: string;
  readonly conntrackUdpTimeout: string;
  readonly conntrackUdpTimeoutStream: string;
  readonly cleanup?: string | boolean;
};

/** Flags that accept only the values that match the actual behaviour. */
const fixedProxyFlags: readonly FixedFlag[] = [
  ...loggingFlags.filter(({ flags }) => /^--(logging-format|log-flush-frequency|vmodule) /.test(flags)),
  { flags: '--profiling [bool]', accepted: ['false', 'f', '0'], instead: 'use node --cpu-prof' },
  { flags: '--feature-gates <gates>', accepted: [''], instead: 'kube-proxy has no feature gates that are off' },
];

export function proxyFlags(command: Command): Command {
  command
    .option('--config <file>', 'path to a KubeProxyConfiguration file; other flags are then ignored')
    .option('--kubeconfig <file>', 'path to a kubeconfig file (default: kubectl rules or in-cluster config)')
    .option('--hostname-override <name>', 'name of the Node that kube-proxy is running on (default: the hostname)')
    .option(
      '--proxy-mode <mode>',
      'which proxy mode to use: nftables or iptables (default: nftables where kernel and nft support it)',
      '',
    )
    .option('--bind-address <address>', 'IP of the node if its Node object has none; no sockets bind to it', '0.0.0.0')
    .option('--bind-address-hard-fail [bool]', 'treat failure to bind to a port as fatal and exit')
    .option(
      '--cluster-cidr <ranges>',
      'CIDR range of the Pods in the cluster, or a comma-separated dual-stack pair; with --detect-local-mode ' +
        'ClusterCIDR, traffic from it is local',
      '',
    )
    .option(
      '--detect-local-mode <mode>',
      'mode to use to detect local traffic: ClusterCIDR, NodeCIDR, BridgeInterface or InterfaceNamePrefix',
      'ClusterCIDR',
    )
    .option(
      '--pod-bridge-interface <name>',
      'bridge whose traffic is local with --detect-local-mode BridgeInterface',
      '',
    )
    .option(
      '--pod-interface-name-prefix <prefix>',
      'prefix of the interfaces whose traffic is local with --detect-local-mode InterfaceNamePrefix',
      '',
    )
    .option(
      '--nodeport-addresses <ranges>',
      "CIDR ranges of the node IPs that accept NodePort connections, comma-separated, or 'primary' for the node's " +
        'primary IPs (default: primary with nftables, all with iptables)',
      '',
    )
    .option('--masquerade-all [bool]', 'SNAT all traffic sent via Service cluster IPs')
    .option(
      '--iptables-masquerade-bit <bit>',
      'bit of the fwmark space that marks packets requiring SNAT (0 to 31)',
      '14',
    )
    .option(
      '--iptables-localhost-nodeports [bool]',
      'allow NodePorts on localhost (iptables mode and IPv4 only)',
      'true',
    )
    .option('--iptables-min-sync-period <duration>', 'minimum period between rule resyncs, in each mode', '1s')
    .option('--iptables-sync-period <duration>', 'interval of checks and cleanup operations, in each mode', '30s')
    .option('--config-sync-period <duration>', 'how often configuration from the API server is refreshed', '15m')
    .option('--healthz-bind-address <address>', 'IP address and port of the health check server', '0.0.0.0:10256')
    .option('--metrics-bind-address <address>', 'IP address and port of the metrics server', '127.0.0.1:10249')
    .option('--oom-score-adj <score>', 'oom-score-adj value of the process', '-999')
    .option(
      '--conntrack-max-per-core <count>',
      'maximum NAT connections per CPU core; 0 leaves the limit as it is',
      '32768',
    )
    .option('--conntrack-min <count>', 'minimum conntrack entries, regardless of --conntrack-max-per-core', '131072')
    .option('--conntrack-tcp-be-liberal [bool]', 'accept out-of-window TCP packets (nf_conntrack_tcp_be_liberal)')
    .option('--conntrack-tcp-timeout-established <duration>', 'idle timeout of TCP connections; 0 leaves it', '24h')
    .option('--conntrack-tcp-timeout-close-wait <duration>', 'NAT timeout of connections in CLOSE_WAIT', '1h')
    .option('--conntrack-udp-timeout <duration>', 'idle timeout of UNREPLIED UDP connections; 0 leaves it', '0s')
    .option('--conntrack-udp-timeout-stream <duration>', 'idle timeout of ASSURED UDP connections; 0 leaves it', '0s')
    .option('--cleanup [bool]', 'remove all rules of kube-proxy and exit');
  return addFixedFlags(command, fixedProxyFlags);
}
