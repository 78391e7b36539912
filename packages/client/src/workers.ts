import type { ControllerContext } from './controller.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { createWorkQueue, type WorkQueue } from './work-queue.ts';

/** An empty queue, whose metrics are kept under a name. */
export function createNamedQueue(
  { clock, metrics }: Pick<ControllerContext, 'clock' | 'metrics'>,
  name: string,
  rateLimiter?: RateLimiter,
): WorkQueue {
  const observer = metrics?.queueOf(name, clock);
  return createWorkQueue(clock, { ...(observer ? { observer } : {}), ...(rateLimiter ? { rateLimiter } : {}) });
}

/** How the keys of a queue are worked on. */
export type WorkerOptions<K> = {
  /** Keys worked on at a time. */
  readonly workers: number;
  /** Works on a key. What it returns, if anything, is after how many seconds to do so again. */
  readonly work: (key: K) => Promise<number | undefined>;
  /** Told of each failure; the key is tried again, later each time. */
  readonly onError: (key: K, error: unknown) => void;
};

/**
 * Works on the keys of a queue until the signal is aborted: for what does not come down to a decision, and is no
 * `Controller` therefore. Resolves when all work has come to its end.
 *
 * ```ts
 * await runWorkers(queue, { workers: 5, work: (key) => collect(key), onError: report }, signal);
 * ```
 */
export async function runWorkers<K>(
  queue: WorkQueue<K>,
  { workers, work, onError }: WorkerOptions<K>,
  signal: AbortSignal,
): Promise<void> {
  const close = () => queue.close();
  if (signal.aborted) close();
  else signal.addEventListener('abort', close, { once: true });

  const pass = async (key: K): Promise<void> => {
    try {
      const againAfterSeconds = await work(key);
      queue.forget(key);
      if (againAfterSeconds !== undefined) queue.addAfter(key, againAfterSeconds * 1000);
    } catch (error) {
      if (signal.aborted) return;
      queue.addRateLimited(key);
      onError(key, error);
    }
  };
  const run = async (): Promise<void> => {
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
      if (!signal.aborted) await pass(key);
      queue.done(key);
    }
  };
  await Promise.all(Array.from({ length: workers }, run));
}
