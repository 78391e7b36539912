/**
 * Looks around every few seconds for nodes that have fallen silent, says so in their status and in that of their Pods,
 * and has Pods driven out of nodes that stay down. A look costs a comparison a node: Pods are looked at when a node
 * goes down, and when one comes to a node that is down.
 */
import { lease } from '@kruise/api/coordination/lease';
import { type Node, node } from '@kruise/api/core/node';
import { type Pod, pod } from '@kruise/api/core/pod';
import { type ControllerContext, type Runnable, watch, whenSynced } from '@kruise/client/controller';
import { type Key, keyOf } from '@kruise/client/object-key';
import { findCondition, withCondition } from '@kruise/machinery/conditions';
import { isConflict, isNotFound } from '@kruise/machinery/status';
import { after } from '@kruise/values/clock';
import { someAtATime } from '@kruise/values/some-at-a-time';
import { changedTaints, hasTaint, patchTaints, type TaintId } from '../node-taints.ts';
import { byNode } from '../pod-indexes.ts';
import { evictingTaints } from './decide.ts';
import { conditionsOfSilent, type Health, noticed, type Patience } from './health.ts';
import { createPacedQueue, type PacedQueue } from './paced-queue.ts';
import { type EvictionLimits, evictionRateOf, isCounted, isEverythingDown, type ZoneCensus, zoneOf } from './zones.ts';

export type MonitorSettings = Patience & EvictionLimits & { readonly periodSeconds: number };

