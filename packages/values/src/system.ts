/** The machine's own time and chance. Only entry points import this file. */
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

// The longest wait Node's timers can count; a longer one fires at once.
const maxDelayMs = 2 ** 31 - 1;

/** The time of the machine. */
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

/** The chance of the machine, different in each run. */
export const systemRandom: Random = { next: () => Math.random() };
