import type { Command } from 'commander';

/** Flags of `kruise network`. */
export type NetworkFlags = {
  readonly kubeconfig?: string;
  readonly hostnameOverride?: string;
  readonly networkPolicies: string;
  readonly podNetwork: string;
  readonly cniConfig: string;
  readonly cniConfDir: string;
  readonly cniBinDir: string;
  readonly podCidr?: string;
  readonly mtu: string;
  readonly routeMode: string;
  readonly vxlanId: string;
  readonly vxlanPort: string;
  readonly masquerade: string;
  readonly healthzBindAddress: string;
  readonly cleanup?: boolean;
};

export function networkFlags(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'path to a kubeconfig file (default: kubectl rules or in-cluster config)')
    .option('--hostname-override <name>', 'name of the node (default: $NODE_NAME or the hostname)')
    .option('--network-policies <bool>', 'enforce NetworkPolicy with nftables', 'true')
    .option('--pod-network <bool>', 'set up the Pod network: routes, masquerading and CNI configuration', 'true')
    .option('--cni-config <bool>', 'write a CNI configuration unless another network plugin is installed', 'true')
    .option('--cni-conf-dir <dir>', 'directory of CNI configurations', '/etc/cni/net.d')
    .option('--cni-bin-dir <dirs>', 'directories of the CNI plugins, comma-separated', '/opt/cni/bin,/usr/lib/cni')
    .option('--pod-cidr <cidrs>', "CIDRs of the Pods of this node, comma-separated (default: the Node's spec.podCIDRs)")
    .option('--mtu <bytes>', "MTU of Pods; 0 derives it from the interface of the node's address", '0')
    .option(
      '--route-mode <mode>',
      'routes to Pods of other nodes: auto (VXLAN unless on a common link), direct, vxlan or none',
      'auto',
    )
    .option('--vxlan-id <id>', 'VXLAN network identifier, the same on all nodes', '4096')
    .option('--vxlan-port <port>', 'UDP port of VXLAN, the same on all nodes', '4789')
    .option('--masquerade <bool>', 'masquerade Pod traffic that leaves the cluster', 'true')
    .option('--healthz-bind-address <address>', 'address of health and metrics; port 0 disables it', '127.0.0.1:10268')
    .option('--cleanup', 'remove the nftables tables, routes and CNI configuration of kruise network, and exit');
}
