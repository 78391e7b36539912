/** Enforces NetworkPolicy on one node: fills the table of the node from informers and writes it with `nft`. */
import { namespace } from '@kruise/api/core/namespace';
import { node } from '@kruise/api/core/node';
import { pod } from '@kruise/api/core/pod';
import { type NetworkPolicy, networkPolicy } from '@kruise/api/networking/networkpolicy';
import type { Caches, Change } from '@kruise/client/informer';
import type { Log } from '@kruise/client/log';
import type { MetricRegistry } from '@kruise/client/metrics';
import { type Clock, every } from '@kruise/values/clock';
import { parsePrefixes } from '../cni/route-plan.ts';
import { createKernelSync } from '../host/kernel-sync.ts';
import { readNftStructure, readNftTable, removeNftTable, writeTransaction } from '../host/nft.ts';
import type { CommandRunner } from '../host/run-command.ts';
import { compilePolicy, directions } from './compiled-policy.ts';
import { policyPodOf } from './policy-pod.ts';
import { createPolicyTable } from './policy-table.ts';

export type NetworkPoliciesOptions = {
  readonly nodeName: string;
  /** Informer caches of all Pods, Namespaces and NetworkPolicies, and of the Node. */
  readonly caches: Caches;
  readonly clock: Clock;
  readonly log: Log;
  readonly run: CommandRunner;
  readonly metrics?: MetricRegistry;
  /** CIDR blocks of the Pods of this node, instead of the Node's `spec.podCIDRs`. */
  readonly podCidrs?: readonly string[];
  /** Time between checks of the kernel's state. */
  readonly checkPeriodMs?: number;
};

export type NetworkPolicies = {
  /** Reports whether the kernel has had a complete set of rules. */
  hasSynced(): boolean;
  /** Resolves when the last transaction has ended after the signal was aborted. The rules stay in the kernel. */
  readonly stopped: Promise<void>;
};

/** Name of the table, with its family. */
export const policyTableName = 'inet kruise-policy';

/** Changes within this time are written in one transaction. */
const batchMs = 20;
const defaultCheckPeriodMs = 30_000;

