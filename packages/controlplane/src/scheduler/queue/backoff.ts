/** Backoff of unschedulable Pods. */

export type BackoffOptions = { readonly initialMs: number; readonly maxMs: number };

/** Backoff times are compared by the second, so that Pods that expire together are ordered by priority. */
export const windowMs = 1000;

export function windowOf(at: number): number {
  return Math.floor(at / windowMs) * windowMs;
}

/**
 * Returns the backoff, which doubles with every attempt: 1 s, 2 s, 4 s, 8 s, then 10 s. A Pod that was not attempted
 * has none.
 */
export function backoffMs(attempts: number, { initialMs, maxMs }: BackoffOptions): number {
  if (attempts === 0) return 0;
  let durationMs = initialMs;
  for (let attempt = 1; attempt < attempts; attempt++) {
    if (durationMs > maxMs - durationMs) return maxMs;
    durationMs += durationMs;
  }
  return durationMs;
}
