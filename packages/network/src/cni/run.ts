/** Pod network of one node: keeps routes, masquerading and the CNI configuration up to date. */
import { type Node, node } from '@kruise/api/core/node';
import type { Caches } from '@kruise/client/informer';
import type { Log } from '@kruise/client/log';
import type { MetricRegistry } from '@kruise/client/metrics';
import { type Clock, every } from '@kruise/values/clock';
import { createKernelSync } from '../host/kernel-sync.ts';
import { readNftTable, removeNftTable, writeTransaction } from '../host/nft.ts';
import type { CommandRunner } from '../host/run-command.ts';
import {
  cniConfiguration,
  configurationFile,
  findOtherNetwork,
  formatConfiguration,
  missingPlugins,
} from './configuration.ts';
import type { HostFiles } from './host-files.ts';
import { applyRoutes, defaultVxlan, readLinks, removeRoutes, type VxlanOptions } from './kernel-routes.ts';
import { createMasqueradeTable, masqueradeTableName } from './masquerade.ts';
import { parsePrefixes, planRoutes, type RouteMode, routedNode } from './route-plan.ts';

export type PodNetworkOptions = {
  readonly nodeName: string;
  /** Informer caches of all Nodes. */
  readonly caches: Caches;
  readonly clock: Clock;
  readonly log: Log;
  readonly run: CommandRunner;
  readonly files: HostFiles;
  readonly metrics?: MetricRegistry;
  readonly routes?: RouteMode;
  readonly vxlan?: VxlanOptions;
  /** Reports whether the Pods of another node have a network: simulated ones have none. */
  readonly isRouted?: (node: Node) => boolean;
  /** Gives Pod traffic that leaves the cluster the address of the node. */
  readonly masquerade?: boolean;
  readonly writeConfiguration?: boolean;
  /** CIDR blocks of the Pods of this node, instead of the Node's `spec.podCIDRs`. */
  readonly podCidrs?: readonly string[];
  /** Time between checks of the kernel's state. */
  readonly checkPeriodMs?: number;
  /** MTU of the Pods, instead of that of the node's interface. */
  readonly mtu?: number;
  /** Directory of the address leases. */
  readonly leaseDirectory?: string;
  /** Reports whether Pods may be started: the configuration is not written before. */
  readonly isReady?: () => boolean;
};

export type PodNetwork = {
  /** Reports whether the network has been set up, or belongs to another network plugin. */
  hasSynced(): boolean;
  /** Resolves when the last change has ended after the signal was aborted. Pods stay connected. */
  readonly stopped: Promise<void>;
};

/** Changes of nodes within this time are applied together. */
const batchMs = 100;
const notReadyMs = 100;
/** Other programs may change routes, and other network plugins may be installed. */
const defaultCheckPeriodMs = 30_000;

/** Reason why our configuration is not written, or `written`. */
type Outcome = 'written' | 'disabled' | 'otherNetwork' | 'missingPlugins' | 'noPodCIDR' | 'notReady';

