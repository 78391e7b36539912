/** Exponential backoff per key: each wait is twice as long as the one before, up to a maximum. */
import type { Instant } from '@kruise/values/time';

/** Exponential backoff per key. */
export type BackOff = {
  /** Returns the milliseconds that a key still has to wait; 0 if its backoff is over. */
  remainingMs(key: string, now: Instant): number;
  /** Starts the next backoff period of a key. */
  begin(key: string, now: Instant): void;
};

type Wait = { readonly since: Instant; readonly lengthMs: number };

/**
 * Creates an empty backoff. A key that has not failed for twice the maximum starts at the initial wait again.
 *
 * ```ts
 * const backoff = createBackoff({ initialMs: 1000, maxMs: 60_000 });
 * backoff.next('default/web', clock.now());
 * ```
 */
export function createBackOff({ firstMs, maxMs }: { readonly firstMs: number; readonly maxMs: number }): BackOff {
  // Insertion order is the order of the last failure, so expired entries come first.
  const waits = new Map<string, Wait>();

  const forgetOld = (now: Instant) => {
    for (const [key, { since }] of waits) {
      if (now - since <= 2 * maxMs) return;
      waits.delete(key);
    }
  };
  return {
    remainingMs(key, now) {
      const wait = waits.get(key);
      return wait ? Math.max(0, wait.since + wait.lengthMs - now) : 0;
    },
    begin(key, now) {
      forgetOld(now);
      const before = waits.get(key);
      waits.delete(key);
      waits.set(key, { since: now, lengthMs: before ? Math.min(2 * before.lengthMs, maxMs) : firstMs });
    },
  };
}
