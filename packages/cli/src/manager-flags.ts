import type { Command } from 'commander';

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

/** Flags of Go's libraries that manifests pass, and that mean nothing here. */
const unheeded = [
  '--v <level>',
  '--vmodule <pattern>',
  '--logtostderr [yes]',
  '--alsologtostderr [yes]',
  '--stderrthreshold <level>',
  '--log_dir <dir>',
  '--log_file <file>',
  '--log_file_max_size <megabytes>',
  '--skip_headers [yes]',
  '--skip_log_headers [yes]',
  '--add_dir_header [yes]',
  '--one_output [yes]',
  '--log_backtrace_at <place>',
  '--logging-format <format>',
  '--log-flush-frequency <duration>',
  '--rest-config-qps <count>',
  '--rest-config-burst <count>',
  '--disable-no-deepcopy [yes]',
  '--enable-pprof [yes]',
  '--pprof-addr <address>',
  '--sync-period <duration>',
  '--controller-cache-sync-timeout <duration>',
  '--leader-election-resource-lock <type>',
  '--allow-privileged [yes]',
  '--ws-enabled-versioned-status <kinds>',
] as const;

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
  for (const flag of unheeded) command.option(flag, 'accepted, and of no effect');
  return command;
}
