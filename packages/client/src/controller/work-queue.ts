/**
 * Work queue of a controller. A key is queued once regardless of how often it is added, and processed by one worker at
 * a time. A key that is added while it is processed is queued again afterwards. Events take precedence over background
 * keys (initial list, resync), but do not starve them.
 */
import type { Clock } from '@kruise/values/clock';
import { createDeque, type Deque } from '@kruise/values/scheduling/deque';
import { createDelayingQueue, type Priority } from './delaying-queue.ts';
import { defaultRateLimiter, type RateLimiter } from './rate-limiter.ts';

export type { Priority } from './delaying-queue.ts';

/** Observer of a work queue; `createControllerMetrics` records Prometheus metrics with it. */
export type QueueObserver = {
  /** Called when a key was added that was not queued. */
  added(depth: number): void;
  /** Called when a worker took a key, with its time in the queue. */
  taken(depth: number, waitedMs: number): void;
  /** Called when a worker finished a key. */
  done(workedMs: number): void;
  /** Called when a key will be retried. */
  retried(): void;
  /** Called at the start with a function that returns the start times (`elapsedMs`) of the keys in progress. */
  attach?(startTimes: () => Iterable<number>): void;
};

/** Options of a work queue. */
export type WorkQueueOptions = {
  readonly rateLimiter?: RateLimiter;
  readonly observer?: QueueObserver;
};

/** Work queue of keys. */
export type WorkQueue<K = string> = {
  /** Adds a key. */
  add(key: K, priority?: Priority): void;
  /** Adds a key after a delay, or earlier if it is added meanwhile. */
  addAfter(key: K, delayMs: number, priority?: Priority): void;
  /** Adds a key after its backoff, which grows until `forget` is called. */
  addRateLimited(key: K): void;
  /** Counts a retry that was added with `addAfter`. */
  retried(): void;
  /** Resets the backoff of a key after a success. */
  forget(key: K): void;
  /** Returns the number of consecutive failures of a key. */
  failures(key: K): number;
  /**
   * Returns the next key; undefined once the queue is shut down and empty. The worker must call `done` for each key.
   */
  get(): Promise<K | undefined>;
  done(key: K): void;
  /** Stops accepting keys and drops delayed ones; queued keys can still be taken. */
  shutDown(): void;
  /** Shuts down, and resolves when all queued keys have been processed. */
  shutDownWithDrain(): Promise<void>;
  /** Number of queued keys, without delayed ones. */
  readonly depth: number;
};

/** Number of consecutive events after which one background key is processed. */
const changesPerBackground = 8;

type QueuedKey = { priority: Priority; readonly since: number };

/**
 * Creates an empty queue.
 *
 * ```ts
 * const queue = createWorkQueue(clock);
 * queue.add('default/web');
 * for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
 *   await work(key).then(() => queue.forget(key), () => queue.addRateLimited(key));
 *   queue.done(key);
 * }
 * ```
 */
export function createWorkQueue<K = string>(clock: Clock, options: WorkQueueOptions = {}): WorkQueue<K> {
  const { observer, rateLimiter = defaultRateLimiter(clock) } = options;
  const waiting = new Map<K, QueuedKey>();
  const processing = new Map<K, number>();
  /** Keys that were added while they are processed. */
  const dirty = new Map<K, Priority>();
  // A promoted key is in both lanes; `waiting` has its priority, and the other entry is skipped.
  const lanes: { readonly [P in Priority]: Deque<K> } = { change: createDeque(), background: createDeque() };
  const waitingWorkers = createDeque<(key: K | undefined) => void>();
  const delayed = createDelayingQueue<K>(clock, (key, priority) => add(key, priority));
  let consecutiveChanges = 0;
  let isClosed = false;
  let drained: (() => void) | undefined;
  observer?.attach?.(() => processing.values());

  const add = (key: K, priority: Priority = 'change'): void => {
    if (isClosed) return;
    delayed.cancel(key);
    if (processing.has(key)) {
      if (dirty.get(key) !== 'change') dirty.set(key, priority);
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
    dispatch();
  };

  /** Passes keys to idle workers. */
  const dispatch = (): void => {
    while (waitingWorkers.size > 0) {
      const key = next();
      if (key === undefined) break;
      waitingWorkers.shift()!(key);
    }
    if (isClosed && waiting.size === 0) {
      for (let waitingWorker = waitingWorkers.shift(); waitingWorker; waitingWorker = waitingWorkers.shift())
        waitingWorker(undefined);
      if (processing.size === 0) drained?.();
    }
  };

  const next = (): K | undefined => {
    const isBackgroundDue = consecutiveChanges >= changesPerBackground;
    const key =
      (isBackgroundDue ? shiftLane('background') : undefined) ?? shiftLane('change') ?? shiftLane('background');
    if (key === undefined) return undefined;
    const { priority, since } = waiting.get(key)!;
    consecutiveChanges = priority === 'change' ? consecutiveChanges + 1 : 0;
    const elapsedMs = clock.elapsedMs();
    waiting.delete(key);
    processing.set(key, elapsedMs);
    observer?.taken(waiting.size, elapsedMs - since);
    return key;
  };

  const shiftLane = (priority: Priority): K | undefined => {
    const lane = lanes[priority];
    for (let key = lane.shift(); key !== undefined; key = lane.shift()) {
      if (waiting.get(key)?.priority === priority) return key;
    }
    return undefined;
  };

  const shutDown = (): void => {
    isClosed = true;
    delayed.clear();
    dirty.clear();
    dispatch();
  };

  return {
    add,
    addAfter(key, delayMs, priority = 'change') {
      if (isClosed) return;
      if (delayMs <= 0) add(key, priority);
      else delayed.set(key, delayMs, priority);
    },
    addRateLimited(key) {
      if (isClosed) return;
      observer?.retried();
      this.addAfter(key, rateLimiter.delayMs(key));
    },
    retried: () => observer?.retried(),
    forget: (key) => rateLimiter.forget(key),
    failures: (key) => rateLimiter.failures(key),
    get() {
      const key = waitingWorkers.size === 0 ? next() : undefined;
      if (key !== undefined) return Promise.resolve(key);
      if (isClosed && waiting.size === 0) return Promise.resolve(undefined);
      return new Promise((resolve) => waitingWorkers.push(resolve));
    },
    done(key) {
      const since = processing.get(key);
      if (since === undefined) return;
      processing.delete(key);
      observer?.done(clock.elapsedMs() - since);
      const priority = dirty.get(key);
      dirty.delete(key);
      if (priority) add(key, priority);
      else if (isClosed) dispatch();
    },
    shutDown,
    shutDownWithDrain() {
      return new Promise((resolve) => {
        drained = resolve;
        shutDown();
      });
    },
    get depth() {
      return waiting.size;
    },
  };
}
