/** Time as a dependency, so that simulations and tests run on virtual time. */
import type { Instant } from './time.ts';

/**
 * A clock with timers. Entry points pass `systemClock`, tests a `virtualClock`.
 *
 * ```ts
 * await after(clock, 1000, signal);
 * ```
 */
export type Clock = {
  now(): Instant;
  /** Monotonic time in milliseconds from an arbitrary start; adjustments of the wall clock do not affect it. */
  elapsedMs(): number;
  /** Calls back once after `delayMs`, unless the returned function is called or the signal is aborted before. */
  setTimer(delayMs: number, callback: () => void, signal?: AbortSignal): CancelTimer;
};

/** Cancels a timer; does nothing after it has fired. */
export type CancelTimer = () => void;

/** Resolves after `delayMs`; rejects with the reason of the signal if it is aborted before. */
export function after(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const abort = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.setTimer(delayMs, () => {
      signal?.removeEventListener('abort', abort);
      resolve();
    });
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/** Calls back every `periodMs`, counted from the end of each call, until the signal is aborted. */
export function every(clock: Clock, periodMs: number, callback: () => void, signal: AbortSignal): void {
  const wait = () =>
    clock.setTimer(
      periodMs,
      () => {
        callback();
        if (!signal.aborted) wait();
      },
      signal,
    );
  wait();
}
