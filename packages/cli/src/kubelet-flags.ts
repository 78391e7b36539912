import type { Command } from 'commander';

/** What `kruise kubelet` can be told, by the names kubelets have for it. */
export type KubeletFlags = {
  readonly kubeconfig?: string;
  readonly bootstrapKubeconfig?: string;
  readonly hostnameOverride?: string;
  readonly nodeIp?: string;
  readonly nodeLabels?: string;
  readonly registerWithTaints?: string;
  readonly containerRuntimeEndpoint: string;
  readonly rootDir: string;
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
  readonly featureGates: string;
  readonly registryQps: string;
  readonly registryBurst: string;
  readonly evictionHard?: string;
  readonly evictionSoft: string;
  readonly evictionSoftGracePeriod: string;
  readonly evictionMaxPodGracePeriod: string;
  readonly kubeReserved?: string;
  readonly systemReserved?: string;
};

export function kubeletFlags(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'how to reach the cluster; with --bootstrap-kubeconfig it is written')
    .option('--bootstrap-kubeconfig <file>', 'credentials that are good for asking for a certificate')
    .option('--hostname-override <name>', 'what the node is called (default: as the machine)')
    .option('--node-ip <address>', 'the address of the node')
    .option('--node-labels <labels>', 'labels the node gets when it registers: a=b,c=d')
    .option('--register-with-taints <taints>', 'taints the node gets when it registers: key=value:effect')
    .option(
      '--container-runtime-endpoint <url>',
      'the runtime: unix:///run/containerd/containerd.sock, or simulated',
      'unix:///run/containerd/containerd.sock',
    )
    .option('--root-dir <dir>', 'where volumes of Pods are', '/var/lib/kubelet')
    .option('--cert-dir <dir>', 'where certificates are (default: pki in the root directory)')
    .option('--client-ca-file <file>', 'the authority of those who may ask the kubelet')
    .option('--address <address>', 'where its API is served', '0.0.0.0')
    .option('--port <port>', 'where its API is served', '10250')
    .option('--healthz-port <port>', 'where its health is served to this machine; 0 for nowhere', '10248')
    .option('--pod-manifest-path <dir>', 'a folder of Pods to run')
    .option('--cluster-dns <addresses>', 'whom Pods ask for names', '10.96.0.10')
    .option('--cluster-domain <domain>', 'the domain of services', 'cluster.local')
    .option('--max-pods <count>', 'how many Pods may run', '110')
    .option('--container-log-max-size <size>', 'the size at which the log of a container is put away', '10Mi')
    .option('--container-log-max-files <count>', 'how many files of logs a container has at most', '5')
    .option('--daemon-kubeconfig <file>', 'runs kruise-daemon as well, which reaches the cluster like this')
    .option(
      '--feature-gates <gates>',
      'EventedPLEG=false has it ask for containers once a second, as Kubernetes does; and those of kruise-daemon',
      '',
    )
    .option('--rotate-server-certificates', "ask the cluster for the certificate of the kubelet's API")
    .option('--registry-qps <count>', 'how many images are pulled a second; 0 for any number', '5')
    .option('--registry-burst <count>', 'how many images may be pulled at once beyond that', '10')
    .option('--kube-reserved <amounts>', 'what is for the kubelet and not for Pods: cpu=200m,memory=500Mi')
    .option('--system-reserved <amounts>', 'what is for the system and not for Pods')
    .option(
      '--eviction-hard <thresholds>',
      'below what Pods are evicted at once: memory.available<100Mi,nodefs.available<10%',
    )
    .option('--eviction-soft <thresholds>', 'below what they are evicted if it lasts', '')
    .option('--eviction-soft-grace-period <periods>', 'how long that has to last: memory.available=1m30s', '')
    .option('--eviction-max-pod-grace-period <seconds>', 'what they are then given at most', '0');
}
