import type { Command } from 'commander';
import type { ClientFlags } from './client-flags.ts';
import { addFixedFlags, type FixedFlag, loggingFlags } from './fixed-flags.ts';
import { clientFlags } from './flags.ts';
import type { ProfilerFlags } from './profiler.ts';

/** What `kruise daemon` can be told, by the names kruise-daemon has for it. */
export type DaemonFlags = {
  readonly kubeconfig?: string;
  readonly addr: string;
  readonly socketFile: string;
  readonly containerRuntimeEndpoint?: string;
  readonly maxWorkersForPullImage: string;
  readonly featureGates: string;
} & ClientFlags &
  ProfilerFlags;

const noPlugins = 'credential plugins are not run: use pull Secrets';

/** Flags that have one meaning here. */
export const fixedDaemonFlags: readonly FixedFlag[] = [
  ...loggingFlags.filter(({ flags }) => /^--(also)?logtostderr /.test(flags)),
  { flags: '--plugin-config-file <file>', accepted: [''], instead: noPlugins },
  { flags: '--plugin-bin-dir <dir>', accepted: [''], instead: noPlugins },
];

export function daemonFlags(command: Command): Command {
  command
    .option('--kubeconfig <file>', 'how to reach the cluster (default: as kubectl, or the Pod it runs in)')
    .option('--addr <address>', 'where health and metrics are served', ':10221')
    .option('--socket-file <name>', 'the socket of the container runtime, in /hostvarrun (default: those known)', '')
    .option('--container-runtime-endpoint <url>', 'or where it is otherwise: unix:///run/containerd/containerd.sock')
    .option('--max-workers-for-pull-image <count>', 'how many images are fetched at a time; -1 for any number', '-1')
    .option('--feature-gates <gates>', 'Name=true,Other=false', '');
  return addFixedFlags(clientFlags(command), fixedDaemonFlags);
}
