/** How long to wait before trying again: longer with each failure of one key, and not too many tries of all together. */
import type { Clock } from '@kruise/values/clock';

/** Says how long a key has to wait. */
export type RateLimiter = {
  /** Notes a failure, and says after how long to try again. */
  delayMs(key: unknown): number;
  /** Takes back all failures of a key. */
  forget(key: unknown): void;
  failures(key: unknown): number;
};

/** The first wait, and the longest. */
export type BackOffOptions = { readonly firstMs?: number; readonly maxMs?: number };

/** Twice as long after each failure of a key: from 5 ms up to 1000 s, as Kubernetes' controllers do. */
export function exponentialBackOff({ firstMs = 5, maxMs = 1_000_000 }: BackOffOptions = {}): RateLimiter {
  const failures = new Map<unknown, number>();
  return {
    delayMs(key) {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      return Math.min(maxMs, firstMs * 2 ** count);
    },
    forget(key) {
      failures.delete(key);
    },
    failures: (key) => failures.get(key) ?? 0,
  };
}

/** How many tokens come back a second, and how many there are at most. */
export type BucketOptions = { readonly perSecond: number; readonly burst: number };

/** Takes tokens that come back over time. */
export type TokenBucket = {
  /** Takes a token, if need be one that is yet to come, and says how long until it is there. */
  reserveMs(): number;
  /** Takes a token if there is one. */
  tryTake(): boolean;
};

/** A bucket that is full at first. */
export function tokenBucket(clock: Clock, { perSecond, burst }: BucketOptions): TokenBucket {
  let tokens = burst;
  let filledAt = clock.elapsedMs();
  const fill = () => {
    const elapsedMs = clock.elapsedMs();
    tokens = Math.min(burst, tokens + ((elapsedMs - filledAt) * perSecond) / 1000);
    filledAt = elapsedMs;
  };
  return {
    reserveMs() {
      fill();
      tokens--;
      return tokens >= 0 ? 0 : (-tokens / perSecond) * 1000;
    },
    tryTake() {
      fill();
      if (tokens < 1) return false;
      tokens--;
      return true;
    },
  };
}

/** Both rules at once: a key's own back-off, and ten tries of all keys a second after a burst of a hundred. */
export function defaultRateLimiter(
  clock: Clock,
  { perSecond = 10, burst = 100, ...backOff }: Partial<BucketOptions> & BackOffOptions = {},
): RateLimiter {
  const own = exponentialBackOff(backOff);
  const bucket = tokenBucket(clock, { perSecond, burst });
  return { ...own, delayMs: (key) => Math.max(own.delayMs(key), bucket.reserveMs()) };
}
