/** Exponential backoff per key: each wait is twice as long as the one before, up to a maximum. */
import type { Instant } from '@kruise/values/time';

/** Exponential backoff per key. */
export type Backoff = {
  /** Returns the milliseconds that a key still has to wait; 0 if its backoff is over. */
  remainingMs(key: string, now: Instant): number;
  /** Starts the next backoff period of a key. */
  next(key: string, now: Instant): void;
};

type Entry = { readonly since: Instant; readonly lengthMs: number };

/**
 * Creates an empty backoff. A key that has not failed for twice the maximum starts at the initial wait again.
 *
 * ```ts
 * const backoff = createBackoff({ initialMs: 1000, maxMs: 60_000 });
 * backoff.next('default/web', clock.now());
 * ```
 */
export function createBackoff({ initialMs, maxMs }: { readonly initialMs: number; readonly maxMs: number }): Backoff {
  // Insertion order is the order of the last failure, so expired entries come first.
  const entries = new Map<string, Entry>();

  const removeExpired = (now: Instant) => {
    for (const [key, { since }] of entries) {
      if (now - since <= 2 * maxMs) return;
      entries.delete(key);
    }
  };
  return {
    remainingMs(key, now) {
      const entry = entries.get(key);
      return entry ? Math.max(0, entry.since + entry.lengthMs - now) : 0;
    },
    next(key, now) {
      removeExpired(now);
      const before = entries.get(key);
      entries.delete(key);
      entries.set(key, { since: now, lengthMs: before ? Math.min(2 * before.lengthMs, maxMs) : initialMs });
    },
  };
}