/** Enforces NetworkPolicy until the signal is aborted. */
export function runNetworkPolicies(options: NetworkPoliciesOptions, signal: AbortSignal): NetworkPolicies {
  const { nodeName, caches, clock, log, run } = options;
  const table = createPolicyTable(policyTableName, nodeName);
  const measure = options.metrics && policyMetrics(options.metrics, table);
  const policies = caches.informer(networkPolicy);
  let hasSynced = false;
  let isAdopted = false;
  /** Pods, Namespaces and the Node are watched as soon as there is a policy: without one, no rule depends on them. */
  let watching: 'nothing' | 'starting' | 'all' = 'nothing';
  let isCheckDue = false;

  const { request, stopped } = createKernelSync(
    {
      clock,
      batchMs,
      isReady: () => watching !== 'starting' && policies.hasSynced(),
      onError(error, retryMs) {
        measure?.failures.increase();
        // The transaction changed nothing; what the kernel has is uncertain only if another program changed the table.
        table.nft.replaceAll();
        log.error({ error, node: nodeName, retryMs }, 'failed to write network policies');
      },
    },
    async () => {
      if (isCheckDue) await check();
      const startMs = clock.elapsedMs();
      if (!isAdopted) await adopt();
      const transaction = table.nft.nextTransaction();
      if (transaction) {
        if (transaction.isReplacement) measure?.fullSyncs.increase();
        await writeTransaction(run, transaction, () => measure?.seconds.observe((clock.elapsedMs() - startMs) / 1000));
      }
      hasSynced = true;
      return undefined;
    },
    signal,
  );

  /** Takes over the rules of an earlier process. */
  async function adopt(): Promise<void> {
    isAdopted = true;
    try {
      table.nft.adopt(await readNftTable(run, policyTableName));
    } catch (error) {
      // There is no table, or none that is readable: the first transaction replaces it.
      log.info({ node: nodeName, reason: (error as Error).message }, 'replacing the table of network policies');
    }
  }

  /** Compares the kernel's table with what was written: another program may have flushed the ruleset. */
  async function check(): Promise<void> {
    isCheckDue = false;
    try {
      const listing = await readNftStructure(run, policyTableName);
      if (!table.nft.isIntact(listing)) throw new Error('the table was changed by another program');
    } catch (error) {
      log.warn({ error, node: nodeName }, 'network policies are missing in the kernel; writing them again');
      table.nft.replaceAll();
    }
  }

  function requestCheck(): void {
    if (!hasSynced) return;
    isCheckDue = true;
    request(0);
  }

  function setPolicy({ type, object }: Change<NetworkPolicy>): void {
    const key = `${object.metadata.namespace}/${object.metadata.name}`;
    table.setPolicy(key, type === 'deleted' ? undefined : compilePolicy(object));
    request();
  }

  function onPolicy(change: Change<NetworkPolicy>): void {
    if (watching === 'all') setPolicy(change);
    else if (watching === 'nothing') void watchAll();
  }

  async function watchAll(): Promise<void> {
    watching = 'starting';
    const pods = caches.informer(pod);
    const namespaces = caches.informer(namespace);
    const nodes = caches.informer(node, { fieldSelector: `metadata.name=${nodeName}` });
    await Promise.all([pods.synced, namespaces.synced, nodes.synced, policies.synced]);
    if (signal.aborted) return;
    namespaces.handle(({ type, object: { metadata } }) => {
      table.setNamespace(metadata.name ?? '', type === 'deleted' ? undefined : (metadata.labels ?? {}));
      request();
    });
    pods.handle(({ type, object }) => {
      const key = `${object.metadata.namespace}/${object.metadata.name}`;
      table.setPod(key, type === 'deleted' ? undefined : policyPodOf(object));
      request();
    });
    nodes.handle(({ object: { spec } }) => {
      const ranges = options.podCidrs ?? spec?.podCIDRs ?? (spec?.podCIDR ? [spec.podCIDR] : []);
      table.setPodCidrs(parsePrefixes(ranges));
      request();
    });
    watching = 'all';
    for (const object of policies.list()) setPolicy({ type: 'added', object, cause: 'initial' });
    log.info({ node: nodeName, pods: pods.size, policies: policies.size }, 'enforcing network policies');
    request(0);
  }

  policies.handle(onPolicy);
  void policies.synced.then(() => request(0));
  every(clock, options.checkPeriodMs ?? defaultCheckPeriodMs, requestCheck, signal);
  return { hasSynced: () => hasSynced, stopped };
}

/** Removes the rules from the kernel. */
export async function removeNetworkPolicies(run: CommandRunner): Promise<void> {
  await removeNftTable(run, policyTableName);
}

const durationBuckets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

function policyMetrics(metrics: MetricRegistry, table: ReturnType<typeof createPolicyTable>) {
  const policies = metrics.gauge('kruise_network_policies', 'Number of NetworkPolicies of the cluster.');
  const isolated = metrics.gauge(
    'kruise_network_policy_isolated_pods',
    'Number of Pods of the node that policies isolate, by direction.',
    ['direction'],
  );
  const elements = metrics.gauge('kruise_network_policy_set_elements', 'Number of elements of all nftables sets.');
  metrics.onCollect(() => {
    const counts = table.counts();
    policies.of().set(counts.policies);
    for (const direction of directions) isolated.of(direction).set(counts[direction]);
    elements.of().set(table.nft.elementCount());
  });
  return {
    seconds: metrics
      .histogram('kruise_network_policy_sync_duration_seconds', 'Time to write a change.', [], durationBuckets)
      .of(),
    failures: metrics.counter('kruise_network_policy_sync_failures_total', 'Failed transactions.').of(),
    fullSyncs: metrics
      .counter('kruise_network_policy_full_syncs_total', 'Transactions that replaced the whole table.')
      .of(),
  };
}
