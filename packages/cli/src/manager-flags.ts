import type { Command } from 'commander';
import { addFixedFlags, type FixedFlag, loggingFlags } from './fixed-flags.ts';
import { clientFlags } from './flags.ts';

/** Controllers with a configurable number of workers, by the prefix of their flag. */
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

/** Flags that accept only the values that match the actual behaviour. */
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
    instead: 'informers do not resync, because watches lose no events: use 0',
  },
  {
    flags: '--controller-cache-sync-timeout <duration>',
    accepted: ['2m', '2m0s'],
    instead: 'cache sync has no timeout: use a startup probe on /readyz',
  },
  {
    flags: '--leader-election-resource-lock <type>',
    accepted: ['leases'],
    instead: 'Leases are the only lock: use leases',
  },
  {
    flags: '--allow-privileged [bool]',
    accepted: ['true', 't', '1'],
    instead: 'reject privileged Pods with Pod Security admission or a policy',
  },
  {
    flags: '--ws-enabled-versioned-status <kinds>',
    accepted: ['deployment,replicaset'],
    instead: 'versioned status of WorkloadSpreads applies to Deployments and ReplicaSets',
  },
];

/** Adds the flags of kruise-manager, including those of Go libraries. */
export function managerFlags(command: Command): Command {
  command
    .option('--kubeconfig <file>', 'path to a kubeconfig file (default: kubectl rules or in-cluster config)')
    .option('--feature-gates <gates>', 'key=value pairs of feature gates: Name=true,Other=false', '')
    .option('--metrics-addr <address>', 'address to serve metrics on', ':8080')
    .option('--health-probe-addr <address>', 'address to serve health probes on', ':8000')
    .option('--namespace <name>', 'restrict the informers to this namespace', '')
    .option('--enable-leader-election [yes]', 'run controllers only on the leader', 'true')
    .option('--leader-election-namespace <name>', 'namespace of the Lease', 'kruise-system')
    .option('--leader-election-id <name>', 'name of the Lease', 'kruise-manager')
    .option(
      '--leader-election-lease-duration <duration>',
      'time that non-leaders wait before they acquire the Lease',
      '15s',
    )
    .option('--leader-election-renew-deadline <duration>', 'time that the leader retries a renewal', '10s')
    .option('--leader-election-retry-period <duration>', 'wait between attempts to acquire or renew', '2s')
    .option('--webhook-initialize-timeout <duration>', 'timeout of the webhook certificate setup', '60s')
    .option(
      '--webhook-client-ca-file <file>',
      'CA bundle that client certificates of webhook callers must verify against (default: any caller)',
    )
    .option('--webhook-client-allowed-names <names>', 'allowed common names of those certificates (default: any)', '')
    .option('--webhook-token-file <file>', 'accept webhook callers with the bearer token in this file')
    .option('--expectation-timeout <duration>', 'timeout of expectations for own writes', '5m')
    .option('--protection-log-path <dir>', 'directory of the log of denied deletions', '/log')
    .option('--rate-limiter-base-delay <duration>', 'initial backoff of failed keys', '5ms')
    .option('--rate-limiter-max-delay <duration>', 'maximum backoff of failed keys', '1000s')
    .option('--rate-limiter-qps <count>', 'maximum retries per second', '10')
    .option('--rate-limiter-bucket-size <count>', 'burst of retries', '100')
    .option('--cloneset-scaling-exclude-preparing-delete [yes]', 'do not count PreparingDelete Pods', 'false')
    .option('--assign-pods-by-scheduler [yes]', 'schedule Pods of DaemonSets with kube-scheduler', 'true')
    .option('--assign-bcj-pods-by-scheduler [yes]', 'schedule BroadcastJob Pods with kube-scheduler', 'true')
    .option('--nodeimage-creation-delay <duration>', 'delay before the NodeImage of a ready node is created', '30s')
    .option('--default-ttlseconds-for-always-nodeimage <seconds>', 'TTL of Always pull tasks in NodeImages', '300');
  for (const name of workerFlags)
    command.option(`--${name}-workers <count>`, `number of concurrent reconciles of the ${name} controller`, '3');
  return addFixedFlags(clientFlags(command), fixedManagerFlags);
}
