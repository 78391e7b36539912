#!/usr/bin/env node
import { componentNames } from '@kruise/cluster/component-names';
import { Command, Option } from 'commander';
import type { ClusterOptions } from './cluster-command.ts';
import { daemonFlags } from './daemon-flags.ts';
import { dnsFlags } from './dns-flags.ts';
import { cloudControllerManagerFlags, controllerManagerFlags, schedulerFlags } from './flags.ts';
import { givenFlags, kubeletFlags } from './kubelet-flags.ts';
import { defaultSandboxImage } from './machine/runtime-choice.ts';
import { managerFlags } from './manager-flags.ts';
import { networkFlags } from './network-flags.ts';
import { type Prepared, prepare } from './prepare.ts';
import { proxyFlags } from './proxy-flags.ts';

const program = new Command('kruise')
  .description('A Kubernetes-compatible cluster with Kruise built in, started in about a second.')
  .version('0.1.0')
  .showHelpAfterError('(run kruise --help for a list of commands and flags)');

function clusterOptions(command: Command): Command {
  return command
    .option('--data <dir>', 'data directory of the cluster (default: $KRUISE_DATA or ~/.kruise)')
    .option('--memory', 'store everything in memory; all data is lost when the process ends')
    .option('--kubeconfig <file>', 'kubeconfig to add the cluster to (default: $KUBECONFIG or ~/.kube/config)')
    .option('--kubernetes-port <port>', 'port of the Kubernetes API (default: the previous port, or any free port)')
    .option('--bind <address>', 'IP address to listen on', '127.0.0.1')
    .option('--etcd <endpoints>', 'comma-separated etcd endpoints to store all objects in')
    .option(
      '--quota-backend-bytes <bytes>',
      'size of the store at which the NOSPACE alarm is raised; 0 means 2 GiB (not used with --etcd)',
      '0',
    )
    .option('--token-auth-file <file>', 'CSV file of static bearer tokens: token,user,uid,"group1,group2"')
    .option('--service-account-issuer <url>', 'issuer (iss claim) of service account tokens')
    .option(
      '--kubelet-certificate-authority <file>',
      'CA bundle that verifies the serving certificates of kubelets (default: not verified)',
    )
    .option('--kubelet-client-certificate <file>', 'client certificate for requests to kubelets (default: generated)')
    .option('--kubelet-client-key <file>', 'private key of --kubelet-client-certificate')
    .option(
      '--kubelet-preferred-address-types <types>',
      'node address types to use for connections to kubelets, in order of preference',
      'InternalIP,ExternalIP,Hostname',
    )
    .option('--audit-policy-file <file>', 'audit.k8s.io/v1 Policy that defines which requests are audited')
    .option('--audit-log-path <file>', 'file to write audit events to; - means standard output', '-')
    .option('--audit-log-maxsize <megabytes>', 'size in megabytes at which the audit log is rotated', '100')
    .option('--audit-log-maxbackup <count>', 'number of rotated audit log files to retain', '10')
    .option('--reset', 'delete all stored objects before the cluster starts')
    .option('--detach', 'run the cluster in the background and return when it is ready');
}

/** Runs a command that starts a server. Loading its code takes as long as starting it, so preparation begins before. */
async function serve<Options extends ClusterOptions>(
  options: Options,
  load: () => Promise<(options: Options, prepared: Prepared) => Promise<number>>,
): Promise<never> {
  const prepared = await prepare(options);
  const code = typeof prepared === 'number' ? prepared : await (await load())(options, prepared);
  // Everything has stopped; exit even if a handle is still open.
  process.exit(code);
}

clusterOptions(program.command('up'))
  .description('Start the cluster and write its kubeconfig.')
  .option(
    '--runtime <name>',
    'container runtime of this machine as a real node: containerd (found, or started), own-containerd, crio, or unix:///…',
    'simulated',
  )
  .option('--nodes <count>', 'number of simulated nodes (default: 3, or 0 with a real node)')
  .option('--sandbox-image <name>', 'image of Pod sandboxes, for a containerd that is started', defaultSandboxImage)
  .option('--registry-mirror <url>', 'registry that mirrors all others, for a containerd that is started')
  .option('--without <component...>', `components to leave out: ${componentNames.join(', ')}`)
  .option('--feature-gates <gates>', 'feature gates of kruise-manager and the nodes: Name=true,EventedPLEG=false')
  .action((options) => serve(options, async () => (await import('./commands/up.ts')).up));

