/**
 * Creates a first-in, first-out semaphore; with an infinite limit, all work runs at once. Work whose signal is aborted
 * meanwhile is not started.
 *
 * ```ts
 * const withPermit = createSemaphore(4);
 * await withPermit(() => work('default/web'), signal);
 * ```
 */
export function createSemaphore(limit: number): (work: () => Promise<void>, signal: AbortSignal) => Promise<void> {
  const waiting: (() => void)[] = [];
  let free = limit;
  const acquire = async (): Promise<void> => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  };
  return async (work, signal) => {
    await acquire();
    try {
      if (!signal.aborted) await work();
    } finally {
      // The longest waiter takes over the permit before any other caller can.
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
