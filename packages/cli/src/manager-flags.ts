import type { Command } from 'commander';
import { addFixedFlags, type FixedFlag, loggingFlags } from './fixed-flags.ts';
import { clientFlags } from './flags.ts';

/** Controllers whose number of workers can be chosen, by the word their flag begins with. */
export const workerFlags = [
  'advancedcronjob',
  'broadcastjob',
  'cloneset',
  'crr',
  'daemonset',
  'imagepulljob',
  'nodeimage',
  'nodepodprobe',
  'persistentpodstate',
  'podprobemarker',
  'podunavailablebudget',
  'resourcedistribution',
  'sidecarset',
  'sidecarterminator',
  'statefulset',
  'uniteddeployment',
  'workloadspread',
] as const;

/** Flags that have one meaning here. */
export const fixedManagerFlags: readonly FixedFlag[] = [
  ...loggingFlags,
  {
    flags: '--disable-no-deepcopy [bool]',
    accepted: ['true', 'false'],
    instead: 'objects of caches are immutable and never copied',
  },
  {
    flags: '--sync-period <duration>',
    accepted: ['', '0', '0s'],
    instead: 'there is no resync, since watches miss nothing: use 0',
  },
  {
    flags: '--controller-cache-sync-timeout <duration>',
    accepted: ['2m', '2m0s'],
    instead: 'caches are waited for without a limit: use a startup probe on /readyz',
  },
  {
    flags: '--leader-election-resource-lock <type>',
    accepted: ['leases'],
    instead: 'Leases are the only lock: use leases',
  },
  {
    flags: '--allow-privileged [bool]',
    accepted: ['true', 't', '1'],
    instead: 'refuse privileged Pods by Pod Security admission or a policy',
  },
  {
    flags: '--ws-enabled-versioned-status <kinds>',
    accepted: ['deployment,replicaset'],
    instead: 'the status of WorkloadSpreads is kept by revision for Deployments and ReplicaSets',
  },
];

/** Adds kruise-manager's flags to a command, those of Go's libraries included. */
export function managerFlags(command: Command): Command {
  command
    .option('--kubeconfig <file>', 'the cluster to manage (default: as kubectl, or the Pod it runs in)')
    .option('--feature-gates <gates>', 'Name=true,Other=false', '')
    .option('--metrics-addr <address>', 'where metrics are served', ':8080')
    .option('--health-probe-addr <address>', 'where health is served', ':8000')
    .option('--namespace <name>', 'look at this namespace only', '')
    .option('--enable-leader-election [yes]', 'run controllers on one replica only', 'true')
    .option('--leader-election-namespace <name>', 'where the Lease is', 'kruise-system')
    .option('--leader-election-id <name>', 'the name of the Lease', 'kruise-manager')
    .option('--leader-election-lease-duration <duration>', 'how long the Lease is good for', '15s')
    .option('--leader-election-renew-deadline <duration>', 'how long it may go without being renewed', '10s')
    .option('--leader-election-retry-period <duration>', 'how often it is renewed', '2s')
    .option('--webhook-initialize-timeout <duration>', 'how long certificates may take at the start', '60s')
    .option(
      '--webhook-client-ca-file <file>',
      'answer webhook callers whose certificate is signed by one of these authorities (default: answer everybody)',
    )
    .option('--webhook-client-allowed-names <names>', 'the common names such certificates may have (default: any)', '')
    .option('--webhook-token-file <file>', 'answer webhook callers that send the bearer token in this file')
    .option('--expectation-timeout <duration>', 'how long a write may stay out of sight', '5m')
    .option('--protection-log-path <dir>', 'where deletions that were refused are noted', '/log')
    .option('--rate-limiter-base-delay <duration>', 'how long a failed object waits at first', '5ms')
    .option('--rate-limiter-max-delay <duration>', 'and at most', '1000s')
    .option('--rate-limiter-qps <count>', 'failed objects tried again a second', '10')
    .option('--rate-limiter-bucket-size <count>', 'and at once', '100')
    .option('--cloneset-scaling-exclude-preparing-delete [yes]', 'Pods about to be deleted are no replicas', 'false')
    .option('--assign-pods-by-scheduler [yes]', 'the scheduler places Pods of DaemonSets', 'true')
    .option('--assign-bcj-pods-by-scheduler [yes]', 'the scheduler places Pods of BroadcastJobs', 'true')
    .option('--nodeimage-creation-delay <duration>', 'how long a node is ready before it is told of images', '30s')
    .option('--default-ttlseconds-for-always-nodeimage <seconds>', 'how much longer than jobs nodes remember', '300');
  for (const name of workerFlags) command.option(`--${name}-workers <count>`, `${name}s worked on at a time`, '3');
  return addFixedFlags(clientFlags(command), fixedManagerFlags);
}
