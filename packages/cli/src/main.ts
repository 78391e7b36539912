#!/usr/bin/env node
import { componentNames } from '@kruise/cluster/component-names';
import { Command, Option } from 'commander';
import type { ClusterOptions } from './cluster-command.ts';
import { daemonFlags } from './daemon-flags.ts';
import { cloudControllerManagerFlags, controllerManagerFlags, schedulerFlags } from './flags.ts';
import { kubeletFlags } from './kubelet-flags.ts';
import { managerFlags } from './manager-flags.ts';
import { type Prepared, prepare } from './prepare.ts';

const program = new Command('kruise')
  .description('A Kubernetes-compatible cluster with Kruise built in, started in about a second.')
  .version('0.1.0')
  .showHelpAfterError('(kruise --help shows what there is)');

function clusterOptions(command: Command): Command {
  return command
    .option('--data <dir>', 'where the cluster keeps its state (default: a folder of its own in your home)')
    .option('--memory', 'keep nothing: the cluster ends with the process')
    .option('--kubeconfig <file>', 'the kubeconfig to write the cluster into (default: $KUBECONFIG or ~/.kube/config)')
    .option('--kubernetes-port <port>', 'the port of the Kubernetes API (default: the last one, else any that is free)')
    .option('--bind <address>', 'the address to listen on', '127.0.0.1')
    .option('--etcd <endpoints>', 'store everything in etcd, at these comma-separated endpoints')
    .option(
      '--quota-backend-bytes <bytes>',
      'raise the space alarm when the store is larger than this; 0 is the default of 2 GiB (etcd has its own)',
      '0',
    )
    .option('--token-auth-file <file>', 'users known by tokens: on each line token,user,uid,"group,group"')
    .option('--service-account-issuer <url>', 'the name of the server in the tokens it makes for accounts')
    .option(
      '--kubelet-certificate-authority <file>',
      'verify the serving certificates of kubelets with this authority (default: they are not verified)',
    )
    .option('--kubelet-client-certificate <file>', 'the certificate to show to kubelets (default: one of its own)')
    .option('--kubelet-client-key <file>', 'the key of that certificate')
    .option(
      '--kubelet-preferred-address-types <types>',
      'the preferred node address types to use for connections to kubelets, in order',
      'InternalIP,ExternalIP,Hostname',
    )
    .option('--audit-policy-file <file>', 'record requests as this audit.k8s.io/v1 Policy says')
    .option('--audit-log-path <file>', 'where to record them; - is standard output', '-')
    .option('--audit-log-maxsize <megabytes>', 'begin a new file at this size', '100')
    .option('--audit-log-maxbackup <count>', 'keep so many former files', '10')
    .option('--reset', 'delete what the cluster had stored and start afresh')
    .option('--detach', 'return once the cluster is ready and leave it running');
}

/** Runs a command that is a server; to read its code takes as long as to start it, so other things begin before. */
async function serve<Options extends ClusterOptions>(
  options: Options,
  load: () => Promise<(options: Options, prepared: Prepared) => Promise<number>>,
): Promise<never> {
  const prepared = await prepare(options);
  const code = typeof prepared === 'number' ? prepared : await (await load())(options, prepared);
  // Everything has come to a stop; whatever still lingers keeps nobody waiting.
  process.exit(code);
}

clusterOptions(program.command('up'))
  .description('Start the cluster and write its kubeconfig.')
  .option('--nodes <count>', 'how many simulated nodes it has; none where someone else plays them', '3')
  .option('--without <component...>', `leave a component to someone else: ${componentNames.join(', ')}`)
  .option('--feature-gates <gates>', 'of kruise-manager and its nodes: Name=true,EventedPLEG=false')
  .action((options) => serve(options, async () => (await import('./commands/up.ts')).up));

clusterOptions(program.command('apiserver'))
  .description('Start the API server alone.')
  .action((options) => serve(options, async () => (await import('./commands/apiserver.ts')).apiserver));

schedulerFlags(program.command('scheduler'))
  .description('Run the scheduler of a cluster.')
  .action(async (options, command) => {
    const { scheduler } = await import('./commands/scheduler.ts');
    const isGiven = (flag: string) => command.getOptionValueSource(flag) === 'cli';
    process.exitCode = await scheduler(options, isGiven);
  });

controllerManagerFlags(program.command('controller-manager'))
  .description('Start kube-controller-manager alone.')
  .action(async (options) => {
    const { controllerManager } = await import('./commands/controller-manager.ts');
    process.exitCode = await controllerManager(options);
  });

cloudControllerManagerFlags(program.command('cloud-controller-manager'))
  .description('Start cloud-controller-manager alone.')
  .action(async (options) => {
    const { cloudControllerManager } = await import('./commands/cloud-controller-manager.ts');
    process.exitCode = await cloudControllerManager(options);
  });

kubeletFlags(program.command('kubelet'))
  .description('Run a node of a cluster, on a container runtime or on simulated containers.')
  .action(async (options) => {
    const { kubelet } = await import('./commands/kubelet.ts');
    process.exitCode = await kubelet(options);
  });

managerFlags(program.command('manager'))
  .description('Run kruise-manager on a cluster.')
  .action(async (options) => {
    const { manager } = await import('./commands/manager.ts');
    process.exitCode = await manager(options);
  });

program
  .command('manifests')
  .description('Print what kruise-manager and kruise-daemon need on a cluster: kinds, rights and webhooks.')
  .option('--namespace <name>', 'where they run', 'kruise-system')
  .action(async (options) => {
    const { manifests } = await import('./commands/manifests.ts');
    process.exitCode = manifests(options);
  });

