/** Flags of `kruise dns`. The main program loads this file, so it imports no other code. */
import type { Command } from 'commander';

export type DnsFlags = {
  readonly kubeconfig?: string;
  readonly bindAddress?: string;
  readonly port: string;
  readonly clusterDomain: string;
  readonly reverseZones?: string;
  readonly ttl: string;
  readonly resolvConf: string;
  readonly upstream?: readonly string[];
  readonly stubDomain?: readonly string[];
  readonly configDir?: string;
  readonly configPeriod: string;
  readonly cache: string;
  readonly serveStale: string;
  readonly healthPort: string;
  readonly readyPort: string;
  readonly metricsPort: string;
  readonly lameduck: string;
};

/** Adds the flags of `kruise dns`. */
export function dnsFlags(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'path to a kubeconfig file (default: kubectl rules or in-cluster config)')
    .option('--bind-address <addresses>', 'comma-separated IP addresses to listen on (default: 0.0.0.0 and ::)')
    .option('--port <port>', 'port to serve DNS on, over UDP and TCP', '53')
    .option('--cluster-domain <domains>', 'comma-separated domains of the cluster', 'cluster.local')
    .option('--reverse-zones <zones>', 'comma-separated zones of PTR records (default: in-addr.arpa and ip6.arpa)')
    .option('--ttl <duration>', 'time to live of the records of the cluster', '30s')
    .option('--resolv-conf <file>', 'file with the upstream servers for all other names', '/etc/resolv.conf')
    .option('--upstream <address...>', 'upstream servers, with an optional port, instead of those of --resolv-conf')
    .option('--stub-domain <domain=addresses...>', 'servers of a domain, for example acme.local=10.0.0.1,10.0.0.2:5353')
    .option(
      '--config-dir <directory>',
      'directory with the files stubDomains and upstreamNameservers, in JSON, as in the ConfigMap kube-dns; overrides the flags',
    )
    .option('--config-period <duration>', 'period of reading --config-dir and --resolv-conf again', '10s')
    .option(
      '--cache <duration>',
      'maximum time to cache the responses of upstream servers; 0s disables the cache',
      '30s',
    )
    .option('--serve-stale <duration>', 'time to serve expired responses for while they are refreshed', '0s')
    .option('--health-port <port>', 'port of /health; -1 disables it', '8080')
    .option('--ready-port <port>', 'port of /ready; -1 disables it', '8181')
    .option('--metrics-port <port>', 'port of /metrics; -1 disables it', '9153')
    .option('--lameduck <duration>', 'time to answer queries for after the signal to stop', '5s');
}
