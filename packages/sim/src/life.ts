import type { Clock } from '@kruise/values/clock';
import type { Instant } from '@kruise/values/time';

/**
 * The time from the start of a process to its end. A process that has crashed does nothing more: its timers do not
 * fire, and nobody's answer reaches it. Nothing in it learns that it is over.
 */
export type Life = {
  /** The world's time, as long as this lasts; a clock that is wrong is ahead of it or behind. */
  readonly clock: Clock;
  /** The world's time, however wrong its clock is. */
  trueTime(): Instant;
  isOver(): boolean;
  /** Asks it to stop in good order. Nobody does before the world is over: processes of these worlds crash. */
  readonly stopping: AbortSignal;
  /** Ends it, at once and for good. */
  end(): void;
  /** Lets go of it once nobody looks any more: what waits for a signal is kept in memory until it comes. */
  release(): void;
  /** Has someone called when it ends; returns what takes that back. */
  onEnd(listener: () => void): () => void;
};

/** A life on the world's time. `aheadMs` is read anew whenever time is told. */
export function beginLife(world: Clock, aheadMs: () => number = () => 0): Life {
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
