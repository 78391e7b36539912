import type { ControllerContext } from './controller.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { createWorkQueue, type WorkQueue } from './work-queue.ts';

/** Creates an empty work queue with metrics under a name. */
export function createNamedQueue(
  { clock, metrics }: Pick<ControllerContext, 'clock' | 'metrics'>,
  name: string,
  rateLimiter?: RateLimiter,
): WorkQueue {
  const observer = metrics?.queueOf(name, clock);
  return createWorkQueue(clock, { ...(observer ? { observer } : {}), ...(rateLimiter ? { rateLimiter } : {}) });
}

/** Options of the workers of a queue. */
export type WorkerOptions<K> = {
  /** Number of concurrent workers. */
  readonly workers: number;
  /** Processes a key. Returns the seconds after which to requeue it, if any. */
  readonly work: (key: K) => Promise<number | undefined>;
  /** Called with each failure; the key is retried with backoff. */
  readonly onError: (key: K, error: unknown) => void;
};

/**
 * Processes the keys of a queue until the signal is aborted, for work that does not fit into a `Controller`. Resolves
 * when all workers have stopped.
 *
 * ```ts
 * await runWorkers(queue, { workers: 5, work, onError: report }, signal);
 * ```
 */
export async function runWorkers<K>(
  queue: WorkQueue<K>,
  { workers, work, onError }: WorkerOptions<K>,
  signal: AbortSignal,
): Promise<void> {
  const close = () => queue.shutDown();
  if (signal.aborted) close();
  else signal.addEventListener('abort', close, { once: true });

  const processKey = async (key: K): Promise<void> => {
    try {
      const requeueAfterSeconds = await work(key);
      queue.forget(key);
      if (requeueAfterSeconds !== undefined) queue.addAfter(key, requeueAfterSeconds * 1000);
    } catch (error) {
      if (signal.aborted) return;
      queue.addRateLimited(key);
      onError(key, error);
    }
  };
  const run = async (): Promise<void> => {
    for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
      if (!signal.aborted) await processKey(key);
      queue.done(key);
    }
  };
  await Promise.all(Array.from({ length: workers }, run));
}
