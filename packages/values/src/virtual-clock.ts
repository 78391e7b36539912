/** A clock that stands still until it is told to move. Timers fire in order of time, and of setting where equal. */
import type { CancelTimer, Clock } from './clock.ts';
import type { Instant } from './time.ts';

/** A clock for tests and simulations. */
export type VirtualClock = Clock & {
  /** When the next timer is due, if one is set. */
  nextTimer(): Instant | undefined;
  /** Moves on by `durationMs`, firing every timer due on the way at its own time, those set meanwhile included. */
  advance(durationMs: number): void;
  /** Moves to the next timer and fires it; false if there is none. */
  step(): boolean;
  /** As `advance`, but lets promises settle before and after each timer, so that async code runs to its next wait. */
  advanceAsync(durationMs: number): Promise<void>;
};

type Timer = { readonly due: Instant; readonly order: number; callback: (() => void) | undefined };

/** Lets async code run to its next wait. */
export type Settle = () => Promise<void>;

/** A clock that starts at `start` and moves only when asked to; `settle` is what `advanceAsync` does around each timer. */
export function virtualClock(start: Instant = 0, settle: Settle = turn): VirtualClock {
  let now = start;
  let timersSet = 0;
  const timers = timerHeap();

  const fireNext = (until: Instant): boolean => {
    const timer = timers.peek();
    if (timer === undefined || timer.due > until) return false;
    timers.pop();
    now = Math.max(now, timer.due);
    const { callback } = timer;
    timer.callback = undefined;
    callback?.();
    return true;
  };

  return {
    now: () => now,
    elapsedMs: () => now - start,
    setTimer(delayMs, callback, signal): CancelTimer {
      if (signal?.aborted) return () => {};
      const timer: Timer = { due: dueAfter(now, Math.max(0, delayMs)), order: timersSet++, callback: undefined };
      const cancel = () => {
        timer.callback = undefined;
        signal?.removeEventListener('abort', cancel);
      };
      timer.callback = () => {
        signal?.removeEventListener('abort', cancel);
        callback();
      };
      signal?.addEventListener('abort', cancel, { once: true });
      timers.push(timer);
      return cancel;
    },
    nextTimer: () => timers.peek()?.due,
    advance(durationMs) {
      const until = now + durationMs;
      while (fireNext(until));
      now = until;
    },
    step: () => fireNext(Number.POSITIVE_INFINITY),
    async advanceAsync(durationMs) {
      const until = now + durationMs;
      await settle();
      while (fireNext(until)) await settle();
      now = until;
    },
  };
}

/** What lies between two times of our days that a number can tell apart, in milliseconds. */
const leastMs = 2 ** -12;

/** A timer never fires before its time: who finds that a little is left would wait for that, without end. */
function dueAfter(now: Instant, delayMs: number): Instant {
  const due = now + delayMs;
  return due - now < delayMs ? due + leastMs : due;
}

/** A turn of the event loop: every promise that can settle without time passing has. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** After so many ticks the event loop has its turn: it is there that errors which nobody handles are found. */
const ticksATurn = 100;

/**
 * For code that waits for promises and for this clock, and never for the machine: ticks come when no promise is left
 * that can settle, as turns do, and cost a fraction.
 */
export function ticking(): Settle {
  let ticks = 0;
  return () => (++ticks % ticksATurn === 0 ? turn() : new Promise((resolve) => process.nextTick(resolve)));
}

/** A binary heap by due time. Cancelled timers are dropped when they come to the top. */
function timerHeap() {
  const heap: Timer[] = [];
  const isBefore = (a: Timer, b: Timer) => a.due < b.due || (a.due === b.due && a.order < b.order);

  const pop = (): Timer | undefined => {
    const top = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return top;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, heap[child] as Timer)) child++;
      const least = heap[child] as Timer;
      if (!isBefore(least, last)) break;
      heap[index] = least;
      index = child;
    }
    heap[index] = last;
    return top;
  };

  return {
    pop,
    peek(): Timer | undefined {
      while (heap[0] !== undefined && heap[0].callback === undefined) pop();
      return heap[0];
    },
    push(timer: Timer) {
      let index = heap.length;
      while (index > 0) {
        const parent = (index - 1) >> 1;
        const above = heap[parent] as Timer;
        if (!isBefore(timer, above)) break;
        heap[index] = above;
        index = parent;
      }
      heap[index] = timer;
    },
  };
}
