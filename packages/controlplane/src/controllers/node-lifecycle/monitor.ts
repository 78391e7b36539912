/**
 * Node monitor: checks the heartbeats of nodes every few seconds, sets the conditions of unreachable nodes and their
 * Pods, and taints nodes so that Pods are evicted. A period costs one comparison per node: Pods are processed only when
 * a node becomes not ready, and when a Pod is bound to such a node.
 */
import { lease } from '@kruise/api/coordination/lease';
import { type Node, node } from '@kruise/api/core/node';
import { type Pod, pod } from '@kruise/api/core/pod';
import { type ControllerContext, type Runnable, watch, whenSynced } from '@kruise/client/controller';
import { type Key, keyOf } from '@kruise/client/object-key';
import { findCondition, withCondition } from '@kruise/machinery/conditions';
import { isConflict, isNotFound } from '@kruise/machinery/status';
import { after } from '@kruise/values/clock';
import { mapConcurrently } from '@kruise/values/map-concurrently';
import { byNode } from '@kruise/workload-kit/pod-indexes';
import { changedTaints, hasTaint, patchTaints, type TaintId } from '../node-taints.ts';
import { evictingTaints } from './decide.ts';
import { type GracePeriods, type Health, observeHealth, unknownConditionsOf } from './health.ts';
import { createRateLimitedQueue, type RateLimitedQueue } from './rate-limited-queue.ts';
import {
  type EvictionLimits,
  evictionRateOf,
  isCounted,
  isEveryNodeUnready,
  type ZoneCounts,
  zoneOf,
} from './zones.ts';

export type MonitorSettings = GracePeriods & EvictionLimits & { readonly periodSeconds: number };

const leaseNamespace = 'kube-node-lease';
const nodeLeases = { namespace: leaseNamespace };
const fieldManager = 'kube-controller-manager';
/** Number of nodes, and of Pods of one node, that are written concurrently. */
const maxConcurrentWrites = 8;

export function nodeMonitor(settings: MonitorSettings): Runnable {
  const sources = { watches: [watch(lease, () => [], { selection: nodeLeases })], uses: [node, pod] };
  return {
    name: 'node-monitor',
    component: 'node-controller',
    ...sources,
    async run(context, signal) {
      await whenSynced(sources, context.caches, signal);
      const monitor = createMonitor(settings, context, signal);
      while (!signal.aborted) {
        await monitor.look();
        await after(context.clock, settings.periodSeconds * 1000, signal).catch(() => {});
      }
    },
  };
}

