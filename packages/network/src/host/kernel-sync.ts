/**
 * Runs syncs of the kernel one at a time: soon after a request, so that requests within a short time are one sync, and
 * again after a failure, with backoff.
 */
import { createBackoff } from '@kruise/client/backoff';
import type { Clock } from '@kruise/values/clock';

export type KernelSync = {
  /** Requests a sync. */
  request(delayMs?: number): void;
  /** Resolves when the last sync has ended after the signal was aborted. */
  readonly stopped: Promise<void>;
};

export type KernelSyncOptions = {
  readonly clock: Clock;
  /** Requests within this time are one sync. */
  readonly batchMs: number;
  /** Reports whether syncs may run. A request before is not kept: it is repeated when they may. */
  readonly isReady: () => boolean;
  readonly onError: (error: unknown, retryMs: number) => void;
};

const retries = { initialMs: 1000, maxMs: 30_000 };

/** Creates a loop; `sync` may return the time after which it is to run again. */
export function createKernelSync(
  { clock, batchMs, isReady, onError }: KernelSyncOptions,
  sync: () => Promise<number | undefined>,
  signal: AbortSignal,
): KernelSync {
  const backoff = createBackoff(retries);
  const backoffKey = 'sync';
  const stopped = Promise.withResolvers<void>();
  let isSyncing = false;
  let isRequested = false;
  let isScheduled = false;

  function request(delayMs = batchMs): void {
    isRequested = true;
    if (isSyncing || isScheduled || signal.aborted || !isReady()) return;
    isScheduled = true;
    clock.setTimer(
      delayMs,
      () => {
        isScheduled = false;
        void run();
      },
      signal,
    );
  }

  async function run(): Promise<void> {
    isSyncing = true;
    isRequested = false;
    let nextMs: number | undefined;
    try {
      nextMs = await sync();
    } catch (error) {
      backoff.next(backoffKey, clock.now());
      nextMs = backoff.remainingMs(backoffKey, clock.now());
      onError(error, nextMs);
    }
    isSyncing = false;
    if (signal.aborted) stopped.resolve();
    else if (isRequested || nextMs !== undefined) request(nextMs);
  }

  const stop = () => isSyncing || stopped.resolve();
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  return { request, stopped: stopped.promise };
}
