/** Waits between attempts at something that fails again and again, twice as long each time. */
import type { Instant } from '@kruise/values/time';

/** Waits by key. */
export type BackOff = {
  /** How long a key has to wait yet; 0 if it does not. */
  remainingMs(key: string, now: Instant): number;
  /** Begins the next wait of a key. */
  begin(key: string, now: Instant): void;
};

type Wait = { readonly since: Instant; readonly lengthMs: number };

/** No waits yet. What has not failed for twice the longest wait is forgotten, and begins with the shortest again. */
export function createBackOff({ firstMs, maxMs }: { readonly firstMs: number; readonly maxMs: number }): BackOff {
  // In the order in which waits began, so that those to be forgotten come first.
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
