/**
 * The Pods that wait for a node. Those that can be tried are active, the most important first. One that could not be
 * placed waits in the pool until something happens that may help it, and then until its back-off is over. To find out
 * whom an event may help costs as much as there are Pods rejected by plugins that wait for such events.
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

/** A Pod that waits, and what is remembered of it between attempts. */
export type QueuedPod = Heaped & {
  pod: PodInfo;
  /** When it came into the queue, or came back: by `elapsedMs`, as all times here. */
  since: number;
  /** Tells apart those that came at the same time. */
  serial: number;
  attempts: number;
  /** When it first could be tried. */
  readyAt: number | undefined;
  /** The plugins that were against it. */
  rejectedBy: ReadonlySet<string>;
  /** Whether it is not to be tried at all for now. */
  isGated: boolean;
  place: Place;
};

type Place = 'active' | 'backoff' | 'error backoff' | 'pool' | 'none';

export type SchedulingQueue = {
  readonly nominator: Nominator;
  /** A Pod that has no node has come into sight, or has changed. */
  add(pod: Pod): void;
  update(before: Pod, after: Pod): void;
  delete(uid: string): void;
  /** The next Pod to be tried. Whoever takes it tells what became of it by `requeue` or `done`. */
  pop(): QueuedPod | undefined;
  /** Resolves when there may be something to pop, or the queue is closed. */
  readonly ready: Promise<void>;
  /** The Pod could not be placed: because these plugins were against it or, if none was, because something failed. */
  requeue(queued: QueuedPod, pod: Pod, rejectedBy: ReadonlySet<string>): void;
  /** The Pod has left the queue for good. */
  done(uid: string): void;
  /** Something happened that may help Pods in the pool. */
  move(event: ClusterEvent, mayHelp?: (pod: PodInfo) => boolean): void;
  /** Has a Pod tried again at once. */
  activate(uid: string): void;
  /** The Pods in the pool. */
  pooled(): Iterable<QueuedPod>;
  /** How many Pods wait where. */
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
  /** After so long a Pod is tried again though nothing has happened that may help. */
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

  /** Asks the plugins whether the Pod may be tried at all. */
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
    // With nothing else to do, a Pod that was merely rejected need not wait out its time.
    if (!isError) waiting.resolve();
  };

  /** Puts a Pod where it can be tried, at once or when its back-off is over; or into the pool, if it is held back. */
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
    // What an extender waits for is not known.
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
      // Where neither state says anything, what was noted has not come back from the API server yet.
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

  /** The Pods in the pool that were rejected by a plugin that waits for such events. */
  function interestedIn(event: ClusterEvent): ReadonlySet<QueuedPod> {
    const key = eventKey(event);
    const plugins = new Set<string>([extenderName]);
    for (const interest of interests.values()) for (const { plugin } of interest.get(key) ?? []) plugins.add(plugin);
    return pool.rejectedBy(plugins);
  }
}

/** What holds for a Pod behind a gate changes by the Pod alone. */
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

/** Which plugins of a profile wait for which events. */
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

/** The pool, which finds Pods by the plugins that rejected them. */
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
    /** Takes a Pod out, by the plugins it was put in with. */
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
