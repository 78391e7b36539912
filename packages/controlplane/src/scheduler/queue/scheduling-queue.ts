/**
 * Scheduling queue. Schedulable Pods are in the active queue, highest priority first. An unschedulable Pod stays in the
 * pool until an event may help it, and then until its backoff has passed. Finding the Pods that an event may help costs
 * time proportional to the number of Pods rejected by plugins that registered for the event.
 */
import type { Pod } from '@kruise/api/core/pod';
import type { Clock } from '@kruise/values/clock';
import { type PodInfo, podInfoOf } from '../cluster/pod-info.ts';
import { type ClusterEvent, podEvents } from '../events.ts';
import { extenderName } from '../extenders/extender.ts';
import type { Registration } from '../plugin.ts';
import { type Profile, pluginsOf } from '../profile.ts';
import { type BackoffOptions, backoffMs, windowMs, windowOf } from './backoff.ts';
import { createHeap, type Heaped } from './heap.ts';
import { createNominator, type Nominator } from './nominator.ts';

/** A queued Pod, with its state between attempts. */
export type QueuedPod = Heaped & {
  pod: PodInfo;
  /** Time when the Pod was added or requeued, by `elapsedMs` like all times here. */
  since: number;
  /** Breaks ties of Pods that were added at the same time. */
  serial: number;
  attempts: number;
  /** Time when the Pod was first schedulable. */
  readyAt: number | undefined;
  /** Plugins that rejected the Pod. */
  rejectedBy: ReadonlySet<string>;
  /** A PreEnqueue plugin keeps the Pod out of the active queue. */
  isGated: boolean;
  place: Place;
};

type Place = 'active' | 'backoff' | 'error backoff' | 'pool' | 'none';

export type SchedulingQueue = {
  readonly nominator: Nominator;
  /** Adds a pending Pod, or updates it. */
  add(pod: Pod): void;
  update(before: Pod, after: Pod): void;
  delete(uid: string): void;
  /** Pops the next Pod. The caller must report the outcome with `requeue` or `done`. */
  pop(): QueuedPod | undefined;
  /** Resolves when a Pod may be available, or the queue is closed. */
  readonly ready: Promise<void>;
  /** Requeues a Pod that was rejected by these plugins or, if there are none, that failed with an error. */
  requeue(queued: QueuedPod, pod: Pod, rejectedBy: ReadonlySet<string>): void;
  /** Removes a Pod from the queue for good. */
  done(uid: string): void;
  /** Moves Pods from the pool that an event may help. */
  move(event: ClusterEvent, mayHelp?: (pod: PodInfo) => boolean): void;
  /** Moves a Pod to the active queue immediately. */
  activate(uid: string): void;
  /** Returns the Pods in the pool. */
  pooled(): Iterable<QueuedPod>;
  /** Returns the number of Pods by queue. */
  counts(): {
    readonly active: number;
    readonly backoff: number;
    readonly unschedulable: number;
    readonly gated: number;
  };
};

export type QueueOptions = {
  readonly profiles: ReadonlyMap<string, Profile>;
  readonly backoff?: BackoffOptions;
  /** Time after which a Pod is retried without an event. */
  readonly maxInPoolMs?: number;
};

export const defaultBackoff: BackoffOptions = { initialMs: 1000, maxMs: 10_000 };
const defaultMaxInPoolMs = 300_000;
const poolCheckMs = 30_000;

type Interest = { readonly plugin: string } & Pick<Registration, 'helps'>;

