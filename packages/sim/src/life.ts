import type { Clock } from '@kruise/values/clock';

/**
 * The time from the start of a process to its end. A process that has crashed does nothing more: its timers do not
 * fire, and nobody's answer reaches it. Nothing in it learns that it is over.
 */
export type Life = {
  /** The world's time, as long as this lasts; a clock that is wrong is ahead of it or behind. */
  readonly clock: Clock;
  isOver(): boolean;
  /** Ends it, at once and for good. */
  end(): void;
  /** Called when it ends. */
  onEnd(listener: () => void): void;
};

/** A life on the world's time. `aheadMs` is read anew whenever time is told. */
export function beginLife(world: Clock, aheadMs: () => number = () => 0): Life {
  let over = false;
  const listeners: (() => void)[] = [];
  return {
    clock: {
      now: () => world.now() + aheadMs(),
      setTimer: (delayMs, callback, signal) =>
        world.setTimer(
          delayMs,
          () => {
            if (!over) callback();
          },
          signal,
        ),
    },
    isOver: () => over,
    end() {
      if (over) return;
      over = true;
      for (const listener of listeners.splice(0)) listener();
    },
    onEnd(listener) {
      if (over) listener();
      else listeners.push(listener);
    },
  };
}
