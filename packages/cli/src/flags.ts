/** Flags of the components, named as in Kubernetes. Every command loads this file, so it imports no other code. */
import type { Command } from 'commander';

/** Flags that every component has, named as in Kubernetes. */
export type ComponentOptions = {
  readonly kubeconfig?: string;
  readonly leaderElect: string | boolean;
  readonly leaderElectLeaseDuration: string;
  readonly leaderElectRenewDeadline: string;
  readonly leaderElectRetryPeriod: string;
  readonly leaderElectResourceName: string;
  readonly leaderElectResourceNamespace: string;
  readonly bindAddress: string;
  readonly securePort: string;
  readonly tlsCertFile?: string;
  readonly tlsPrivateKeyFile?: string;
};

/** Adds the flags that every component has. */
export function componentFlags(
  command: Command,
  { name, port }: { readonly name: string; readonly port: number },
): Command {
  return command
    .option('--kubeconfig <file>', 'path to a kubeconfig file (default: kubectl rules or in-cluster config)')
    .option('--leader-elect [bool]', 'acquire a lease before running, for high availability with replicas', 'true')
    .option(
      '--leader-elect-lease-duration <duration>',
      'time that non-leaders wait before they acquire the lease',
      '15s',
    )
    .option(
      '--leader-elect-renew-deadline <duration>',
      'time that the leader retries a renewal before it stops leading',
      '10s',
    )
    .option('--leader-elect-retry-period <duration>', 'wait between attempts to acquire or renew the lease', '2s')
    .option('--leader-elect-resource-name <name>', 'name of the Lease', name)
    .option('--leader-elect-resource-namespace <namespace>', 'namespace of the Lease', 'kube-system')
    .option('--bind-address <address>', 'IP address to serve health and metrics on', '127.0.0.1')
    .option('--secure-port <port>', 'port to serve health and metrics on; 0 disables serving', String(port))
    .option('--tls-cert-file <file>', 'serving certificate (default: self-signed)')
    .option('--tls-private-key-file <file>', 'private key of --tls-cert-file');
}

/** Adds the flags that kruise-manager and kruise-daemon share: verbosity, client rate limit and profiling. */
export function clientFlags(command: Command): Command {
  return command
    .option('--v <level>', 'log verbosity; from 6 on every API request is logged', '0')
    .option('--rest-config-qps <count>', 'maximum API requests per second; 0 for no limit', '0')
    .option('--rest-config-burst <count>', 'burst of API requests beyond --rest-config-qps (0: 30)', '0')
    .option(
      '--enable-pprof [bool]',
      'serve CPU profiles, in V8 format, at /debug/pprof/profile (default: with --pprof-addr)',
    )
    .option('--pprof-addr <address>', 'address to serve profiles on');
}

export type ControllerManagerFlags = ComponentOptions &
  TuningFlags & {
    readonly controllers: string;
    readonly useServiceAccountCredentials: string | boolean;
    readonly rootCaFile?: string;
    readonly clusterSigningCertFile?: string;
    readonly clusterSigningKeyFile?: string;
    readonly serviceAccountPrivateKeyFile?: string;
    readonly clusterCidr?: string;
    readonly allocateNodeCidrs?: string | boolean;
    readonly serviceClusterIpRange?: string;
    readonly terminatedPodGcThreshold?: string;
  };

/** Adds the flags of kube-controller-manager. */
export function controllerManagerFlags(command: Command): Command {
  return tuningFlags(componentFlags(command, { name: 'kube-controller-manager', port: 10257 }))
    .option(
      '--controllers <names>',
      "controllers to enable: '*' enables those that are on by default, 'name' enables and '-name' disables one",
      '*',
    )
    .option('--use-service-account-credentials [bool]', 'use a separate service account for each controller', 'true')
    .option('--root-ca-file <file>', "root CA bundle published to Pods (default: the kubeconfig's CA)")
    .option('--cluster-signing-cert-file <file>', 'certificate of the CA that signs CertificateSigningRequests')
    .option('--cluster-signing-key-file <file>', 'private key of the CA that signs CertificateSigningRequests')
    .option('--service-account-private-key-file <file>', 'private key that signs service account token Secrets')
    .option('--cluster-cidr <ranges>', 'CIDR ranges of Pod IPs, comma-separated')
    .option('--allocate-node-cidrs [bool]', 'allocate a Pod CIDR for each node')
    .option('--service-cluster-ip-range <ranges>', 'CIDR ranges of Service IPs, comma-separated')
    .option('--terminated-pod-gc-threshold <count>', 'terminated Pods to keep before Pod GC (default: 12500)');
}

