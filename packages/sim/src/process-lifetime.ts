import type { Clock } from '@kruise/values/clock';
import type { Instant } from '@kruise/values/time';

/**
 * Lifetime of a process. A process that has crashed does nothing more: its timers do not fire and no response reaches
 * it. Its code is not notified of the end.
 */
export type Lifetime = {
  /** Virtual time while the process lives. A wrong clock is ahead or behind. */
  readonly clock: Clock;
  /** Virtual time, independent of a wrong clock. */
  trueTime(): Instant;
  isOver(): boolean;
  /** Requests a graceful stop. It is aborted only at the end of the simulation, because simulated processes crash. */
  readonly stopping: AbortSignal;
  /** Ends the process immediately and permanently. */
  end(): void;
  /** Releases the process at the end of the simulation: code that waits for the signal would stay in memory. */
  release(): void;
  /** Registers a listener for the end; returns a function that removes it. */
  onEnd(listener: () => void): () => void;
};

/** Starts a lifetime on virtual time. `aheadMs` is evaluated on every read of the clock. */
export function startLifetime(world: Clock, aheadMs: () => number = () => 0): Lifetime {
  let over = false;
  const stop = new AbortController();
  const listeners = new Set<() => void>();
  return {
    clock: {
      now: () => world.now() + aheadMs(),
      elapsedMs: () => world.elapsedMs(),
      setTimer: (delayMs, callback, signal) =>
        world.setTimer(
          delayMs,
          () => {
            if (!over) callback();
          },
          signal,
        ),
    },
    trueTime: () => world.now(),
    isOver: () => over,
    stopping: stop.signal,
    end() {
      if (over) return;
      over = true;
      for (const listener of listeners) listener();
      listeners.clear();
    },
    release() {
      this.end();
      stop.abort();
    },
    onEnd(listener) {
      if (over) listener();
      else listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
