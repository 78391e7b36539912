/**
 * Components of a cluster in the process of the API server. They share one set of caches, whose objects are those of
 * the server, and write without a socket, but with their own identity: each request passes authorization, admission and
 * validation like one from outside.
 */
import { kruiseNamespace } from '@kruise/api/kruise/well-known';
import type { InProcessServers } from '@kruise/apiserver/aggregation/in-process-servers';
import type { Core } from '@kruise/apiserver/core';
import { inProcessTransport } from '@kruise/apiserver/in-process';
import { serviceAccountGroups, serviceAccountUsername } from '@kruise/apiserver/service-account-user';
import { serverItself, type User } from '@kruise/apiserver/user';
import { type Client, createClient } from '@kruise/client/client';
import { createControllerMetrics } from '@kruise/client/controller-metrics';
import { type Caches, createCaches } from '@kruise/client/informer';
import type { LeaderElectionOptions } from '@kruise/client/leader-election';
import { type Log, withFields } from '@kruise/client/log';
import { restartOnLeadershipLoss, runControllers } from '@kruise/client/manager';
import type { MetricRegistry } from '@kruise/client/metrics';
import { createStuckKeyRegistry, type StuckKeyRegistry } from '@kruise/client/stuck-keys';
import type { Webhook } from '@kruise/client/webhook';
import { runCloudControllerManager } from '@kruise/controlplane/cloud/cloud-controller-manager';
import { localProvider } from '@kruise/controlplane/cloud/local/provider';
import { runControllerManager } from '@kruise/controlplane/controllers/controller-manager';
import type { ControllerSettings } from '@kruise/controlplane/controllers/settings';
import { localStorageControllers } from '@kruise/controlplane/local-storage/controller';
import { installLocalStorage, localStorageAccount } from '@kruise/controlplane/local-storage/manifests';
import { createSchedulerMetrics } from '@kruise/controlplane/scheduler/metrics';
import { runScheduler } from '@kruise/controlplane/scheduler/scheduler';
import { startDaemon } from '@kruise/daemon/daemon';
import {
  daemonAccount,
  grantDaemonPermissions,
  grantManagerPermissions,
  managerAccount,
} from '@kruise/manager/bootstrap/rbac';
import { type ManagerSettings, managerSettings } from '@kruise/manager/configuration/settings';
import { runManager } from '@kruise/manager/manager';
import { installConfigurations } from '@kruise/manager/webhooks/configurations';
import type { ProtectionEvent } from '@kruise/manager/webhooks/context';
import type { NodeRuntime } from '@kruise/node/cri/runtime';
import { installMetrics, metricsService } from '@kruise/node/metrics-server/manifests';
import { metricsApi } from '@kruise/node/metrics-server/metrics-api';
import { createUsageScraper } from '@kruise/node/metrics-server/usage-scraper';
import type { NodeDirectory } from '@kruise/node/node-directory';
import type { Nodes, NodesOptions } from '@kruise/node/nodes';
import { startNodes } from '@kruise/node/nodes';
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { ComponentName } from './component-names.ts';
import { createRequestQueue, withFairQueue } from './fair-queue.ts';
import { type ClusterGates, clusterGates } from './feature-gates.ts';

/** Benchmarking range (RFC 2544) that is not used on any network, for addresses of load balancers. */
const loadBalancerRanges = ['198.18.0.0/24'];

export type ComponentOptions = {
  readonly core: Core;
  readonly log: Log;
  /** Host name for events and leases. */
  readonly host: string;
  readonly settings: ControllerSettings;
  /** Webhooks that the API server calls in process; those of Kruise are added here. */
  readonly webhooks: Map<string, Webhook>;
  /** Aggregated API servers of this process; the metrics server is added here. */
  readonly servers: InProcessServers;
  /** Feature gates of kruise-manager, kruise-daemon and the kubelets. */
  readonly gates?: ClusterGates;
  readonly nodes: {
    readonly count: number;
    /** Nodes that were added. */
    readonly more?: NonNullable<NodesOptions['more']>;
    /** Registry by which the API server finds the kubelets. */
    readonly directory: NodeDirectory;
  } & Pick<NodesOptions, 'outside'>;
  /** Starts this machine as a real node; resolves once the Node is registered. */
  readonly startMachine?: (parts: MachineParts, until: AbortSignal) => Promise<Machine>;
  /** Components that run elsewhere. */
  readonly without?: readonly ComponentName[];
  /** Leader election for controllers and scheduler among processes that share a store; without it they always run. */
  readonly leaderElection?: Omit<LeaderElectionOptions, 'name' | 'namespace'>;
  /** Returns the metric registry of a component; without it there are no metrics. */
  readonly registryOf?: (name: ComponentName) => MetricRegistry;
  /** Called for each deletion that kruise-manager rejected. */
  readonly onProtected?: (event: ProtectionEvent) => void;
  /** Reports the progress of the start to the user. */
  readonly step?: <T>(title: string, work: () => Promise<T>) => Promise<T>;
};

