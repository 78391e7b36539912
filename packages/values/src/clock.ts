/** Time, handed in by the entry point, so that a simulation can run on a time of its own. */
import type { Instant } from './time.ts';

/** What tells the time and waits for it. */
export type Clock = {
  now(): Instant;
  /** Milliseconds since a moment of its own: they go on evenly though the time is put right, and measure how long. */
  elapsedMs(): number;
  /** Calls back once, after `delayMs`, unless the returned function is called or the signal aborted before. */
  setTimer(delayMs: number, callback: () => void, signal?: AbortSignal): CancelTimer;
};

/** Stops a timer; does nothing once it has fired. */
export type CancelTimer = () => void;

/** Resolves after `delayMs`; rejects with the signal's reason if it is aborted before. */
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
