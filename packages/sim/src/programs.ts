/** Components of a cluster as programs, each with its own transport, caches and lease. */
import { namespace as namespaceKind } from '@kruise/api/core/namespace';
import { serviceAccountGroups, serviceAccountUsername } from '@kruise/apiserver/service-account-user';
import type { User } from '@kruise/apiserver/user';
import { type Client, createClient } from '@kruise/client/client';
import { createCaches } from '@kruise/client/informer';
import type { Log } from '@kruise/client/log';
import { type RunOptions, runControllers } from '@kruise/client/manager';
import { runControllerManager } from '@kruise/controlplane/controllers/controller-manager';
import { localStorageControllers } from '@kruise/controlplane/local-storage/controller';
import { installLocalStorage, localStorageAccount } from '@kruise/controlplane/local-storage/manifests';
import { runScheduler } from '@kruise/controlplane/scheduler/scheduler';
import { startDaemon } from '@kruise/daemon/daemon';
import { daemonAccount, grantDaemonPermissions } from '@kruise/manager/bootstrap/rbac';
import { allFeatureGates, type FeatureGates, featureGates } from '@kruise/manager/configuration/feature-gates';
import { managerSettings } from '@kruise/manager/configuration/settings';
import { runManager } from '@kruise/manager/manager';
import { installConfigurations } from '@kruise/manager/webhooks/configurations';
import { scopeToLifetime } from './lifetime-scope.ts';
import type { Machines } from './nodes.ts';
import type { ProcessContext, Program } from './world.ts';

function user(username: string, groups: readonly string[] = []): User {
  return { username, groups: [...groups, 'system:authenticated'] };
}

function account(namespace: string, name: string): User {
  return user(serviceAccountUsername(namespace, name), serviceAccountGroups(namespace));
}

/** Non-default options of a program. */
export type ProgramOptions = Pick<RunOptions, 'adapt' | 'expectationTimeoutMs'> & {
  /** Process name; replicas of a component share a lease. */
  readonly name?: string;
  /** Feature gates of kruise-manager, evaluated on each start; by default all features are enabled. */
  readonly gates?: () => Partial<FeatureGates>;
};

/** Renewal period of leases. It is as long as is safe, because nothing else is written so often. */
const retryPeriodSeconds = 5;

/** Returns the options that every component runs with. */
function partsOf(
  context: ProcessContext,
  name: string,
  apiUser: User,
  { name: process = name, gates: _gates, ...unusual }: ProgramOptions,
) {
  const { life, random, transportOf, reportError } = context;
  const client = createClient(transportOf(apiUser));
  const reportLog = (fields: object, message: string) => {
    const { error } = fields as { readonly error?: unknown };
    reportError(error instanceof Error ? `${message}: ${error.message}` : message);
  };
  const log: Log = { info() {}, warn: reportLog, error: reportLog };
  // The identity contains the process, by which `invariants/leaders.ts` finds the holder of a lease.
  const identity = `${process}/${Math.floor(random.next() * 1e9)}`;
  const leaderElection = { name, namespace: 'kube-system', identity, retryPeriodSeconds };
  return { client, clock: life.clock, random, log, leaderElection, ...unusual };
}

/** kube-controller-manager. */
export function controllerManagerProgram(options: ProgramOptions = {}): Program {
  return {
    name: options.name ?? 'controller-manager',
    run: (context) => {
      const clients = new Map<string, Client>();
      const clientOf = (serviceAccount: string): Client => {
        let client = clients.get(serviceAccount);
        if (!client) {
          client = createClient(context.transportOf(account('kube-system', serviceAccount)));
          clients.set(serviceAccount, client);
        }
        return client;
      };
      const parts = partsOf(context, 'kube-controller-manager', user('system:kube-controller-manager'), {
        ...options,
        name: options.name ?? 'controller-manager',
      });
      return runControllerManager(
        { ...parts, clientOf, settings: { rootAuthorities: 'authorities' } },
        context.life.stopping,
      );
    },
  };
}

/** kube-scheduler. */
export function schedulerProgram(options: ProgramOptions = {}): Program {
  const { name = 'scheduler' } = options;
  return {
    name,
    run: (context) =>
      runScheduler(
        { ...partsOf(context, 'kube-scheduler', user('system:kube-scheduler'), { ...options, name }), host: name },
        context.life.stopping,
      ),
  };
}

/** kruise-manager, by default with all features enabled. */
export function managerProgram(options: ProgramOptions = {}): Program {
  const settings = () => managerSettings({ gates: featureGates(options.gates?.() ?? allFeatureGates) });
  const { name = 'manager' } = options;
  return {
    name,
    // Without the webhooks, objects would be created without defaults, and later updates of a StatefulSet would be
    // rejected (seed s53-7784).
    async install(client) {
      const { namespace } = settings();
      if (name === 'manager') await client.create(namespaceKind, { metadata: { name: namespace } });
      await installConfigurations(client, settings());
    },
    run: (context) =>
      runManager(
        {
          ...partsOf(
            context,
            'kruise-manager',
            user('system:serviceaccount:kruise-system:kruise-manager', ['system:masters']),
            { ...options, name },
          ),
          settings: settings(),
          inProcessWebhooks: context.webhooks,
        },
        context.life.stopping,
      ),
  };
}

/** Provisions volumes from directories on machines. */
export function storageProgram(machines: Pick<Machines, 'runtimeOf'>): Program {
  return {
    name: 'storage',
    async run(context) {
      await installLocalStorage(createClient(context.transportOf(user('installer', ['system:masters']))));
      const controllers = localStorageControllers({
        removeDirectory: ({ node, path }) => machines.runtimeOf(node).files.remove(path),
      });
      const { leaderElection: _, ...parts } = partsOf(
        context,
        'storage',
        account('kube-system', localStorageAccount),
        {},
      );
      await runControllers(controllers, parts, context.life.stopping);
    },
  };
}

/** kruise-daemon, one process for the nodes of all machines. */
export function daemonProgram(machines: Pick<Machines, 'kubelets' | 'runtimeOf'>): Program {
  return {
    name: 'daemon',
    install: (client) => grantDaemonPermissions(client, 'kruise-system'),
    async run(context) {
      const { leaderElection: _, ...parts } = partsOf(context, 'daemon', account('kruise-system', daemonAccount), {});
      const { client, clock, random } = parts;
      const { stopping } = context.life;
      const caches = createCaches(client, clock, random, {}, stopping);
      const daemon = startDaemon({ ...parts, caches, gates: featureGates(allFeatureGates) }, stopping);
      for (const { name } of machines.kubelets) {
        await daemon.serve({ name, runtimes: [scopeToLifetime(machines.runtimeOf(name), context.life)] }, stopping);
      }
      await daemon.stopped;
    },
  };
}

const electedComponents = {
  'controller-manager': controllerManagerProgram,
  scheduler: schedulerProgram,
  manager: managerProgram,
};

/** A component with leader election. */
export type ElectedComponent = keyof typeof electedComponents;

/** Returns the default control plane, and a second replica of each component in `doubled`. */
export function controlPlane(
  options: ProgramOptions = {},
  replicated: readonly ElectedComponent[] = [],
): readonly Program[] {
  return [
    ...Object.values(electedComponents).map((program) => program(options)),
    ...replicated.map((name) => electedComponents[name]({ ...options, name: `${name}-2` })),
  ];
}