export type SchedulerFlags = ComponentOptions & { readonly config?: string };

/** Adds the flags of kube-scheduler. */
export function schedulerFlags(command: Command): Command {
  return componentFlags(command, { name: 'kube-scheduler', port: 10259 }).option(
    '--config <file>',
    'KubeSchedulerConfiguration file: profiles, plugins, extenders, percentageOfNodesToScore',
  );
}

/** Flags of the node, EndpointSlice and HorizontalPodAutoscaler controllers. */
export type TuningFlags = {
  readonly nodeMonitorPeriod?: string;
  readonly nodeMonitorGracePeriod?: string;
  readonly nodeStartupGracePeriod?: string;
  readonly nodeEvictionRate?: string;
  readonly secondaryNodeEvictionRate?: string;
  readonly largeClusterSizeThreshold?: string;
  readonly unhealthyZoneThreshold?: string;
  readonly nodeCidrMaskSize?: string;
  readonly nodeCidrMaskSizeIpv4?: string;
  readonly nodeCidrMaskSizeIpv6?: string;
  readonly maxEndpointsPerSlice?: string;
  readonly horizontalPodAutoscalerSyncPeriod?: string;
  readonly horizontalPodAutoscalerDownscaleStabilization?: string;
  readonly horizontalPodAutoscalerTolerance?: string;
  readonly horizontalPodAutoscalerCpuInitializationPeriod?: string;
  readonly horizontalPodAutoscalerInitialReadinessDelay?: string;
};

function tuningFlags(command: Command): Command {
  const autoscaler = 'horizontal-pod-autoscaler';
  return command
    .option('--node-monitor-period <duration>', 'period of node health checks (default: 5s)')
    .option('--node-monitor-grace-period <duration>', 'time a node may be unresponsive (default: 50s)')
    .option('--node-startup-grace-period <duration>', 'the same while the node starts (default: 1m)')
    .option('--node-eviction-rate <number>', 'nodes per second to evict from a healthy zone (default: 0.1)')
    .option('--secondary-node-eviction-rate <number>', 'the same in an unhealthy zone (default: 0.01)')
    .option('--large-cluster-size-threshold <count>', 'smaller unhealthy zones are not evicted (default: 50)')
    .option(
      '--unhealthy-zone-threshold <number>',
      'fraction of NotReady nodes that makes a zone unhealthy (default: 0.55)',
    )
    .option('--node-cidr-mask-size <bits>', 'mask size of node CIDRs in a single-stack cluster')
    .option('--node-cidr-mask-size-ipv4 <bits>', 'mask size of IPv4 node CIDRs (default: 24)')
    .option('--node-cidr-mask-size-ipv6 <bits>', 'mask size of IPv6 node CIDRs (default: 64)')
    .option('--max-endpoints-per-slice <count>', 'maximum endpoints per EndpointSlice (default: 100)')
    .option(`--${autoscaler}-sync-period <duration>`, 'period of autoscaling (default: 15s)')
    .option(`--${autoscaler}-downscale-stabilization <duration>`, 'look-back window before scale-down (default: 5m)')
    .option(`--${autoscaler}-tolerance <number>`, 'change of the metric ratio to ignore (default: 0.1)')
    .option(
      `--${autoscaler}-cpu-initialization-period <duration>`,
      'time without CPU samples after start (default: 5m)',
    )
    .option(`--${autoscaler}-initial-readiness-delay <duration>`, 'time of initial readiness changes (default: 30s)');
}

export type CloudControllerManagerFlags = ComponentOptions & {
  readonly cloudProvider: string;
  readonly loadBalancerRange: string;
  readonly controllers: string;
  readonly useServiceAccountCredentials: string | boolean;
  readonly clusterCidr?: string;
};

/** Adds the flags of cloud-controller-manager. */
export function cloudControllerManagerFlags(command: Command): Command {
  return componentFlags(command, { name: 'cloud-controller-manager', port: 10258 })
    .option('--cloud-provider <name>', 'cloud provider; only local is built in', 'local')
    .option('--load-balancer-range <ranges>', 'CIDR ranges of load balancer IPs, comma-separated', '198.18.0.0/24')
    .option('--controllers <names>', "controllers to enable: '*' for all, 'name' enables and '-name' disables one", '*')
    .option('--use-service-account-credentials [bool]', 'use a separate service account for each controller', 'true')
    .option('--cluster-cidr <ranges>', 'CIDR ranges of Pod IPs, comma-separated');
}
