/** The flags of components, as Kubernetes names them. Nothing is loaded for them: every command pays for this file. */
import type { Command } from 'commander';

/** The flags every component has, as Kubernetes names them. */
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

/** Adds the flags every component has. */
export function componentFlags(
  command: Command,
  { name, port }: { readonly name: string; readonly port: number },
): Command {
  return command
    .option('--kubeconfig <file>', 'the cluster it works for (default: the one kubectl uses, or the Pod it is in)')
    .option('--leader-elect [bool]', 'work only while holding the lease, so that several can stand by', 'true')
    .option('--leader-elect-lease-duration <duration>', 'how long others wait for a leader that is silent', '15s')
    .option('--leader-elect-renew-deadline <duration>', 'how long a leader tries to renew before it gives up', '10s')
    .option('--leader-elect-retry-period <duration>', 'how long to wait between attempts', '2s')
    .option('--leader-elect-resource-name <name>', 'the name of the lease', name)
    .option('--leader-elect-resource-namespace <namespace>', 'the namespace of the lease', 'kube-system')
    .option('--bind-address <address>', 'where health and metrics are served', '127.0.0.1')
    .option('--secure-port <port>', 'on which port; 0 serves none', String(port))
    .option('--tls-cert-file <file>', 'the certificate to show there (default: one of its own making)')
    .option('--tls-private-key-file <file>', 'the key of the certificate');
}

/** Adds the flags that kruise-manager and kruise-daemon share: verbosity, the rate of requests, profiles. */
export function clientFlags(command: Command): Command {
  return command
    .option('--v <level>', 'verbosity of logs; from 6 on every request to the API server is logged', '0')
    .option('--rest-config-qps <count>', 'requests to the API server per second; 0 for no limit', '0')
    .option('--rest-config-burst <count>', 'requests at once beyond --rest-config-qps (0: 30)', '0')
    .option(
      '--enable-pprof [bool]',
      'serve CPU profiles, in V8 format, at /debug/pprof/profile (default: with --pprof-addr)',
    )
    .option('--pprof-addr <address>', 'where profiles are served');
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
      "which controllers run: '*' the usual ones, 'name' this one, '-name' not this one",
      '*',
    )
    .option('--use-service-account-credentials [bool]', 'give each controller the rights of its own account', 'true')
    .option('--root-ca-file <file>', "the authorities Pods trust (default: the kubeconfig's)")
    .option('--cluster-signing-cert-file <file>', 'the certificate of the authority that signs requests')
    .option('--cluster-signing-key-file <file>', 'the key of the authority that signs requests')
    .option('--service-account-private-key-file <file>', 'the key that signs the tokens of service-account Secrets')
    .option('--cluster-cidr <ranges>', 'the addresses of Pods, separated by commas')
    .option('--allocate-node-cidrs [bool]', 'give each node a part of the addresses of Pods')
    .option('--service-cluster-ip-range <ranges>', 'the addresses of Services, separated by commas')
    .option('--terminated-pod-gc-threshold <count>', 'how many Pods that have ended are kept (default: 12500)');
}

export type SchedulerFlags = ComponentOptions & { readonly config?: string };

/** Adds the flags of kube-scheduler. */
export function schedulerFlags(command: Command): Command {
  return componentFlags(command, { name: 'kube-scheduler', port: 10259 }).option(
    '--config <file>',
    'a KubeSchedulerConfiguration: profiles, plugins, how many nodes to score',
  );
}

/** How controllers of nodes, Services and sizes go about it. */
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
    .option('--node-monitor-period <duration>', 'how often to look for nodes that fell silent (default: 5s)')
    .option('--node-monitor-grace-period <duration>', 'how long a node may be silent (default: 50s)')
    .option('--node-startup-grace-period <duration>', 'how long one that never spoke may be (default: 1m)')
    .option('--node-eviction-rate <number>', 'how many nodes of a zone are given up a second (default: 0.1)')
    .option('--secondary-node-eviction-rate <number>', 'how many where much of a zone is down (default: 0.01)')
    .option('--large-cluster-size-threshold <count>', 'a zone of fewer nodes is then left alone (default: 50)')
    .option('--unhealthy-zone-threshold <number>', 'which part of a zone is much (default: 0.55)')
    .option('--node-cidr-mask-size <bits>', 'how large the part of a node is, in a cluster of one family')
    .option('--node-cidr-mask-size-ipv4 <bits>', 'the same of IPv4 (default: 24)')
    .option('--node-cidr-mask-size-ipv6 <bits>', 'the same of IPv6 (default: 64)')
    .option('--max-endpoints-per-slice <count>', 'how many endpoints a slice has (default: 100)')
    .option(`--${autoscaler}-sync-period <duration>`, 'how often to size workloads (default: 15s)')
    .option(`--${autoscaler}-downscale-stabilization <duration>`, 'how long before they shrink (default: 5m)')
    .option(`--${autoscaler}-tolerance <number>`, 'how far off the target nothing is done (default: 0.1)')
    .option(`--${autoscaler}-cpu-initialization-period <duration>`, 'how long Pods take to start (default: 5m)')
    .option(`--${autoscaler}-initial-readiness-delay <duration>`, 'and to become ready at first (default: 30s)');
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
    .option('--cloud-provider <name>', 'the cloud: local, for a cluster that is in none', 'local')
    .option('--load-balancer-range <ranges>', 'the addresses of load balancers, separated by commas', '198.18.0.0/24')
    .option('--controllers <names>', "which controllers run: '*' all, 'name' this one, '-name' not this one", '*')
    .option('--use-service-account-credentials [bool]', 'give each controller the rights of its own account', 'true')
    .option('--cluster-cidr <ranges>', 'the addresses of Pods, separated by commas');
}