/** Dependencies of the node of this machine. */
export type MachineParts = {
  /** Returns a client with the permissions of a node. */
  clientOf(nodeName: string): Client;
  /** Returns a client with the permissions of a user: of kube-proxy, for example. */
  userClient(username: string): Client;
  /** Returns a client with the permissions of a service account in kube-system. */
  accountClient(account: string): Client;
  /** A client with the permissions of the API server itself. */
  readonly reader: Client;
  readonly caches: Caches;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly gates: ClusterGates;
  /** Serves the node with kruise-daemon. */
  readonly accompany?: (node: { readonly name: string; readonly runtime: NodeRuntime }, until: AbortSignal) => void;
};

/** The real node that this machine is. */
export type Machine = {
  readonly name: string;
  readonly runtime: NodeRuntime;
  /** Resolves when its kubelet has stopped after the signal was aborted. */
  readonly stopped: Promise<void>;
};

/** The running components of a cluster. */
export type Components = {
  readonly caches: Caches;
  /** Keys that controllers have been retrying for more than ten minutes. */
  readonly stuckKeys: StuckKeyRegistry;
  /** Nodes of this process. */
  readonly nodes: Nodes;
  /** Stops all components gracefully. */
  stop(): Promise<void>;
};

/** Starts the components of a cluster. */
export async function startComponents(options: ComponentOptions): Promise<Components> {
  const { core, log, host, settings, webhooks, servers, gates = clusterGates(''), without = [] } = options;
  const { clock, random } = core;
  const stopping = new AbortController();
  const served = new AbortController();
  const onError = (error: unknown) => log.warn({ error }, 'background request failed; it will be tried again');
  const caches = createCaches(clientOf(core, serverItself), clock, random, { newest: true, onError }, served.signal);
  const stuckKeys = createStuckKeyRegistry();
  const shared = (name: string) => ({ clock, random, caches, stuckKeys, log: withFields(log, { component: name }) });
  const accounts = { clientOf: (account: string) => clientOf(core, serviceAccount('kube-system', account)) };
  const running: Promise<void>[] = [];
  const step = options.step ?? ((_title, work) => work());
  const electionOf = (name: string, namespace = 'kube-system') =>
    options.leaderElection ? { leaderElection: { ...options.leaderElection, name, namespace } } : {};
  /** Returns the metrics of a component. Called once, because a metric can be registered only once. */
  const metricsOf = (name: ComponentName) => {
    const registry = options.registryOf?.(name);
    return registry ? { registry, metrics: createControllerMetrics(registry) } : {};
  };
  const onLeadershipLost = (name: ComponentName) => (error: Error) => log.warn({ component: name }, error.message);
  const runElected = (name: ComponentName, run: () => Promise<void>) =>
    void running.push(restartOnLeadershipLoss(run, onLeadershipLost(name)));
  const has = (name: ComponentName) => !without.includes(name);

  if (has('manager')) {
    await step('kruise-manager', async () => {
      const managing = managerSettingsOf(gates);
      await grantManagerPermissions(clientOf(core, serverItself), managing.namespace);
      const serving = Promise.withResolvers<void>();
      const managed = runManager(
        {
          ...shared('manager'),
          client: clientOf(core, serviceAccount(managing.namespace, managerAccount)),
          settings: managing,
          inProcessWebhooks: webhooks,
          onServing: serving.resolve,
          onLeadershipLost: onLeadershipLost('manager'),
          ...electionOf('kruise-manager', managing.namespace),
          ...(options.registryOf ? { registry: options.registryOf('manager') } : {}),
          ...(options.onProtected ? { onProtected: options.onProtected } : {}),
        },
        stopping.signal,
      );
      await Promise.race([serving.promise, managed]);
      running.push(managed);
    });
  }
  if (has('controller-manager') || has('cloud-controller-manager')) {
    await step('Controllers', async () => {
      if (has('controller-manager')) {
        const { metrics } = metricsOf('controller-manager');
        const parts = {
          ...shared('controller-manager'),
          ...accounts,
          ...electionOf('kube-controller-manager'),
          ...(metrics ? { metrics } : {}),
          client: clientOf(core, component('system:kube-controller-manager')),
          settings,
          // Bootstrap tokens, with which other machines join.
          controllers: ['*', 'bootstrap-signer-controller', 'token-cleaner-controller'],
        };
        runElected('controller-manager', () => runControllerManager(parts, stopping.signal));
      }
      if (has('cloud-controller-manager')) {
        const { metrics } = metricsOf('cloud-controller-manager');
        const parts = {
          ...shared('cloud-controller-manager'),
          ...accounts,
          ...electionOf('cloud-controller-manager'),
          ...(metrics ? { metrics } : {}),
          // Controllers have their own service accounts. This client is for the Lease, which those may not write.
          client: clientOf(core, serverItself),
          provider: localProvider({ addressRanges: loadBalancerRanges }),
        };
        runElected('cloud-controller-manager', () => runCloudControllerManager(parts, stopping.signal));
      }
    });
  }

  const daemon = has('daemon') ? await step('kruise-daemon', startDaemonOfNodes) : undefined;
  const nodes = startNodes(
    {
      ...shared('nodes'),
      ...options.nodes,
      node: { gates: gates.kubelet },
      ...(daemon ? { accompany: daemon } : {}),
      clientOf: (name) => clientOf(core, component(`system:node:${name}`, 'system:nodes')),
      reader: clientOf(core, serverItself),
    },
    stopping.signal,
  );
  const machine = options.startMachine && (await step('This machine', () => startMachine(options.startMachine!)));
  if (has('metrics')) await step('Metrics', () => startMetrics());
  if (has('local-storage')) await step('Local storage', () => startLocalStorage());
  const count = nodes.list().length;
  if (count > 0) await step(count === 1 ? 'A node' : `${count} nodes`, () => nodes.registered);
  // A Pod that finds no node is retried a second later, so nodes are started before the scheduler.
  if (has('scheduler')) {
    await step('Scheduler', async () => {
      const { registry, metrics } = metricsOf('scheduler');
      const parts = {
        ...shared('scheduler'),
        ...electionOf('kube-scheduler'),
        ...(metrics ? { metrics } : {}),
        ...(registry ? { schedulerMetrics: createSchedulerMetrics(registry) } : {}),
        client: clientOf(core, component('system:kube-scheduler')),
        host,
      };
      runElected('scheduler', () => runScheduler(parts, stopping.signal));
    });
  }

  /** Starts one kruise-daemon for all nodes of this process. */
  async function startDaemonOfNodes(): Promise<NonNullable<MachineParts['accompany']>> {
    await grantDaemonPermissions(clientOf(core, serverItself), kruiseNamespace);
    const client = clientOf(core, serviceAccount(kruiseNamespace, daemonAccount));
    const { metrics } = metricsOf('daemon');
    const counting = metrics ? { metrics } : {};
    const daemon = startDaemon({ ...shared('daemon'), ...counting, client, gates: gates.kruise }, stopping.signal);
    running.push(daemon.stopped);
    return ({ name, runtime }, until) => void daemon.serve({ name, runtimes: [runtime] }, until);
  }

  async function startMachine(start: NonNullable<ComponentOptions['startMachine']>): Promise<Machine> {
    const parts: MachineParts = {
      ...shared('node'),
      clientOf: (name) => clientOf(core, component(`system:node:${name}`, 'system:nodes')),
      userClient: (username) => clientOf(core, component(username)),
      accountClient: accounts.clientOf,
      reader: clientOf(core, serverItself),
      gates,
      ...(daemon ? { accompany: daemon } : {}),
    };
    const started = await start(parts, stopping.signal);
    running.push(started.stopped);
    return started;
  }

  async function startMetrics(): Promise<void> {
    servers.add(
      metricsService,
      metricsApi({ caches, clock, figures: createUsageScraper(options.nodes.directory, clock) }),
    );
    await installMetrics(clientOf(core, serverItself));
  }

  async function startLocalStorage(): Promise<void> {
    await installLocalStorage(clientOf(core, serverItself));
    const own = accounts.clientOf(localStorageAccount);
    const parts = {
      ...shared('local-storage'),
      ...electionOf('kruise-local-storage'),
      // Client for the Lease, which the service account may not write.
      client: clientOf(core, serverItself),
      clientFor: () => own,
    };
    runElected('local-storage', () => {
      const controllers = localStorageControllers({
        removeDirectory: async ({ node, path }) => {
          const { runtime } = (node === machine?.name ? machine : nodes.get(node)) ?? {};
          await runtime?.files.remove(path);
        },
      });
      return runControllers(controllers, parts, stopping.signal);
    });
  }

  return {
    caches,
    stuckKeys,
    nodes,
    async stop() {
      stopping.abort();
      await Promise.all([...running, nodes.stopped()]);
      served.abort();
    },
  };
}

/** Returns the settings of a kruise-manager in the same process as the nodes. */
function managerSettingsOf({ kruise }: ClusterGates): ManagerSettings {
  // kruise-daemon starts together with the nodes, so NodeImages need no delay.
  return managerSettings({ gates: kruise, nodeImageCreationDelayMs: 0 });
}

/**
 * Registers the webhooks of kruise-manager before it runs: until then objects of its kinds are rejected, as in any
 * cluster, instead of stored without their defaults.
 */
export function registerManagerWebhooks(core: Core, gates: ClusterGates): Promise<void> {
  return installConfigurations(clientOf(core, serverItself), managerSettingsOf(gates));
}

/** Fair queue of all requests in this process. */
const fairQueue = createRequestQueue();

function clientOf(core: Core, user: User): Client {
  return createClient(withFairQueue(fairQueue, inProcessTransport(core, user, user.username)));
}

function component(username: string, ...groups: readonly string[]): User {
  return { username, groups: [...groups, 'system:authenticated'] };
}

function serviceAccount(namespace: string, name: string): User {
  return {
    username: serviceAccountUsername(namespace, name),
    groups: [...serviceAccountGroups(namespace), 'system:authenticated'],
  };
}
