/**
 * Time as a parameter. Code below the entry points is handed a clock, so that a test or the simulator can hand it one
 * that moves only when told.
 */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs `task` once, no sooner than `delayMs` from now, unless the returned function is called first. */
  schedule(delayMs: number, task: () => void): Cancel;
}

/** Takes back what was scheduled; calling it late or twice does nothing. */
export type Cancel = () => void;

/** The machine's own time. Only entry points choose it. */
export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(delayMs, task) {
    // A longer delay would overflow to one millisecond; whoever asked looks at the time again when woken.
    const timer = setTimeout(task, Math.min(delayMs, 2 ** 31 - 1));
    return () => clearTimeout(timer);
  },
};

/** A clock that stands still until it is moved, for tests. */
export interface ManualClock extends Clock {
  /** Moves the time on, running what falls due in order of time, then of scheduling. */
  advance(byMs: number): void;
}

/** A {@link ManualClock} that shows `startMs`. */
export function manualClock(startMs = 0): ManualClock {
  let now = startMs;
  let scheduled: { readonly at: number; readonly task: () => void }[] = [];
  return {
    now: () => now,
    schedule(delayMs, task) {
      const entry = { at: now + Math.max(0, delayMs), task };
      scheduled.push(entry);
      return () => {
        scheduled = scheduled.filter((other) => other !== entry);
      };
    },
    advance(byMs) {
      const end = now + byMs;
      for (;;) {
        const due = scheduled.filter(({ at }) => at <= end);
        const next = due.reduce((first, entry) => (entry.at < first.at ? entry : first), due[0]!);
        if (!next) break;
        scheduled = scheduled.filter((other) => other !== next);
        now = next.at;
        next.task();
      }
      now = end;
    },
  };
}
