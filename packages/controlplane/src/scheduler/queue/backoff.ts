/** How long a Pod that could not be placed is left alone. */

export type BackoffOptions = { readonly initialMs: number; readonly maxMs: number };

/** Times are compared by the second, so that Pods whose time comes together are ordered by importance. */
export const windowMs = 1000;

export function windowOf(at: number): number {
  return Math.floor(at / windowMs) * windowMs;
}

/** The wait doubles with every attempt: 1 s, 2 s, 4 s, 8 s, then 10 s. A Pod never tried does not wait. */
export function backoffMs(attempts: number, { initialMs, maxMs }: BackoffOptions): number {
  if (attempts === 0) return 0;
  let durationMs = initialMs;
  for (let attempt = 1; attempt < attempts; attempt++) {
    if (durationMs > maxMs - durationMs) return maxMs;
    durationMs += durationMs;
  }
  return durationMs;
}