/** Runs the Pod network until the signal is aborted. */
export function runPodNetwork(options: PodNetworkOptions, signal: AbortSignal): PodNetwork {
  const { nodeName, caches, clock, log, run, files, routes = 'auto', vxlan = defaultVxlan } = options;
  const { isRouted = () => true, masquerade = true, writeConfiguration = true, isReady = () => true } = options;
  const nodes = caches.informer(node);
  const measure = options.metrics && networkMetrics(options.metrics);
  const masqueradeTable = createMasqueradeTable();
  let isMasqueradeAdopted = false;
  let hasSynced = false;
  let lastReport = '';

  const { request, stopped } = createKernelSync(
    {
      clock,
      batchMs,
      isReady: () => nodes.hasSynced(),
      onError(error, retryMs) {
        measure?.failures.increase();
        masqueradeTable.nft.replaceAll();
        log.error({ error, node: nodeName, retryMs }, 'failed to update the Pod network');
      },
    },
    async () => {
      const outcome = await reconcile();
      measure?.report(outcome);
      hasSynced = outcome !== 'notReady' && outcome !== 'noPodCIDR';
      return outcome === 'notReady' ? notReadyMs : undefined;
    },
    signal,
  );

  async function reconcile(): Promise<Outcome> {
    const other = findOtherNetwork(await files.readConfigurations());
    if (other && writeConfiguration) {
      report(
        { ...other, reason: 'another network plugin is installed' },
        'the Pod network of another plugin is used; CNI configuration not written',
      );
      await removeOwn();
      return 'otherNetwork';
    }
    const own = nodes.get({ name: nodeName });
    const self = own && withRanges(own);
    if (!self || self.podCidrs.length === 0) {
      report({ node: nodeName, reason: 'spec.podCIDRs of the Node is empty' }, 'waiting for the Pod CIDR of the node');
      return 'noPodCIDR';
    }
    const others = nodes
      .list()
      .filter((each) => each.metadata.name !== nodeName && isRouted(each))
      .map(routedNode)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const plan = planRoutes(self, others, await readLinks(run), routes);
    const present = [4, 6] as const;
    await files.enableForwarding(
      present.filter((family) => self.podCidrs.some(({ address }) => address.family === family)),
    );
    measure?.routes.set(plan.routes.length);
    measure?.changes.increase(await applyRoutes(run, plan, vxlan));
    if (plan.unreached.length > 0) log.warn({ nodes: plan.unreached }, 'Pods of some nodes are unreachable');
    if (masquerade) await updateMasquerade(plan);
    if (!writeConfiguration) return 'disabled';
    const plugins = await files.plugins();
    const missing = missingPlugins(plugins);
    if (missing.length > 0) {
      report(
        { plugins: missing, reason: 'CNI plugins are not installed' },
        'CNI configuration not written; install the plugins of containernetworking',
      );
      return 'missingPlugins';
    }
    if (!isReady()) return 'notReady';
    const { leaseDirectory: dataDir } = options;
    const content = formatConfiguration(
      cniConfiguration({
        podCidrs: plan.podCidrs,
        mtu: options.mtu ?? plan.mtu,
        plugins,
        hasIptables: await files.hasIptables(),
        ...(dataDir === undefined ? {} : { dataDir }),
      }),
    );
    const current = (await files.readConfigurations()).find(({ name }) => name === configurationFile);
    if (current?.content !== content) {
      await files.writeConfiguration(content);
      report({ node: nodeName, podCIDRs: plan.podCidrs }, 'CNI configuration written');
    }
    return 'written';
  }

  function withRanges(own: Node) {
    const facts = routedNode(own);
    return options.podCidrs ? { ...facts, podCidrs: parsePrefixes(options.podCidrs) } : facts;
  }

  async function updateMasquerade(plan: Parameters<typeof masqueradeTable.update>[0]): Promise<void> {
    masqueradeTable.update(plan);
    const listing = await readNftTable(run, masqueradeTableName).catch(() => undefined);
    if (listing && !isMasqueradeAdopted) masqueradeTable.nft.adopt(listing);
    else if (!listing || !masqueradeTable.nft.isIntact(listing)) masqueradeTable.nft.replaceAll();
    isMasqueradeAdopted = true;
    const transaction = masqueradeTable.nft.nextTransaction();
    if (transaction) await writeTransaction(run, transaction);
  }

  /** Removes what this program has set up before another network plugin was installed. */
  async function removeOwn(): Promise<void> {
    await files.removeConfiguration();
    await removeRoutes(run);
    await removeNftTable(run, masqueradeTableName);
    masqueradeTable.nft.replaceAll();
  }

  /** Logs a state once. */
  function report(fields: object, message: string): void {
    const text = JSON.stringify(fields);
    if (text !== lastReport) log.info(fields, message);
    lastReport = text;
  }

  nodes.handle(({ type, object, previous }) => {
    if (type !== 'updated' || !previous || routeFacts(object) !== routeFacts(previous)) request();
  });
  void nodes.synced.then(() => request(0));
  every(clock, options.checkPeriodMs ?? defaultCheckPeriodMs, () => request(0), signal);
  return { hasSynced: () => hasSynced, stopped };
}

/** Removes the routes, the masquerading and the CNI configuration. Existing Pods lose their connection. */
export async function removePodNetwork(run: CommandRunner, files: HostFiles): Promise<void> {
  await files.removeConfiguration();
  await removeRoutes(run);
  await removeNftTable(run, masqueradeTableName);
}

function routeFacts({ spec, status }: Node): string {
  return JSON.stringify([spec?.podCIDR, spec?.podCIDRs, status?.addresses]);
}

function networkMetrics(metrics: MetricRegistry) {
  const configuration = metrics.gauge(
    'kruise_network_cni_configuration',
    'Whether the CNI configuration is written, or the reason why not.',
    ['state'],
  );
  return {
    routes: metrics.gauge('kruise_network_routes', 'Number of routes to Pods of other nodes.').of(),
    changes: metrics.counter('kruise_network_route_changes_total', 'Commands that changed routes or neighbors.').of(),
    failures: metrics.counter('kruise_network_failures_total', 'Failed updates of the Pod network.').of(),
    report(outcome: Outcome) {
      configuration.clear();
      configuration.of(outcome).set(1);
    },
  };
}