function createMonitor(settings: MonitorSettings, context: ControllerContext, signal: AbortSignal) {
  const { client, clock, caches, record, log } = context;
  const known = new Map<string, { readonly node: Node; readonly health: Health }>();
  /** Nodes that became not ready, with Pods that are not marked as not ready yet. */
  const nodesWithReadyPods = new Set<string>();
  /**
   * Pods that appeared on a node that is not ready: bound before that was known, observed after its Pods were
   * processed.
   */
  const latePods = new Set<Key>();
  const queues = new Map<string, RateLimitedQueue>();
  let wasEverythingDown = false;

  caches.informer(pod).handle(
    ({ type, object, previous }) => {
      const name = object.spec?.nodeName;
      if (name && type !== 'deleted' && previous?.spec?.nodeName !== name && isDown(name)) latePods.add(keyOf(object));
    },
    { signal },
  );

  async function checkNodes(): Promise<void> {
    const nodes = caches.of(node).list();
    registerNodes(nodes);
    const zones = new Map<string, ZoneCounts>();
    const unresponsive: Node[] = [];
    for (const each of nodes) {
      const now = clock.now();
      const name = nameOf(each);
      const renewal = caches.of(lease, nodeLeases).get({ namespace: leaseNamespace, name });
      const before = known.get(name)?.health;
      const health = observeHealth(before, each, renewal, now);
      known.set(name, { node: each, health });
      // The previous leader may have stopped before it updated the Pods.
      if (!before && health.ready?.status === 'Unknown') nodesWithReadyPods.add(name);
      const conditions = unknownConditionsOf(each, health, settings, now);
      if (conditions) unresponsive.push({ ...each, status: { ...each.status, conditions: [...conditions] } });
      if (isCounted(each)) count(zones, zoneOf(each), !conditions && health.ready?.status === 'True');
    }
    await forEachConcurrently(unresponsive, markNodeUnknown);
    await forEachConcurrently([...nodesWithReadyPods], markPodsNotReady);
    await forEachConcurrently([...latePods], markLatePodNotReady);
    await setEvictionRates(zones, nodes);
    await forEachConcurrently(nodes, evict);
  }

  function isDown(name: string): boolean {
    const status = known.get(name)?.health.ready?.status;
    return status !== undefined && status !== 'True';
  }

  /** Processes items with a concurrency limit. Failures are logged and retried in the next period. */
  async function forEachConcurrently<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<number> {
    const failures = await mapConcurrently(items, maxConcurrentWrites, async (item): Promise<number> => {
      try {
        await work(item);
        return 0;
      } catch (error) {
        log.warn({ error }, 'failed to process unhealthy node; will retry');
        return 1;
      }
    });
    return failures.reduce((sum, failed) => sum + failed, 0);
  }

  function registerNodes(nodes: readonly Node[]): void {
    for (const each of nodes) {
      const before = known.get(nameOf(each))?.node;
      if (before?.metadata.uid === each.metadata.uid) continue;
      if (before) unregisterNode(before);
      recordNodeEvent(
        each,
        'RegisteredNode',
        `Node ${nameOf(each)} event: Registered Node ${nameOf(each)} in Controller`,
      );
    }
    for (const [name, { node: each }] of known) if (!caches.of(node).get(name)) unregisterNode(each);
  }

  function unregisterNode(gone: Node): void {
    const name = nameOf(gone);
    known.delete(name);
    nodesWithReadyPods.delete(name);
    queues.get(zoneOf(gone))?.remove(name);
    recordNodeEvent(gone, 'RemovingNode', `Node ${name} event: Removing Node ${name} from Controller`);
  }

  function recordNodeEvent(about: Node, reason: string, message: string): void {
    record({ about, type: 'Normal', reason, message });
  }

  async function markNodeUnknown(unresponsive: Node): Promise<void> {
    const name = nameOf(unresponsive);
    const before = known.get(name)!;
    const written = await ignoreConflict(client.update(node, unresponsive, { subresource: 'status', fieldManager }));
    if (!written) return;
    known.set(name, { node: written, health: { ...before.health, ready: readyOf(written) } });
    if (before.health.ready?.status !== 'True') return;
    recordNodeEvent(written, 'NodeNotReady', `Node ${name} status is now: NodeNotReady`);
    nodesWithReadyPods.add(name);
  }

  async function markPodsNotReady(name: string): Promise<void> {
    const failures = isDown(name)
      ? await forEachConcurrently(caches.of(pod).byIndex(byNode, name), markPodNotReady)
      : 0;
    if (failures === 0) nodesWithReadyPods.delete(name);
  }

  async function markLatePodNotReady(key: Key): Promise<void> {
    const found = caches.of(pod).get(key);
    if (found && isDown(found.spec?.nodeName ?? '')) await markPodNotReady(found);
    latePods.delete(key);
  }

  /** Sets the Ready condition of a Pod on an unhealthy node to false. */
  async function markPodNotReady(found: Pod): Promise<void> {
    const ready = findCondition(found.status?.conditions, 'Ready');
    if (!ready || ready.status === 'False') return;
    const { lastTransitionTime: _, ...condition } = ready;
    const conditions = withCondition(found.status?.conditions, { ...condition, status: 'False' }, clock.now());
    const changed = { ...found, status: { ...found.status, conditions: [...conditions] } };
    try {
      await client.update(pod, changed, { subresource: 'status', fieldManager });
    } catch (error) {
      if (isNotFound(error)) return;
      throw error;
    }
    record({ about: found, type: 'Warning', reason: 'NodeNotReady', message: 'Node is not ready' });
  }

  /** Sets the eviction rate of each zone. If no node is ready, removes all NoExecute taints and stops evictions. */
  async function setEvictionRates(zones: ReadonlyMap<string, ZoneCounts>, nodes: readonly Node[]): Promise<void> {
    const isDown = isEveryNodeUnready(zones, settings);
    for (const [zone, counts] of zones) queueOf(zone).setRate(isDown ? 0 : evictionRateOf(counts, settings));
    if (isDown && !wasEverythingDown) {
      log.warn({ nodes: nodes.length }, 'no node is ready; evictions stopped');
      await forEachConcurrently(nodes, async (each) => {
        queueOf(zoneOf(each)).remove(nameOf(each));
        await retaint(each, { drop: evictingTaints });
      });
    }
    if (!isDown && wasEverythingDown) {
      log.info({ nodes: nodes.length }, 'nodes are ready again; evictions resumed');
      // This controller may have been partitioned from all nodes, so their grace periods start again.
      const lastHeartbeatAt = clock.now();
      for (const [name, { health, ...rest }] of known)
        known.set(name, { ...rest, health: { ...health, lastHeartbeatAt } });
    }
    wasEverythingDown = isDown;
  }

  /**
   * Taints a node that was unhealthy at the start of the period: immediately if only the taint changes, otherwise
   * through the rate-limited queue.
   */
  async function evict(each: Node): Promise<void> {
    const queue = queueOf(zoneOf(each));
    const taints = evictionOf(each);
    if (taints === undefined || hasTaint(each, taints.add)) queue.remove(nameOf(each));
    else if (hasTaint(each, taints.drop)) await retaint(each, { add: [taints.add], drop: [taints.drop] });
    else queue.add(nameOf(each));
  }

  function queueOf(zone: string): RateLimitedQueue {
    let queue = queues.get(zone);
    if (!queue) {
      queue = createRateLimitedQueue(
        clock,
        settings.evictionRate,
        (name) => void forEachConcurrently([name], taintNode),
        signal,
      );
      queues.set(zone, queue);
    }
    return queue;
  }

  async function taintNode(name: string): Promise<void> {
    const found = caches.of(node).get(name);
    const taints = found && evictionOf(found);
    if (taints) await retaint(found, { add: [taints.add], drop: [taints.drop] });
  }

  async function retaint(each: Node, change: Parameters<typeof changedTaints>[1]): Promise<void> {
    const taints = changedTaints(each, change, clock.now());
    if (!taints) return;
    const { patch, patchType: type } = patchTaints(each, taints);
    await ignoreConflict(client.patch(node, { name: nameOf(each) }, patch, { type, fieldManager }));
  }

  return { look: checkNodes };
}

/** Returns the taint for the node's state and the opposite one to remove; undefined for a ready node. */
function evictionOf(each: Node): { readonly add: TaintId; readonly drop: TaintId } | undefined {
  const [notReady, unreachable] = evictingTaints as [TaintId, TaintId];
  switch (readyOf(each)?.status) {
    case 'False':
      return { add: notReady, drop: unreachable };
    case 'Unknown':
      return { add: unreachable, drop: notReady };
    default:
      return undefined;
  }
}

function count(zones: Map<string, ZoneCounts>, zone: string, isReady: boolean): void {
  const { ready, notReady } = zones.get(zone) ?? { ready: 0, notReady: 0 };
  zones.set(zone, isReady ? { ready: ready + 1, notReady } : { ready, notReady: notReady + 1 });
}

function readyOf({ status }: Node) {
  return findCondition(status?.conditions, 'Ready');
}

function nameOf({ metadata }: Node): string {
  return metadata.name ?? '';
}

/** Returns the result of a write; undefined on conflict, or if the object is gone. */
async function ignoreConflict<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write;
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return undefined;
    throw error;
  }
}
