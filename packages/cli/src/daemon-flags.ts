import type { Command } from 'commander';
import type { ClientFlags } from './client-flags.ts';
import { addFixedFlags, type FixedFlag, loggingFlags } from './fixed-flags.ts';
import { clientFlags } from './flags.ts';
import type { ProfilerFlags } from './profiler.ts';

/** Flags of `kruise daemon`, named as in kruise-daemon. */
export type DaemonFlags = {
  readonly kubeconfig?: string;
  readonly addr: string;
  readonly socketFile: string;
  readonly containerRuntimeEndpoint?: string;
  readonly maxWorkersForPullImage: string;
  readonly pluginConfigFile: string;
  readonly pluginBinDir: string;
  readonly featureGates: string;
} & ClientFlags &
  ProfilerFlags;

/** Flags that accept only the values that match the actual behaviour. */
export const fixedDaemonFlags: readonly FixedFlag[] = [
  ...loggingFlags.filter(({ flags }) => /^--(also)?logtostderr /.test(flags)),
];

export function daemonFlags(command: Command): Command {
  command
    .option('--kubeconfig <file>', 'path to a kubeconfig file (default: kubectl rules or in-cluster config)')
    .option('--addr <address>', 'address to serve health and metrics on', ':10221')
    .option('--socket-file <name>', 'runtime socket in /hostvarrun (default: well-known sockets)', '')
    .option('--container-runtime-endpoint <url>', 'CRI endpoint: unix:///run/containerd/containerd.sock')
    .option('--max-workers-for-pull-image <count>', 'maximum number of concurrent image pulls; -1 for no limit', '-1')
    .option(
      '--plugin-config-file <file>',
      'configuration file of credential provider plugins; skipped if it does not exist',
      '/kruise/CredentialProviderPlugin.yaml',
    )
    .option('--plugin-bin-dir <dir>', 'directory of credential provider plugin binaries', '/kruise/plugins')
    .option('--feature-gates <gates>', 'key=value pairs of feature gates: Name=true,Other=false', '');
  return addFixedFlags(clientFlags(command), fixedDaemonFlags);
}