export function createSchedulingQueue(clock: Clock, options: QueueOptions, signal: AbortSignal): SchedulingQueue {
  const { profiles, backoff = defaultBackoff, maxInPoolMs = defaultMaxInPoolMs } = options;
  const interests = new Map([...profiles].map(([name, profile]) => [name, interestsOf(profile)]));
  const nominator = createNominator();
  const known = new Map<string, QueuedPod>();
  const active = createHeap<QueuedPod>(isMoreUrgent);
  const backingOff = createHeap<QueuedPod>((a, b) => {
    const difference = expiryOf(a) - expiryOf(b);
    return difference === 0 ? isMoreUrgent(a, b) : difference < 0;
  });
  const failed = createHeap<QueuedPod>((a, b) => expiryOf(a) < expiryOf(b));
  const pool = createPool();
  const inFlight = new Map<string, ClusterEvent[]>();
  let waiting = Promise.withResolvers<void>();
  let cancelFlush: (() => void) | undefined;
  let isPoolWatched = false;
  let entries = 0;

  signal.addEventListener('abort', () => waiting.resolve(), { once: true });

  function expiryOf({ attempts, since }: QueuedPod): number {
    return attempts === 0 ? Number.NEGATIVE_INFINITY : windowOf(since + backoffMs(attempts, backoff));
  }

  const isBackingOff = (queued: QueuedPod) => expiryOf(queued) >= windowOf(clock.elapsedMs());

  const leave = (queued: QueuedPod) => {
    switch (queued.place) {
      case 'active':
        active.remove(queued);
        break;
      case 'backoff':
        backingOff.remove(queued);
        break;
      case 'error backoff':
        failed.remove(queued);
        break;
      case 'pool':
        pool.remove(queued);
        break;
    }
    queued.place = 'none';
  };

  const enterPool = (queued: QueuedPod) => {
    leave(queued);
    queued.place = 'pool';
    pool.add(queued);
    watchPool();
  };

  /** Runs the PreEnqueue plugins. */
  const isHeldBack = (queued: QueuedPod): boolean => {
    const profile = profiles.get(queued.pod.spec.schedulerName ?? '');
    const holder = profile?.preEnqueue.find((plugin) => plugin.preEnqueue?.(queued.pod) !== undefined);
    if (holder) queued.rejectedBy = new Set([...queued.rejectedBy, holder.name]);
    queued.isGated = holder !== undefined;
    return queued.isGated;
  };

  const enterActive = (queued: QueuedPod) => {
    leave(queued);
    queued.readyAt ??= clock.elapsedMs();
    queued.place = 'active';
    active.push(queued);
    waiting.resolve();
  };

  const enterBackoff = (queued: QueuedPod) => {
    leave(queued);
    const isError = queued.rejectedBy.size === 0;
    queued.place = isError ? 'error backoff' : 'backoff';
    (isError ? failed : backingOff).push(queued);
    armFlush();
    // An idle scheduler need not wait for the backoff of Pods that were rejected without an error.
    if (!isError) waiting.resolve();
  };

  /** Moves a Pod to the active or backoff queue, or into the pool if a PreEnqueue plugin rejects it. */
  const release = (queued: QueuedPod) => {
    if (isHeldBack(queued)) enterPool(queued);
    else if (isBackingOff(queued)) enterBackoff(queued);
    else enterActive(queued);
  };

  function armFlush(): void {
    cancelFlush?.();
    const next = Math.min(...[backingOff.first(), failed.first()].map((each) => (each ? expiryOf(each) : Infinity)));
    cancelFlush = Number.isFinite(next)
      ? clock.setTimer(Math.max(0, next + windowMs - clock.elapsedMs()), flushBackoff, signal)
      : undefined;
  }

  function flushBackoff(): void {
    cancelFlush = undefined;
    for (const heap of [backingOff, failed]) {
      for (let first = heap.first(); first && !isBackingOff(first); first = heap.first()) enterActive(first);
    }
    armFlush();
  }

  function watchPool(): void {
    if (isPoolWatched || pool.size === 0) return;
    isPoolWatched = true;
    clock.setTimer(poolCheckMs, checkPool, signal);
  }

  function checkPool(): void {
    isPoolWatched = false;
    const before = clock.elapsedMs() - maxInPoolMs;
    for (const queued of [...pool.all()]) {
      if (queued.since < before && !isGateKept(queued)) release(queued);
    }
    watchPool();
  }

  const mayHelp = (queued: QueuedPod, event: ClusterEvent): boolean => {
    // The events that an extender depends on are unknown.
    if (queued.rejectedBy.size === 0 || queued.rejectedBy.has(extenderName)) return true;
    const interested = interests.get(queued.pod.spec.schedulerName ?? '')?.get(eventKey(event));
    return (
      interested?.some(({ plugin, helps }) => queued.rejectedBy.has(plugin) && (helps?.(queued.pod, event) ?? true)) ??
      false
    );
  };

  const create = (pod: Pod): QueuedPod => ({
    pod: podInfoOf(pod),
    since: clock.elapsedMs(),
    serial: entries++,
    attempts: 0,
    readyAt: undefined,
    rejectedBy: new Set(),
    isGated: false,
    place: 'none',
    heapIndex: -1,
  });

  const add = (pod: Pod) => {
    const queued = create(pod);
    known.set(queued.pod.uid, queued);
    release(queued);
    if (queued.place === 'active') nominator.set(queued.pod, pod.status?.nominatedNodeName ?? '');
  };

  return {
    nominator,
    add,
    update(before, after) {
      const { uid = '' } = after.metadata;
      const flight = inFlight.get(uid);
      if (flight) {
        flight.push(...podEvents(before, after));
        return;
      }
      const queued = known.get(uid);
      if (!queued) {
        add(after);
        return;
      }
      queued.pod = podInfoOf(after);
      const nominated = after.status?.nominatedNodeName ?? '';
      // If neither state has a nomination, the nomination has not been observed in the cache yet.
      const isUnknown = nominated === '' && !before.status?.nominatedNodeName;
      nominator.set(queued.pod, isUnknown ? (nominator.nodeOf(uid) ?? '') : nominated);
      if (queued.place === 'pool' && podEvents(before, after).some((event) => mayHelp(queued, event))) release(queued);
    },
    delete(uid) {
      nominator.remove(uid);
      const queued = known.get(uid);
      if (!queued) return;
      leave(queued);
      known.delete(uid);
    },
    pop() {
      const queued = active.pop() ?? backingOff.pop();
      if (!queued) {
        if (!signal.aborted) waiting = Promise.withResolvers<void>();
        return undefined;
      }
      queued.place = 'none';
      queued.attempts++;
      queued.rejectedBy = new Set();
      known.delete(queued.pod.uid);
      inFlight.set(queued.pod.uid, []);
      return queued;
    },
    get ready() {
      return waiting.promise;
    },
    requeue(queued, pod, rejectedBy) {
      const { uid } = queued.pod;
      const missed = inFlight.get(uid) ?? [];
      inFlight.delete(uid);
      if (known.has(uid)) return;
      queued.pod = podInfoOf(pod);
      queued.since = clock.elapsedMs();
      queued.serial = entries++;
      queued.rejectedBy = rejectedBy;
      known.set(uid, queued);
      if (rejectedBy.size === 0 || missed.some((event) => mayHelp(queued, event))) release(queued);
      else enterPool(queued);
    },
    done: (uid) => void inFlight.delete(uid),
    move(event, isMeant = () => true) {
      for (const missed of inFlight.values()) missed.push(event);
      for (const queued of interestedIn(event)) {
        if (!isGateKept(queued) && isMeant(queued.pod) && mayHelp(queued, event)) release(queued);
      }
    },
    activate(uid) {
      const queued = known.get(uid);
      if (!queued || queued.place === 'active') return;
      if (isHeldBack(queued)) enterPool(queued);
      else enterActive(queued);
    },
    pooled: pool.all,
    counts() {
      const gated = pool
        .all()
        .filter(({ isGated }) => isGated)
        .toArray().length;
      return { active: active.size, backoff: backingOff.size + failed.size, unschedulable: pool.size - gated, gated };
    },
  };

  /** Returns the Pods in the pool that were rejected by a plugin that registered for the event. */
  function interestedIn(event: ClusterEvent): ReadonlySet<QueuedPod> {
    const key = eventKey(event);
    const plugins = new Set<string>([extenderName]);
    for (const interest of interests.values()) for (const { plugin } of interest.get(key) ?? []) plugins.add(plugin);
    return pool.rejectedBy(plugins);
  }
}

