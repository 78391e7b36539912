import { tokenBucket } from '@kruise/client/rate-limiter';
import type { CancelTimer, Clock } from '@kruise/values/clock';

/** Names that come up one at a time, no faster than a rate that may change at any time. */
export type PacedQueue = {
  /** Has a name come up, unless it waits already. */
  add(name: string): void;
  remove(name: string): void;
  /** So many names a second from now on; none at all with 0. */
  setRate(perSecond: number): void;
};

/** An empty queue; `take` is called with each name as its turn comes. */
export function createPacedQueue(
  clock: Clock,
  perSecond: number,
  take: (name: string) => void,
  signal: AbortSignal,
): PacedQueue {
  const waiting = new Set<string>();
  let rate = perSecond;
  let bucket = rate > 0 ? tokenBucket(clock, { perSecond: rate, burst: 1 }) : undefined;
  let pending: CancelTimer | undefined;

  const next = () => {
    pending = undefined;
    const [name] = waiting;
    if (name === undefined) return;
    waiting.delete(name);
    take(name);
    schedule();
  };
  const schedule = () => {
    if (pending || !bucket || waiting.size === 0 || signal.aborted) return;
    pending = clock.setTimer(bucket.reserveMs(), next, signal);
  };

  return {
    add(name) {
      waiting.add(name);
      schedule();
    },
    remove(name) {
      waiting.delete(name);
    },
    setRate(wanted) {
      if (wanted === rate) return;
      rate = wanted;
      const wasWaiting = pending !== undefined;
      pending?.();
      pending = undefined;
      bucket = rate > 0 ? tokenBucket(clock, { perSecond: rate, burst: 1 }) : undefined;
      // A change of rate is no reason for the next to come up at once.
      if (wasWaiting) bucket?.tryTake();
      schedule();
    },
  };
}
