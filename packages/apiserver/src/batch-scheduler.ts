/**
 * Runs work in batches that start together, and returns to the event loop in between. Work never waits for a timer,
 * only for other work of the process.
 */
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