/** Only an update of the Pod itself can change the result of its gates. */
function isGateKept({ isGated, rejectedBy }: QueuedPod): boolean {
  return isGated && rejectedBy.has('SchedulingGates');
}

function isMoreUrgent(a: QueuedPod, b: QueuedPod): boolean {
  if (a.pod.priority !== b.pod.priority) return a.pod.priority > b.pod.priority;
  return a.since === b.since ? a.serial < b.serial : a.since < b.since;
}

function eventKey({ resource, action }: ClusterEvent): string {
  return `${resource}/${action}`;
}

/** Returns the registered plugins of a profile by event. */
function interestsOf(profile: Profile): ReadonlyMap<string, readonly Interest[]> {
  const byEvent = new Map<string, Interest[]>();
  for (const { name: plugin, events } of pluginsOf(profile)) {
    for (const { resource, actions, helps } of events ?? []) {
      for (const action of actions) {
        const key = eventKey({ resource, action });
        const interest = { plugin, ...(helps ? { helps } : {}) };
        const found = byEvent.get(key);
        if (found) found.push(interest);
        else byEvent.set(key, [interest]);
      }
    }
  }
  return byEvent;
}

/** Creates the pool of unschedulable Pods, indexed by the plugins that rejected them. */
function createPool() {
  const members = new Map<QueuedPod, ReadonlySet<string>>();
  const byPlugin = new Map<string, Set<QueuedPod>>();
  return {
    get size() {
      return members.size;
    },
    all: () => members.keys(),
    add(queued: QueuedPod): void {
      members.set(queued, queued.rejectedBy);
      for (const plugin of queued.rejectedBy) {
        const found = byPlugin.get(plugin);
        if (found) found.add(queued);
        else byPlugin.set(plugin, new Set([queued]));
      }
    },
    /** Removes a Pod under the plugins it was added with. */
    remove(queued: QueuedPod): void {
      for (const plugin of members.get(queued) ?? []) byPlugin.get(plugin)?.delete(queued);
      members.delete(queued);
    },
    rejectedBy(plugins: ReadonlySet<string>): ReadonlySet<QueuedPod> {
      const found = new Set<QueuedPod>();
      for (const plugin of plugins) for (const queued of byPlugin.get(plugin) ?? []) found.add(queued);
      return found;
    },
  };
}