daemonFlags(program.command('daemon'))
  .description('Run kruise-daemon on a node, beside its container runtime.')
  .action(async (options) => {
    const { daemon } = await import('./commands/daemon.ts');
    process.exitCode = await daemon(options);
  });

program
  .command('down')
  .description('Stop a cluster that was left running.')
  .option('--data <dir>', 'the folder of the cluster')
  .action(async (options) => {
    const { down } = await import('./commands/down.ts');
    process.exitCode = await down(options);
  });

program
  .command('status')
  .description('Tell whether the cluster runs, and how to reach it.')
  .option('--data <dir>', 'the folder of the cluster')
  .option('--json', 'for programs')
  .action(async (options) => {
    const { status } = await import('./commands/status.ts');
    process.exitCode = await status(options);
  });

program
  .command('kubeconfig')
  .description("Print the cluster's kubeconfig.")
  .option('--data <dir>', 'the folder of the cluster')
  .option('--user <name>', 'for someone else than the administrator, by a certificate made for them')
  .option('--group <name...>', 'the groups they are in: system:nodes, say')
  .action(async (options) => {
    const { printKubeconfig } = await import('./commands/kubeconfig.ts');
    process.exitCode = await printKubeconfig(options);
  });

program
  .command('logs [component]')
  .description('Show what the components of the cluster have logged, or one of them.')
  .option('--data <dir>', 'the folder of the cluster')
  .option('-f, --follow', 'go on as more comes')
  .option('--json', 'for programs')
  .action(async (component, options) => {
    const { logs } = await import('./commands/logs.ts');
    process.exitCode = await logs(component, options);
  });

program
  .command('rollout')
  .description('Rollouts of workloads.')
  .command('plan <cloneset/name>')
  .description('Show what a rollout would do, in which order, and what holds it up. Nothing is written.')
  .option('--kubeconfig <file>', 'how to reach the cluster (default: as kubectl does)')
  .option('-n, --namespace <name>', 'where the CloneSet is')
  .option('-f, --filename <file>', 'the CloneSet as it is to be; without one, as it is')
  .option('--feature-gates <gates>', 'those of kruise-manager: Name=true,Other=false')
  .option('--json', 'for programs')
  .action(async (target, options) => {
    const { planCommand } = await import('./commands/rollout.ts');
    process.exitCode = await planCommand(target, options);
  });

const node = program.command('node').description('The simulated nodes of a cluster that runs.');
const nodeCommand = (usage: string, description: string) =>
  node.command(usage).description(description).option('--data <dir>', 'the folder of the cluster');
nodeCommand('list', 'List them.').action(async (options) => {
  const { listNodes } = await import('./commands/node.ts');
  process.exitCode = await listNodes(options);
});
nodeCommand('add [name]', 'Add one, or several. The cluster has them the next time it is started, too.')
  .option('--count <number>', 'how many', '1')
  .option('--label <key=value...>', 'labels they have')
  .action(async (name, options) => {
    const { addNodes } = await import('./commands/node.ts');
    process.exitCode = await addNodes(name, options);
  });
for (const [what, description] of [
  ['stop', 'Switch one off: all that runs on it ends, and nothing is said.'],
  ['lose', 'Cut one off: what runs on it goes on, but nobody hears of it.'],
  ['start', 'Switch one on again, or let it be heard again.'],
  ['remove', 'Take one away: all that runs on it ends, and its object is deleted.'],
] as const) {
  nodeCommand(`${what} <name>`, description).action(async (name, options) => {
    const { changeNode } = await import('./commands/node.ts');
    process.exitCode = await changeNode(`${what}-node`, name, options);
  });
}
nodeCommand(
  'slow <name> <delay>',
  'Have all that one says and asks take so much longer: 500ms, 2s; 0s for no longer.',
).action(async (name, delay, options) => {
  const { slowNode } = await import('./commands/node.ts');
  process.exitCode = await slowNode(name, delay, options);
});

const simulation = program
  .command('sim')
  .description('Run whole clusters on virtual time, from seeds, under faults, and see whether they hold.')
  // What follows `run` is its own, though it has the same name.
  .enablePositionalOptions()
  .option('--seeds <count>', 'how many worlds', '100')
  .option('--for <time>', 'in place of --seeds, as many worlds as can be begun in so long: 2m, say')
  .option('--from <name>', 'what their seeds begin with (default: the time)')
  .option('--seed <seed>', 'this world and no other')
  .option('--minutes <count>', 'how long things go wrong in each', '3')
  .option('--verbose', 'with --seed: tell all that happens')
  .option('--workers <count>', 'how many processes (default: one for each core)')
  .option('--coverage', 'list what controllers did, and how often')
  .option('--mutants', 'see how many worlds it takes to find out each part that is broken on purpose')
  .addOption(new Option('--worker <kind>').hideHelp())
  .action(async (options) => {
    const { sim } = await import('./commands/sim.ts');
    process.exitCode = await sim(options);
  });

simulation
  .command('run <files...>')
  .description('Play manifests on virtual time, and tell what happens.')
  .option('--plan <file>', 'what goes wrong, and what users do: a list in YAML')
  .option('--minutes <count>', 'for how long', '10')
  .option('--seed <seed>', 'what chance there is follows from it', 'run')
  .option('--nodes <count>', 'how many nodes there are', '3')
  .option('--svg <file>', 'draw it, too')
  .action(async (files, options) => {
    const { simRun } = await import('./commands/sim-run.ts');
    process.exitCode = await simRun(files, options);
  });

try {
  await program.parseAsync();
} catch (error) {
  // Whoever typed the command is told what is wrong, not where in our code.
  console.error(process.env.DEBUG ? error : `error: ${(error as Error).message}`);
  process.exit(1);
}
