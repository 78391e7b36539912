/** How long something that failed waits before it is tried again: 10 s, doubling, at most 5 minutes (kubelet.md §4.2). */
import type { Clock } from '@kruise/values/clock';
import type { Instant } from '@kruise/values/time';

/** Delays by key. */
export type BackOff = {
  /** Whether what ended at `since` still has to wait. */
  isWaiting(key: string, since: Instant): boolean;
  /** Whether the last attempt was too short a time ago. */
  isWaitingSinceLast(key: string): boolean;
  /** Makes the next delay longer; `since` says when what fails now ended. */
  advance(key: string, since: Instant): void;
  /** The delay of a key, in milliseconds. */
  delayOf(key: string): number;
  /** When a key that ended at `since` may be tried again. */
  dueAt(key: string, since: Instant): Instant;
  /** When the last attempt is long enough ago. */
  dueSinceLast(key: string): Instant;
  reset(key: string): void;
};

type Entry = { delayMs: number; updatedAt: Instant };

const initialMs = 10_000;
const maximumMs = 300_000;

/** No delays yet. Each Pod has its own, which go with it. */
export function createBackOff(clock: Clock): BackOff {
  return new Delays(clock);
}

/** A class, for each Pod has two. */
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

/** Whatever went well for twice the longest delay starts anew. */
function hasExpired({ updatedAt }: Entry, at: Instant): boolean {
  return at - updatedAt > 2 * maximumMs;
}
