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

export type ControllerManagerFlags = ComponentOptions & {
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
  return componentFlags(command, { name: 'kube-controller-manager', port: 10257 })
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
