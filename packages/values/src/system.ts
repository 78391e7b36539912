/** System clock and randomness. Only entry points import this module. */
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

// Maximum delay of Node's timers; a longer one would fire immediately.
const maxDelayMs = 2 ** 31 - 1;

/** The system clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsedMs: () => performance.now(),
  setTimer(delayMs, callback, signal) {
    if (signal?.aborted) return () => {};
    let timer: NodeJS.Timeout;
    const cancel = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    };
    const wait = (remainingMs: number) => {
      timer = setTimeout(
        () => {
          if (remainingMs > maxDelayMs) {
            wait(remainingMs - maxDelayMs);
            return;
          }
          signal?.removeEventListener('abort', cancel);
          callback();
        },
        Math.min(remainingMs, maxDelayMs),
      );
    };
    signal?.addEventListener('abort', cancel, { once: true });
    wait(Math.max(0, delayMs));
    return cancel;
  },
};

/** Randomness of the system, different in each run. */
export const systemRandom: Random = { next: () => Math.random() };