clusterOptions(program.command('apiserver'))
  .description('Run only the API server.')
  .action((options) => serve(options, async () => (await import('./commands/apiserver.ts')).apiserver));

schedulerFlags(program.command('scheduler'))
  .description('Run kube-scheduler.')
  .action(async (options, command) => {
    const { scheduler } = await import('./commands/scheduler.ts');
    const isGiven = (flag: string) => command.getOptionValueSource(flag) === 'cli';
    process.exitCode = await scheduler(options, isGiven);
  });

controllerManagerFlags(program.command('controller-manager'))
  .description('Run kube-controller-manager.')
  .action(async (options) => {
    const { controllerManager } = await import('./commands/controller-manager.ts');
    process.exitCode = await controllerManager(options);
  });

cloudControllerManagerFlags(program.command('cloud-controller-manager'))
  .description('Run cloud-controller-manager.')
  .action(async (options) => {
    const { cloudControllerManager } = await import('./commands/cloud-controller-manager.ts');
    process.exitCode = await cloudControllerManager(options);
  });

kubeletFlags(program.command('kubelet'))
  .description('Run a kubelet with a CRI container runtime or with simulated containers.')
  .action(async (options, command) => {
    const { kubelet } = await import('./commands/kubelet.ts');
    process.exitCode = await kubelet(options, givenFlags(command));
  });

networkFlags(program.command('network'))
  .description('Run the Pod network of a node and enforce NetworkPolicy.')
  .action(async (options) => {
    const { network } = await import('./commands/network.ts');
    process.exitCode = await network(options);
  });

proxyFlags(program.command('proxy'))
  .description('Run kube-proxy.')
  .action(async (options) => {
    const { proxy } = await import('./commands/proxy.ts');
    process.exitCode = await proxy(options);
  });

program
  .command('join [address]')
  .description('Make this machine a node of a cluster. The address and the first two flags are needed only once.')
  .option('--token <token>', 'bootstrap token; kruise token create prints one')
  .option('--discovery-token-ca-cert-hash <hash...>', 'hashes of the permitted CAs of the cluster: sha256:…')
  .option('--data <dir>', 'data directory of the node (default: $KRUISE_DATA or ~/.kruise)')
  .option('--node-name <name>', 'name of the node (default: the hostname)')
  .option('--node-ip <address>', 'IP address of the node')
  .option('--node-labels <labels>', 'labels to add when the node registers: a=b,c=d')
  .option('--register-with-taints <taints>', 'taints to register the node with: key=value:effect')
  .option(
    '--runtime <name>',
    'container runtime: containerd (found, or started), own-containerd, crio, or unix:///…',
    'containerd',
  )
  .option('--sandbox-image <name>', 'image of Pod sandboxes, for a containerd that is started', defaultSandboxImage)
  .option('--registry-mirror <url>', 'registry that mirrors all others, for a containerd that is started')
  .option('--feature-gates <gates>', 'feature gates of the kubelet and kruise-daemon: Name=true,EventedPLEG=false', '')
  .action(async (address, options) => {
    const { join } = await import('./commands/join.ts');
    process.exitCode = await join(address, options);
  });

program
  .command('token')
  .description('Manage the bootstrap tokens with which other machines join.')
  .command('create')
  .description('Create a bootstrap token, and print the command with which another machine joins.')
  .option('--data <dir>', 'data directory of the cluster')
  .option('--ttl <duration>', 'lifetime of the token; 0s for no limit', '24h')
  .action(async (options) => {
    const { createToken } = await import('./commands/token.ts');
    process.exitCode = await createToken(options);
  });

managerFlags(program.command('manager'))
  .description('Run kruise-manager.')
  .action(async (options) => {
    const { manager } = await import('./commands/manager.ts');
    process.exitCode = await manager(options);
  });

