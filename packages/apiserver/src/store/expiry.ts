import type { CancelTimer, Clock } from '@kruise/values/clock';
import type { Version } from './history.ts';

/** Schedules the deletion of expired keys, in batches of one second: a deletion is up to a second late, never early. */
export interface Expiry {
  add(version: Version): void;
  stop(): void;
}

const retryAfterMs = 1000;
/** Maximum number of deletions per batch, which limits the delay of ordinary writes. */
const maxPerBatch = 256;

/**
 * Creates the expiry queue. `remove` deletes the key if the version is still the newest; if it throws, it is retried
 * later.
 */
export function createExpiry(clock: Clock, remove: (version: Version) => Promise<unknown>): Expiry {
  const dueBySecond = new Map<number, Version[]>();
  let nextSecond = Number.POSITIVE_INFINITY;
  let cancel: CancelTimer = () => {};
  let isRemoving = false;
  let isStopped = false;

  function add(version: Version): void {
    const second = Math.ceil(version.expiresAtMs / 1000);
    const due = dueBySecond.get(second);
    if (due) due.push(version);
    else dueBySecond.set(second, [version]);
    if (second < nextSecond) schedule(second);
  }

  function schedule(second: number, delayMs = second * 1000 - clock.now()): void {
    cancel();
    nextSecond = second;
    if (!isRemoving && !isStopped) cancel = clock.setTimer(Math.max(0, delayMs), () => void removeDue());
  }

  async function removeDue(): Promise<void> {
    isRemoving = true;
    let failed = false;
    while (!isStopped && !failed && nextSecond * 1000 <= clock.now()) {
      const due = dueBySecond.get(nextSecond) ?? [];
      dueBySecond.delete(nextSecond);
      nextSecond = dueBySecond.keys().reduce((first, second) => Math.min(first, second), Number.POSITIVE_INFINITY);
      for (let first = 0; first < due.length && !failed; first += maxPerBatch) {
        const outcomes = await Promise.allSettled(due.slice(first, first + maxPerBatch).map(remove));
        failed = outcomes.some(({ status }) => status === 'rejected');
        if (failed) due.slice(first).forEach(add);
      }
    }
    isRemoving = false;
    if (nextSecond !== Number.POSITIVE_INFINITY) {
      schedule(nextSecond, failed ? retryAfterMs : undefined);
    }
  }

  return {
    add,
    stop() {
      isStopped = true;
      cancel();
    },
  };
}
