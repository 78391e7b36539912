/** Exponential backoff after failures: 10 s initially, doubling up to 5 minutes. */
import type { Clock } from '@kruise/values/clock';
import type { Instant } from '@kruise/values/time';

/** Backoff delays by key. */
export type BackOff = {
  /** Reports whether a key that failed at `since` is still in backoff. */
  isWaiting(key: string, since: Instant): boolean;
  /** Reports whether the last attempt is still within the backoff. */
  isWaitingSinceLast(key: string): boolean;
  /** Increases the delay; `since` is the end of the attempt that failed. */
  advance(key: string, since: Instant): void;
  /** Returns the delay of a key, in milliseconds. */
  delayOf(key: string): number;
  /** Returns the earliest retry time of a key whose attempt ended at `since`. */
  dueAt(key: string, since: Instant): Instant;
  /** Returns the earliest retry time after the last attempt. */
  dueSinceLast(key: string): Instant;
  reset(key: string): void;
};

type Entry = { delayMs: number; updatedAt: Instant };

const initialMs = 10_000;
const maximumMs = 300_000;

/** Creates an empty backoff. Each Pod has its own, so entries are deleted with the Pod. */
export function createBackOff(clock: Clock): BackOff {
  return new Delays(clock);
}

/** A class rather than closures, because each Pod has two instances. */
class Delays implements BackOff {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  isWaiting(key: string, since: Instant): boolean {
    const entry = this.#entries.get(key);
    return entry !== undefined && !hasExpired(entry, since) && this.#clock.now() - since < entry.delayMs;
  }
  isWaitingSinceLast(key: string): boolean {
    const entry = this.#entries.get(key);
    return entry !== undefined && this.#clock.now() - entry.updatedAt < entry.delayMs;
  }
  advance(key: string, since: Instant): void {
    const entry = this.#entries.get(key);
    const isFresh = entry === undefined || hasExpired(entry, since);
    const delayMs = isFresh ? initialMs : Math.min(2 * entry.delayMs, maximumMs);
    this.#entries.set(key, { delayMs, updatedAt: this.#clock.now() });
  }
  delayOf(key: string): number {
    return this.#entries.get(key)?.delayMs ?? 0;
  }
  dueAt(key: string, since: Instant): Instant {
    return since + this.delayOf(key);
  }
  dueSinceLast(key: string): Instant {
    const entry = this.#entries.get(key);
    return entry ? entry.updatedAt + entry.delayMs : this.#clock.now();
  }
  reset(key: string): void {
    this.#entries.delete(key);
  }
}

/** A key without failures for twice the maximum delay starts again at the initial delay. */
function hasExpired({ updatedAt }: Entry, at: Instant): boolean {
  return at - updatedAt > 2 * maximumMs;
}