program
  .command('manifests')
  .description('Print the CRDs, RBAC rules and webhook configurations that kruise-manager and kruise-daemon need.')
  .option('--namespace <name>', 'namespace of kruise-manager and kruise-daemon', 'kruise-system')
  .action(async (options) => {
    const { manifests } = await import('./commands/manifests.ts');
    process.exitCode = manifests(options);
  });

const dnsCommand = dnsFlags(program.command('dns'))
  .description('Run cluster DNS.')
  // The flags after `manifests` belong to `manifests`, even where the parent has flags of the same name.
  .enablePositionalOptions()
  .action(async (options) => {
    const { dns } = await import('./commands/dns.ts');
    process.exitCode = await dns(options);
  });

dnsCommand
  .command('manifests')
  .description('Print the Deployment, the Service kube-dns and the RBAC rules of cluster DNS.')
  .requiredOption('--image <name>', 'container image of Kruise')
  .option('--cluster-ip <address>', 'cluster IP of the Service, the --cluster-dns of kubelets', '10.96.0.10')
  .option('--cluster-domain <domain>', 'domain of the cluster', 'cluster.local')
  .option('--replicas <count>', 'number of replicas', '2')
  .action(async (options) => {
    const { printDnsManifests } = await import('./commands/dns.ts');
    process.exitCode = printDnsManifests(options);
  });

daemonFlags(program.command('daemon'))
  .description('Run kruise-daemon on a node.')
  .action(async (options) => {
    const { daemon } = await import('./commands/daemon.ts');
    process.exitCode = await daemon(options);
  });

program
  .command('down')
  .description('Stop a running cluster.')
  .option('--data <dir>', 'data directory of the cluster')
  .action(async (options) => {
    const { down } = await import('./commands/down.ts');
    process.exitCode = await down(options);
  });

program
  .command('status')
  .description('Show whether the cluster is running, its endpoints and the objects that are stuck.')
  .option('--data <dir>', 'data directory of the cluster')
  .option('--json', 'print JSON')
  .action(async (options) => {
    const { status } = await import('./commands/status.ts');
    process.exitCode = await status(options);
  });

program
  .command('kubeconfig')
  .description("Print the cluster's kubeconfig.")
  .option('--data <dir>', 'data directory of the cluster')
  .option('--user <name>', 'issue a client certificate for this user instead of the administrator')
  .option('--group <name...>', 'groups of --user, for example system:nodes')
  .action(async (options) => {
    const { printKubeconfig } = await import('./commands/kubeconfig.ts');
    process.exitCode = await printKubeconfig(options);
  });

program
  .command('logs [component]')
  .description('Print the logs of all components of the cluster, or of one component.')
  .option('--data <dir>', 'data directory of the cluster')
  .option('-f, --follow', 'stream new log entries')
  .option('--json', 'print JSON')
  .action(async (component, options) => {
    const { logs } = await import('./commands/logs.ts');
    process.exitCode = await logs(component, options);
  });

program
  .command('rollout')
  .description('Inspect rollouts of workloads.')
  .command('plan <cloneset/name>')
  .description('Preview the steps of a rollout and its blockers. Does not change the cluster.')
  .option('--kubeconfig <file>', 'path to a kubeconfig file (default: the same as kubectl)')
  .option('-n, --namespace <name>', 'namespace of the CloneSet')
  .option('-f, --filename <file>', 'manifest of the CloneSet to plan for (default: the live object)')
  .option('--feature-gates <gates>', 'feature gates of kruise-manager: Name=true,Other=false')
  .option('--json', 'print JSON')
  .action(async (target, options) => {
    const { planCommand } = await import('./commands/rollout.ts');
    process.exitCode = await planCommand(target, options);
  });

const image = program.command('image').description("Manage the images of this machine's real node.");
image
  .command('load <files...>')
  .description('Import image archives (docker save, OCI) into the container runtime of the node.')
  .option('--data <dir>', 'data directory of the cluster or of the joined node')
  .action(async (files, options) => {
    const { loadImages } = await import('./commands/image.ts');
    process.exitCode = await loadImages(files, options);
  });
