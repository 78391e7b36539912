/**
 * The queue between what happens and who works on it. A key is in it once however often it is added, is given to one
 * worker at a time, and if it is added while someone works on it, it comes back when that one is done. Changes go
 * before what is only looked at again, but do not starve it.
 */
import type { Clock } from '@kruise/values/clock';
import { createDelays, type Priority } from './delays.ts';
import { createDeque, type Deque } from './deque.ts';
import { defaultRateLimiter, type RateLimiter } from './rate-limiter.ts';

export type { Priority } from './delays.ts';

/** Is told what a queue does; `workQueueMetrics` makes Prometheus' metrics of it. */
export type QueueObserver = {
  /** A key came in that was not waiting. */
  added(depth: number): void;
  /** A key went out to a worker after waiting so long. */
  taken(depth: number, waitedMs: number): void;
  /** A worker is done with a key. */
  done(workedMs: number): void;
  /** A key is to be tried again, later. */
  retried(): void;
  /** Is given, at the start, what tells since when, by `elapsedMs`, the keys are worked on that are. */
  attach?(startTimes: () => Iterable<number>): void;
};

/** What a queue is made with. */
export type WorkQueueOptions = {
  readonly rateLimiter?: RateLimiter;
  readonly observer?: QueueObserver;
};

/** A queue of keys. */
export type WorkQueue<K = string> = {
  /** Has a key worked on as soon as someone is free. */
  add(key: K, priority?: Priority): void;
  /** Has it worked on after a while, or sooner if it is added meanwhile. */
  addAfter(key: K, delayMs: number, priority?: Priority): void;
  /** Has it worked on again after a failure: later each time, until it is forgotten. */
  addRateLimited(key: K): void;
  /** Counts a retry that `addAfter` was called for. */
  retried(): void;
  /** The key has been worked on with success: its next failure counts as the first. */
  forget(key: K): void;
  /** How often the key has failed in a row. */
  failures(key: K): number;
  /** The next key; undefined once the queue is closed and empty. Whoever takes a key must say when it is `done`. */
  take(): Promise<K | undefined>;
  done(key: K): void;
  /** Takes in nothing more and drops what was to come later; what is waiting can still be taken. */
  close(): void;
  /** Closes, and resolves when everything that was waiting has been worked on. */
  drain(): Promise<void>;
  /** Keys that wait for a worker, delayed ones not counted. */
  readonly depth: number;
};

/** So many changes go before one key of the background gets its turn. */
const changesPerBackground = 8;

type Waiting = { priority: Priority; readonly since: number };

/**
 * An empty queue.
 *
 * ```ts
 * const queue = createWorkQueue(clock);
 * queue.add('default/web');
 * for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
 *   await work(key).then(() => queue.forget(key), () => queue.addRateLimited(key));
 *   queue.done(key);
 * }
 * ```
 */
export function createWorkQueue<K = string>(clock: Clock, options: WorkQueueOptions = {}): WorkQueue<K> {
  const { observer, rateLimiter = defaultRateLimiter(clock) } = options;
  const waiting = new Map<K, Waiting>();
  const working = new Map<K, number>();
  /** Added while they are worked on. */
  const again = new Map<K, Priority>();
  // A key that was promoted is in both; where it waits is in `waiting`, and what else is found is passed over.
  const lanes: { readonly [P in Priority]: Deque<K> } = { change: createDeque(), background: createDeque() };
  const takers = createDeque<(key: K | undefined) => void>();
  const delays = createDelays<K>(clock, (key, priority) => add(key, priority));
  let changesInRow = 0;
  let isClosed = false;
  let drained: (() => void) | undefined;
  observer?.attach?.(() => working.values());

  const add = (key: K, priority: Priority = 'change'): void => {
    if (isClosed) return;
    delays.cancel(key);
    if (working.has(key)) {
      if (again.get(key) !== 'change') again.set(key, priority);
      return;
    }
    const present = waiting.get(key);
    if (present) {
      if (present.priority === 'change' || priority === 'background') return;
      present.priority = 'change';
    } else {
      waiting.set(key, { priority, since: clock.elapsedMs() });
      observer?.added(waiting.size);
    }
    lanes[priority].push(key);
    hand();
  };

  /** Gives keys to those who wait for one. */
  const hand = (): void => {
    while (takers.size > 0) {
      const key = next();
      if (key === undefined) break;
      takers.shift()!(key);
    }
    if (isClosed && waiting.size === 0) {
      for (let taker = takers.shift(); taker; taker = takers.shift()) taker(undefined);
      if (working.size === 0) drained?.();
    }
  };

  const next = (): K | undefined => {
    const isBackgroundsTurn = changesInRow >= changesPerBackground;
    const key = (isBackgroundsTurn ? pull('background') : undefined) ?? pull('change') ?? pull('background');
    if (key === undefined) return undefined;
    const { priority, since } = waiting.get(key)!;
    changesInRow = priority === 'change' ? changesInRow + 1 : 0;
    const elapsedMs = clock.elapsedMs();
    waiting.delete(key);
    working.set(key, elapsedMs);
    observer?.taken(waiting.size, elapsedMs - since);
    return key;
  };

  const pull = (priority: Priority): K | undefined => {
    const lane = lanes[priority];
    for (let key = lane.shift(); key !== undefined; key = lane.shift()) {
      if (waiting.get(key)?.priority === priority) return key;
    }
    return undefined;
  };

  const close = (): void => {
    isClosed = true;
    delays.clear();
    again.clear();
    hand();
  };

  return {
    add,
    addAfter(key, delayMs, priority = 'change') {
      if (isClosed) return;
      if (delayMs <= 0) add(key, priority);
      else delays.set(key, delayMs, priority);
    },
    addRateLimited(key) {
      if (isClosed) return;
      observer?.retried();
      this.addAfter(key, rateLimiter.delayMs(key));
    },
    retried: () => observer?.retried(),
    forget: (key) => rateLimiter.forget(key),
    failures: (key) => rateLimiter.failures(key),
    take() {
      const key = takers.size === 0 ? next() : undefined;
      if (key !== undefined) return Promise.resolve(key);
      if (isClosed && waiting.size === 0) return Promise.resolve(undefined);
      return new Promise((resolve) => takers.push(resolve));
    },
    done(key) {
      const since = working.get(key);
      if (since === undefined) return;
      working.delete(key);
      observer?.done(clock.elapsedMs() - since);
      const priority = again.get(key);
      again.delete(key);
      if (priority) add(key, priority);
      else if (isClosed) hand();
    },
    close,
    drain() {
      return new Promise((resolve) => {
        drained = resolve;
        close();
      });
    },
    get depth() {
      return waiting.size;
    },
  };
}
