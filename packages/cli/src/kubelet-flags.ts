import type { Command } from 'commander';

/** Flags of `kruise kubelet`, named as in the kubelet. */
export type KubeletFlags = {
  readonly config?: string;
  readonly configDir?: string;
  readonly podInfraContainerImage?: string;
  readonly kubeconfig?: string;
  readonly bootstrapKubeconfig?: string;
  readonly hostnameOverride?: string;
  readonly nodeIp?: string;
  readonly nodeLabels?: string;
  readonly registerWithTaints?: string;
  readonly containerRuntimeEndpoint: string;
  readonly rootDir: string;
  readonly podLogsDir: string;
  readonly cgroupRoot?: string;
  readonly certDir?: string;
  readonly clientCaFile?: string;
  readonly address: string;
  readonly port: string;
  readonly healthzPort: string;
  readonly podManifestPath?: string;
  readonly clusterDns: string;
  readonly clusterDomain: string;
  readonly maxPods: string;
  readonly containerLogMaxSize: string;
  readonly containerLogMaxFiles: string;
  readonly rotateServerCertificates?: boolean;
  readonly daemonKubeconfig?: string;
  readonly imageCredentialProviderConfig?: string;
  readonly imageCredentialProviderBinDir?: string;
  readonly featureGates: string;
  readonly registryQps: string;
  readonly registryBurst: string;
  readonly evictionHard?: string;
  readonly evictionSoft: string;
  readonly evictionSoftGracePeriod: string;
  readonly evictionMaxPodGracePeriod: string;
  readonly kubeReserved?: string;
  readonly systemReserved?: string;
  readonly kubeReservedCgroup?: string;
  readonly systemReservedCgroup?: string;
  readonly cgroupsPerQos: string;
  readonly cgroupDriver: string;
  readonly enforceNodeAllocatable: string;
  readonly podMaxPids: string;
  readonly cpuCfsQuota: string;
  readonly cpuCfsQuotaPeriod: string;
  readonly memorySwapBehavior: string;
  readonly oomScoreAdj: string;
};

export function kubeletFlags(command: Command): Command {
  return command
    .option('--config <file>', 'KubeletConfiguration file; flags override its fields')
    .option('--config-dir <dir>', 'directory of *.conf drop-ins that are merged into --config in lexical order')
    .option('--pod-infra-container-image <image>', 'accepted for kubeadm; the container runtime has its own setting')
    .option('--kubeconfig <file>', 'path to a kubeconfig file; written if --bootstrap-kubeconfig is set')
    .option('--bootstrap-kubeconfig <file>', 'kubeconfig used to request the client certificate')
    .option('--hostname-override <name>', 'name of the node (default: the hostname)')
    .option('--node-ip <address>', 'IP address of the node')
    .option('--node-labels <labels>', 'labels to add when the node registers: a=b,c=d')
    .option('--register-with-taints <taints>', 'taints to register the node with: key=value:effect')
    .option(
      '--container-runtime-endpoint <url>',
      'endpoint of the container runtime, or simulated for simulated containers',
      'unix:///run/containerd/containerd.sock',
    )
    .option('--root-dir <dir>', 'directory for kubelet files such as volume mounts', '/var/lib/kubelet')
    .option('--pod-logs-dir <dir>', 'directory of the logs of Pods', '/var/log/pods')
    .option(
      '--cgroup-root <path>',
      'root cgroup of the Pods, created if missing; separates several kubelets of one machine',
    )
    .option('--cgroups-per-qos [value]', 'create a cgroup for each QoS class and each Pod', 'true')
    .option(
      '--cgroup-driver <driver>',
      'driver for cgroups, cgroupfs or systemd, if the container runtime does not report its own',
      'cgroupfs',
    )
    .option(
      '--enforce-node-allocatable <names>',
      'levels of node allocatable to enforce, comma-separated: none, pods, system-reserved, kube-reserved',
      'pods',
    )
    .option('--pod-max-pids <count>', 'maximum number of processes per Pod; -1 for no limit', '-1')
    .option('--cpu-cfs-quota [value]', 'enforce CPU limits by CFS quota', 'true')
    .option('--cpu-cfs-quota-period <duration>', 'CFS quota period, from 1ms to 1s', '100ms')
    .option(
      '--memory-swap-behavior <behavior>',
      'swap of containers: NoSwap, or LimitedSwap for Burstable Pods under cgroup v2 (memorySwap.swapBehavior)',
      'NoSwap',
    )
    .option('--oom-score-adj <value>', 'oom-score-adj of the kubelet process, from -1000 to 1000', '-999')
    .option('--cert-dir <dir>', 'directory of the TLS certificates (default: pki in --root-dir)')
    .option('--client-ca-file <file>', 'CA bundle that authenticates client certificates')
    .option('--address <address>', 'IP address of the kubelet API', '0.0.0.0')
    .option('--port <port>', 'port of the kubelet API', '10250')
    .option('--healthz-port <port>', 'port of the localhost healthz endpoint; 0 disables it', '10248')
    .option('--pod-manifest-path <dir>', 'directory of static Pod manifests')
    .option('--cluster-dns <addresses>', 'DNS server IP addresses for Pods, comma-separated', '10.96.0.10')
    .option('--cluster-domain <domain>', 'DNS domain of the cluster', 'cluster.local')
    .option('--max-pods <count>', 'maximum number of Pods on the node', '110')
    .option('--container-log-max-size <size>', 'size at which a container log file is rotated', '10Mi')
    .option('--container-log-max-files <count>', 'maximum number of log files per container, at least 2', '5')
    .option('--daemon-kubeconfig <file>', 'also run kruise-daemon, with this kubeconfig')
    .option('--image-credential-provider-config <file>', 'configuration file of credential provider plugins')
    .option('--image-credential-provider-bin-dir <dir>', 'directory of credential provider plugin binaries')
    .option(
      '--feature-gates <gates>',
      'feature gates of the kubelet and kruise-daemon; EventedPLEG=false relists containers every second',
      '',
    )
    .option('--rotate-server-certificates', 'request and rotate the serving certificate through the API server')
    .option('--registry-qps <count>', 'maximum image pulls per second; 0 for no limit', '5')
    .option('--registry-burst <count>', 'burst of image pulls beyond --registry-qps', '10')
    .option('--kube-reserved <amounts>', 'resources reserved for Kubernetes: cpu=200m,memory=500Mi')
    .option('--system-reserved <amounts>', 'resources reserved for the system: cpu=200m,memory=500Mi')
    .option('--kube-reserved-cgroup <path>', 'existing cgroup that --enforce-node-allocatable=kube-reserved limits')
    .option('--system-reserved-cgroup <path>', 'existing cgroup that --enforce-node-allocatable=system-reserved limits')
    .option(
      '--eviction-hard <thresholds>',
      'eviction thresholds without grace period: memory.available<100Mi,nodefs.available<10%',
    )
    .option('--eviction-soft <thresholds>', 'eviction thresholds with grace period: memory.available<1.5Gi', '')
    .option('--eviction-soft-grace-period <periods>', 'grace periods of --eviction-soft: memory.available=1m30s', '')
    .option('--eviction-max-pod-grace-period <seconds>', 'maximum termination grace period of soft evictions', '0');
}

/** Returns the names of the flags on the command line; the others have their defaults. */
export function givenFlags(command: Command): ReadonlySet<string> {
  const names = command.options.map((option) => option.attributeName());
  return new Set(names.filter((name) => command.getOptionValueSource(name) === 'cli'));
}