const leaseNamespace = 'kube-node-lease';
const nodeLeases = { namespace: leaseNamespace };
const fieldManager = 'kube-controller-manager';
/** Nodes, and Pods of one node, that are written at a time. */
const writersAtOnce = 8;

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
  /** Nodes that went down and whose Pods do not all say so yet. */
  const unfinished = new Set<string>();
  /** Pods that came to a node that is down: bound before that was known, seen after its Pods were looked at. */
  const latecomers = new Set<Key>();
  const queues = new Map<string, PacedQueue>();
  let wasEverythingDown = false;

  caches.informer(pod).handle(
    ({ type, object, previous }) => {
      const name = object.spec?.nodeName;
      if (name && type !== 'deleted' && previous?.spec?.nodeName !== name && isDown(name))
        latecomers.add(keyOf(object));
    },
    { signal },
  );

  async function look(): Promise<void> {
    const nodes = caches.of(node).list();
    welcome(nodes);
    const zones = new Map<string, ZoneCensus>();
    const silent: Node[] = [];
    for (const each of nodes) {
      const now = clock.now();
      const name = nameOf(each);
      const renewal = caches.of(lease, nodeLeases).get({ namespace: leaseNamespace, name });
      const before = known.get(name)?.health;
      const health = noticed(before, each, renewal, now);
      known.set(name, { node: each, health });
      // Whoever said so may have been stopped before its Pods were told.
      if (!before && health.ready?.status === 'Unknown') unfinished.add(name);
      const conditions = conditionsOfSilent(each, health, settings, now);
      if (conditions) silent.push({ ...each, status: { ...each.status, conditions: [...conditions] } });
      if (isCounted(each)) count(zones, zoneOf(each), !conditions && health.ready?.status === 'True');
    }
    await eachOf(silent, announceSilent);
    await eachOf([...unfinished], tellPodsOf);
    await eachOf([...latecomers], tellLatecomer);
    await pace(zones, nodes);
    await eachOf(nodes, evict);
  }

  function isDown(name: string): boolean {
    const status = known.get(name)?.health.ready?.status;
    return status !== undefined && status !== 'True';
  }

  /** Does something with each item, a few at a time. What fails is told, and tried again at the next look. */
  async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<number> {
    const failures = await someAtATime(items, writersAtOnce, async (item): Promise<number> => {
      try {
        await work(item);
        return 0;
      } catch (error) {
        log.warn({ error }, 'what a node that is down calls for could not be done');
        return 1;
      }
    });
    return failures.reduce((sum, failed) => sum + failed, 0);
  }

  function welcome(nodes: readonly Node[]): void {
    for (const each of nodes) {
      const before = known.get(nameOf(each))?.node;
      if (before?.metadata.uid === each.metadata.uid) continue;
      if (before) farewell(before);
      tellOfNode(each, 'RegisteredNode', `Node ${nameOf(each)} event: Registered Node ${nameOf(each)} in Controller`);
    }
    for (const [name, { node: each }] of known) if (!caches.of(node).get(name)) farewell(each);
  }

  function farewell(gone: Node): void {
    const name = nameOf(gone);
    known.delete(name);
    unfinished.delete(name);
    queues.get(zoneOf(gone))?.remove(name);
    tellOfNode(gone, 'RemovingNode', `Node ${name} event: Removing Node ${name} from Controller`);
  }

  function tellOfNode(about: Node, reason: string, message: string): void {
    record({ about, type: 'Normal', reason, message });
  }

  async function announceSilent(silent: Node): Promise<void> {
    const name = nameOf(silent);
    const before = known.get(name)!;
    const written = await unlessOutdated(client.update(node, silent, { subresource: 'status', fieldManager }));
    if (!written) return;
    known.set(name, { node: written, health: { ...before.health, ready: readyOf(written) } });
    if (before.health.ready?.status !== 'True') return;
    tellOfNode(written, 'NodeNotReady', `Node ${name} status is now: NodeNotReady`);
    unfinished.add(name);
  }

  async function tellPodsOf(name: string): Promise<void> {
    const failures = isDown(name) ? await eachOf(caches.of(pod).byIndex(byNode, name), tellPod) : 0;
    if (failures === 0) unfinished.delete(name);
  }

  async function tellLatecomer(key: Key): Promise<void> {
    const found = caches.of(pod).get(key);
    if (found && isDown(found.spec?.nodeName ?? '')) await tellPod(found);
    latecomers.delete(key);
  }

  /** Says of a Pod on a node that is down that it is not ready. */
  async function tellPod(found: Pod): Promise<void> {
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

  /** Sets how fast each zone's nodes are tainted; if all nodes are down, takes back all taints and waits. */
  async function pace(zones: ReadonlyMap<string, ZoneCensus>, nodes: readonly Node[]): Promise<void> {
    const isDown = isEverythingDown(zones, settings);
    for (const [zone, census] of zones) queueOf(zone).setRate(isDown ? 0 : evictionRateOf(census, settings));
    if (isDown && !wasEverythingDown) {
      log.warn({ nodes: nodes.length }, 'no node is ready; Pods stay where they are');
      await eachOf(nodes, async (each) => {
        queueOf(zoneOf(each)).remove(nameOf(each));
        await retaint(each, { drop: evictingTaints });
      });
    }
    if (!isDown && wasEverythingDown) {
      log.info({ nodes: nodes.length }, 'some nodes are ready again');
      // Nobody could be heard: the others may have been alive all along.
      const heardAt = clock.now();
      for (const [name, { health, ...rest }] of known) known.set(name, { ...rest, health: { ...health, heardAt } });
    }
    wasEverythingDown = isDown;
  }

  /** A node that was down at the start of the look is given its taint: at once where it only changes, else in turn. */
  async function evict(each: Node): Promise<void> {
    const queue = queueOf(zoneOf(each));
    const taints = evictionOf(each);
    if (taints === undefined || hasTaint(each, taints.add)) queue.remove(nameOf(each));
    else if (hasTaint(each, taints.drop)) await retaint(each, { add: [taints.add], drop: [taints.drop] });
    else queue.add(nameOf(each));
  }

  function queueOf(zone: string): PacedQueue {
    let queue = queues.get(zone);
    if (!queue) {
      queue = createPacedQueue(clock, settings.evictionRate, (name) => void eachOf([name], taintInTurn), signal);
      queues.set(zone, queue);
    }
    return queue;
  }

  async function taintInTurn(name: string): Promise<void> {
    const found = caches.of(node).get(name);
    const taints = found && evictionOf(found);
    if (taints) await retaint(found, { add: [taints.add], drop: [taints.drop] });
  }

  async function retaint(each: Node, change: Parameters<typeof changedTaints>[1]): Promise<void> {
    const taints = changedTaints(each, change, clock.now());
    if (!taints) return;
    const { patch, patchType: type } = patchTaints(each, taints);
    await unlessOutdated(client.patch(node, { name: nameOf(each) }, patch, { type, fieldManager }));
  }

  return { look };
}

/** The taint that a node's state calls for, and the one it rules out; none for a node that is ready. */
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

function count(zones: Map<string, ZoneCensus>, zone: string, isReady: boolean): void {
  const { ready, notReady } = zones.get(zone) ?? { ready: 0, notReady: 0 };
  zones.set(zone, isReady ? { ready: ready + 1, notReady } : { ready, notReady: notReady + 1 });
}

function readyOf({ status }: Node) {
  return findCondition(status?.conditions, 'Ready');
}

function nameOf({ metadata }: Node): string {
  return metadata.name ?? '';
}

/** What a write gave; undefined if somebody else wrote first, or the object is gone. */
async function unlessOutdated<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write;
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return undefined;
    throw error;
  }
}
