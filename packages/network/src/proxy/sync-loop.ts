/**
 * Runs syncs one at a time: soon after a request, at most a few per `minIntervalMs`, and at least one per
 * `maxIntervalMs`. Requests during a wait are coalesced.
 */
import type { Clock } from '@kruise/values/clock';

export type SyncLoop = {
  /** Requests a sync. */
  request(): void;
  /** Resolves when the loop has ended, after the signal was aborted. */
  readonly stopped: Promise<void>;
};

export type SyncLoopOptions = {
  readonly minIntervalMs: number;
  readonly maxIntervalMs: number;
  /** Number of syncs that may follow each other at once after a quiet time. */
  readonly burst: number;
};

/**
 * Starts a loop. `sync` may return the time after which it is to run again. If it fails, it runs again after a backoff
 * of up to `maxIntervalMs`.
 */
export function startSyncLoop(
  clock: Clock,
  { minIntervalMs, maxIntervalMs, burst }: SyncLoopOptions,
  sync: () => Promise<number | undefined>,
  onError: (error: unknown) => void,
  signal: AbortSignal,
): SyncLoop {
  let wake: (() => void) | undefined;
  let isRequested = false;
  let tokens = burst;
  let tokensAtMs = clock.elapsedMs();
  let failures = 0;

  const sleep = (delayMs: number, untilRequested: boolean) =>
    new Promise<void>((resolve) => {
      if (signal.aborted || delayMs <= 0) return resolve();
      const end = () => {
        cancel();
        wake = undefined;
        signal.removeEventListener('abort', end);
        resolve();
      };
      const cancel = clock.setTimer(delayMs, end);
      signal.addEventListener('abort', end, { once: true });
      if (untilRequested) wake = end;
    });
  const refill = () => {
    const nowMs = clock.elapsedMs();
    if (minIntervalMs > 0) tokens = Math.min(burst, tokens + (nowMs - tokensAtMs) / minIntervalMs);
    else tokens = burst;
    tokensAtMs = nowMs;
  };

  async function loop() {
    let nextMs = maxIntervalMs;
    while (!signal.aborted) {
      if (!isRequested) await sleep(nextMs, true);
      refill();
      if (tokens < 1) await sleep((1 - tokens) * minIntervalMs, false);
      refill();
      if (signal.aborted) return;
      tokens = Math.max(0, tokens - 1);
      isRequested = false;
      try {
        nextMs = Math.min((await sync()) ?? maxIntervalMs, maxIntervalMs);
        failures = 0;
      } catch (error) {
        onError(error);
        nextMs = Math.min(Math.max(minIntervalMs, 1000) * 2 ** failures, maxIntervalMs);
        failures = Math.min(failures + 1, 10);
        // Requests do not shorten the backoff; the next sync includes them.
        await sleep(nextMs, false);
        isRequested = true;
      }
    }
  }

  return {
    request() {
      isRequested = true;
      wake?.();
    },
    stopped: loop(),
  };
}
