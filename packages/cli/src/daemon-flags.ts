import type { Command } from 'commander';

/** What `kruise daemon` can be told, by the names kruise-daemon has for it. */
export type DaemonFlags = {
  readonly kubeconfig?: string;
  readonly addr: string;
  readonly socketFile: string;
  readonly containerRuntimeEndpoint?: string;
  readonly maxWorkersForPullImage: string;
  readonly featureGates: string;
};

/** Flags that manifests pass, and that mean nothing here. */
const unheeded = [
  '--v <level>',
  '--logtostderr [yes]',
  '--alsologtostderr [yes]',
  '--enable-pprof [yes]',
  '--pprof-addr <address>',
  '--plugin-config-file <file>',
  '--plugin-bin-dir <dir>',
  '--rest-config-qps <count>',
  '--rest-config-burst <count>',
] as const;

export function daemonFlags(command: Command): Command {
  command
    .option('--kubeconfig <file>', 'how to reach the cluster (default: as kubectl, or the Pod it runs in)')
    .option('--addr <address>', 'where health and metrics are served', ':10221')
    .option('--socket-file <name>', 'the socket of the container runtime, in /hostvarrun (default: those known)', '')
    .option('--container-runtime-endpoint <url>', 'or where it is otherwise: unix:///run/containerd/containerd.sock')
    .option('--max-workers-for-pull-image <count>', 'how many images are fetched at a time; -1 for any number', '-1')
    .option('--feature-gates <gates>', 'Name=true,Other=false', '');
  for (const flag of unheeded) command.option(flag, 'accepted, and of no effect');
  return command;
}
