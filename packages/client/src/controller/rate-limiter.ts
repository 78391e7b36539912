/** Rate limiters of work queues: exponential backoff per key, and a token bucket for all keys. */
import type { Clock } from '@kruise/values/clock';

/** Rate limiter of a work queue. */
export type RateLimiter = {
  /** Records a failure of a key; returns the delay before its retry. */
  delayMs(key: unknown): number;
  /** Resets the failures of a key. */
  forget(key: unknown): void;
  failures(key: unknown): number;
};

/** Initial and maximum delay. */
export type BackoffOptions = { readonly initialMs?: number; readonly maxMs?: number };

/** Creates an exponential backoff per key: from 5 ms up to 1000 s, as in client-go. */
export function exponentialBackoff({ initialMs = 5, maxMs = 1_000_000 }: BackoffOptions = {}): RateLimiter {
  const failures = new Map<unknown, number>();
  return {
    delayMs(key) {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      return Math.min(maxMs, initialMs * 2 ** count);
    },
    forget(key) {
      failures.delete(key);
    },
    failures: (key) => failures.get(key) ?? 0,
  };
}

/** Refill rate and capacity of a token bucket. */
export type BucketOptions = { readonly perSecond: number; readonly burst: number };

/** Token bucket. */
export type TokenBucket = {
  /** Reserves a token; returns the time until it is available. */
  reserveMs(): number;
  /** Takes a token if one is available. */
  tryTake(): boolean;
};

/** Creates a full token bucket. */
export function tokenBucket(clock: Clock, { perSecond, burst }: BucketOptions): TokenBucket {
  let tokens = burst;
  let filledAt = clock.elapsedMs();
  const refill = () => {
    const elapsedMs = clock.elapsedMs();
    tokens = Math.min(burst, tokens + ((elapsedMs - filledAt) * perSecond) / 1000);
    filledAt = elapsedMs;
  };
  return {
    reserveMs() {
      refill();
      tokens--;
      return tokens >= 0 ? 0 : (-tokens / perSecond) * 1000;
    },
    tryTake() {
      refill();
      if (tokens < 1) return false;
      tokens--;
      return true;
    },
  };
}

/**
 * Default rate limiter of client-go: backoff per key, and 10 retries per second for all keys with a burst of 100.
 *
 * ```ts
 * const limiter = defaultRateLimiter(clock);
 * limiter.delayMs('default/web'); // 5, then 10, 20, …
 * ```
 */
export function defaultRateLimiter(
  clock: Clock,
  { perSecond = 10, burst = 100, ...backoff }: Partial<BucketOptions> & BackoffOptions = {},
): RateLimiter {
  const perKey = exponentialBackoff(backoff);
  const bucket = tokenBucket(clock, { perSecond, burst });
  return { ...perKey, delayMs: (key) => Math.max(perKey.delayMs(key), bucket.reserveMs()) };
}
