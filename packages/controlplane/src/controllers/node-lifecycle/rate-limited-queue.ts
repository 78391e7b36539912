import { tokenBucket } from '@kruise/client/rate-limiter';
import type { CancelTimer, Clock } from '@kruise/values/clock';

/** Rate-limited queue of names; the rate may change at any time. */
export type RateLimitedQueue = {
  /** Adds a name, unless it is already queued. */
  add(name: string): void;
  remove(name: string): void;
  /** Sets the rate in names per second; 0 stops the queue. */
  setRate(perSecond: number): void;
};

/** Creates an empty queue; `take` is called for each name. */
export function createRateLimitedQueue(
  clock: Clock,
  perSecond: number,
  take: (name: string) => void,
  signal: AbortSignal,
): RateLimitedQueue {
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
      // A change of the rate must not release the next name immediately.
      if (wasWaiting) bucket?.tryTake();
      schedule();
    },
  };
}
