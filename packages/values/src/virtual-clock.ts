/** Virtual clock for tests and simulations. Timers fire in the order of their due time, then of their creation. */
import type { CancelTimer, Clock } from './clock.ts';
import type { Instant } from './time.ts';

/**
 * A clock that only moves when it is advanced.
 *
 * ```ts
 * const clock = virtualClock();
 * clock.setTimer(1000, () => console.log('a second later'));
 * clock.advance(1000);
 * ```
 */
export type VirtualClock = Clock & {
  /** Returns the due time of the next timer, if there is one. */
  nextTimer(): Instant | undefined;
  /** Advances by `durationMs` and fires every due timer at its own time, including timers that are set meanwhile. */
  advance(durationMs: number): void;
  /** Advances to the next timer and fires it; returns false if there is none. */
  step(): boolean;
  /** Like `advance`, but lets promises settle before and after each timer, so that async code runs to its next wait. */
  advanceAsync(durationMs: number): Promise<void>;
};

type Timer = { readonly due: Instant; readonly order: number; callback: (() => void) | undefined };

/** Lets async code run to its next wait. */
export type Settle = () => Promise<void>;

/** Creates a clock at `start`. `advanceAsync` calls `settle` around each timer. */
export function virtualClock(start: Instant = 0, settle: Settle = eventLoopTurn): VirtualClock {
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

/** Resolution of a present-day timestamp in milliseconds. */
const minStepMs = 2 ** -12;

/** A timer never fires early: code that finds some time left would wait for it again, forever. */
function dueAfter(now: Instant, delayMs: number): Instant {
  const due = now + delayMs;
  return due - now < delayMs ? due + minStepMs : due;
}

/** Waits for one turn of the event loop, after which every promise that needs no time has settled. */
function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** After this many ticks the event loop runs, which detects unhandled errors. */
const ticksPerTurn = 100;

/**
 * Returns a faster `settle` for code that waits only for promises and this clock, never for I/O: a tick runs when no
 * promise can settle, like an event loop turn, at a fraction of the cost.
 */
export function createTickSettle(): Settle {
  let ticks = 0;
  return () => (++ticks % ticksPerTurn === 0 ? eventLoopTurn() : new Promise((resolve) => process.nextTick(resolve)));
}

/** Binary heap by due time. Cancelled timers are dropped when they reach the top. */
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
