/**
 * Batches: a process with one thread serves its sockets only between two tasks, so long work is divided into batches
 * with a return to the event loop in between. Work never waits for a timer, only for other work of the process.
 */

/** Starts work in batches. */
export interface BatchScheduler<R> {
  /** Returns undefined if the request may start at once, or a promise for its start. */
  acquire(request: R): Promise<void> | undefined;
}

/** Queue of waiting requests, with its own order. */
export interface BatchQueue<R> {
  add(request: R, start: () => void): void;
  /** Removes and returns the next requests, up to a maximum. */
  next(limit: number): readonly (() => void)[];
}

/**
 * Creates a scheduler that starts up to `batchSize` requests for each turn of the event loop, in the order of the queue.
 *
 * ```ts
 * const scheduler = createBatchScheduler(16, createFifoQueue());
 * const waiting = scheduler.acquire();
 * if (waiting) await waiting;
 * ```
 */
export function createBatchScheduler<R>(batchSize: number, queue: BatchQueue<R>): BatchScheduler<R> {
  let remaining = batchSize;
  let isScheduled = false;

  function scheduleBatch(): void {
    isScheduled = true;
    // The event loop polls sockets and sends responses for stored writes before this callback.
    setImmediate(runBatch);
  }

  function runBatch(): void {
    isScheduled = false;
    const due = queue.next(batchSize);
    remaining = batchSize - due.length;
    if (due.length > 0) scheduleBatch();
    for (const start of due) start();
  }

  return {
    acquire(request) {
      if (!isScheduled) scheduleBatch();
      if (remaining === 0) return new Promise((resolve) => queue.add(request, resolve));
      remaining--;
      return undefined;
    },
  };
}

/**
 * Creates a first-in, first-out queue.
 *
 * ```ts
 * createBatchScheduler(16, createFifoQueue());
 * ```
 */
export function createFifoQueue<R = void>(): BatchQueue<R> {
  let waiting: (() => void)[] = [];
  return {
    add: (_, start) => waiting.push(start),
    next(limit) {
      const due = waiting.slice(0, limit);
      waiting = waiting.slice(limit);
      return due;
    },
  };
}

/**
 * Creates a queue that serves flows round-robin: a flow with few requests does not wait behind one with many. Requests
 * without a flow are background work: they fill what the flows leave of a batch, at least `backgroundShare`.
 *
 * ```ts
 * const queue = createRoundRobinQueue<{ owner?: string }>(({ owner }) => owner, 8);
 * ```
 */
export function createRoundRobinQueue<R>(
  flowOf: (request: R) => string | undefined,
  backgroundShare: number,
): BatchQueue<R> {
  const waiting = new Map<string, (() => void)[]>();
  let background: (() => void)[] = [];
  return {
    add(request, start) {
      const flow = flowOf(request);
      if (flow === undefined) {
        background.push(start);
        return;
      }
      const requests = waiting.get(flow);
      if (requests) requests.push(start);
      else waiting.set(flow, [start]);
    },
    next(limit) {
      const due: (() => void)[] = [];
      const room = limit - Math.min(backgroundShare, background.length);
      // A flow with more requests moves to the end.
      for (const [flow, requests] of waiting) {
        waiting.delete(flow);
        due.push(requests.shift()!);
        if (requests.length > 0) waiting.set(flow, requests);
        if (due.length === room) break;
      }
      const others = limit - due.length;
      due.push(...background.slice(0, others));
      background = background.slice(others);
      return due;
    },
  };
}

/**
 * Creates a function that runs tasks after a return to the event loop, `batchSize` for each turn.
 *
 * ```ts
 * const runLater = createBatchRunner(100);
 * runLater(() => console.log('later'));
 * ```
 */
export function createBatchRunner(batchSize: number): (task: () => void) => void {
  let waiting: (() => void)[] = [];
  let next = 0;

  function runBatch(): void {
    const end = Math.min(waiting.length, next + batchSize);
    while (next < end) waiting[next++]!();
    if (next < waiting.length) {
      setImmediate(runBatch);
      return;
    }
    waiting = [];
    next = 0;
  }

  return (task) => {
    if (waiting.length === 0) setImmediate(runBatch);
    waiting.push(task);
  };
}