image
  .command('list')
  .description('List the images of the container runtime of the node.')
  .option('--data <dir>', 'data directory of the cluster or of the joined node')
  .action(async (options) => {
    const { listImages } = await import('./commands/image.ts');
    process.exitCode = await listImages(options);
  });

const node = program.command('node').description('Manage the nodes of a running cluster.');
const nodeCommand = (usage: string, description: string) =>
  node.command(usage).description(description).option('--data <dir>', 'data directory of the cluster');
nodeCommand('list', 'List the nodes.').action(async (options) => {
  const { listNodes } = await import('./commands/node.ts');
  process.exitCode = await listNodes(options);
});
nodeCommand('add [name]', 'Add one or more simulated nodes. They are kept when the cluster restarts.')
  .option('--count <number>', 'number of nodes to add', '1')
  .option('--label <key=value...>', 'labels of the added nodes')
  .action(async (name, options) => {
    const { addNodes } = await import('./commands/node.ts');
    process.exitCode = await addNodes(name, options);
  });
for (const [what, description] of [
  ['stop', 'Power off a node: its containers end and its status is not updated.'],
  ['lose', 'Partition a node from the API server: its containers keep running.'],
  ['start', 'Power on a stopped node, or reconnect a partitioned node.'],
  ['remove', 'Remove a node: a real one is drained first. Its containers end and its Node object is deleted.'],
] as const) {
  nodeCommand(`${what} <name>`, description).action(async (name, options) => {
    const { changeNode } = await import('./commands/node.ts');
    process.exitCode = await changeNode(`${what}-node`, name, options);
  });
}
nodeCommand('drain <name>', 'Cordon a node and evict its Pods, as their disruption budgets permit.')
  .option('--timeout <duration>', 'time to wait until the Pods are gone', '5m')
  .action(async (name, options) => {
    const { drain } = await import('./commands/drain.ts');
    process.exitCode = await drain(name, options);
  });
nodeCommand(
  'slow <name> <delay>',
  'Add latency to all requests of a node, for example 500ms or 2s; 0s removes the latency.',
).action(async (name, delay, options) => {
  const { slowNode } = await import('./commands/node.ts');
  process.exitCode = await slowNode(name, delay, options);
});

const simulation = program
  .command('sim')
  .description('Run simulated clusters with fault injection on virtual time, and check their invariants.')
  // The flags after `run` belong to `run`, even where the parent has flags of the same name.
  .enablePositionalOptions()
  .option('--seeds <count>', 'number of simulations', '100')
  .option('--for <time>', 'start simulations for this long, for example 2m, instead of --seeds')
  .option('--from <name>', 'prefix of the seeds (default: the current time)')
  .option('--seed <seed>', 'run only the simulation with this seed')
  .option('--minutes <count>', 'minutes of fault injection in each simulation', '3')
  .option('--verbose', 'with --seed: print every event')
  .option('--workers <count>', 'number of worker processes (default: one per core)')
  .option('--coverage', 'list the actions of controllers with their counts')
  .option('--mutants', 'mutation testing: count the simulations that it takes to detect each mutant')
  .addOption(new Option('--worker <kind>').hideHelp())
  .action(async (options) => {
    const { sim } = await import('./commands/sim.ts');
    process.exitCode = await sim(options);
  });

simulation
  .command('run <files...>')
  .description('Apply manifests to a simulated cluster on virtual time, and print what happens.')
  .option('--plan <file>', 'YAML list of faults to inject and user actions')
  .option('--minutes <count>', 'simulated minutes', '10')
  .option('--seed <seed>', 'seed of the random numbers', 'run')
  .option('--nodes <count>', 'number of nodes', '3')
  .option('--svg <file>', 'also write a chart to this SVG file')
  .action(async (files, options) => {
    const { simRun } = await import('./commands/sim-run.ts');
    process.exitCode = await simRun(files, options);
  });

try {
  await program.parseAsync();
} catch (error) {
  // Users see the error message; the stack trace is shown only with DEBUG.
  console.error(process.env.DEBUG ? error : `error: ${(error as Error).message}`);
  process.exit(1);
}
