/** Retry schedule for a Pod whose PVCs are not bound yet: frequent retries at first, and an event after a long wait. */
import type { Pod } from '@kruise/api/core/pod';
import type { Instant } from '@kruise/values/time';
import { MountError } from './volumes.ts';

export type VolumeRetry = {
  /** Returns the time of the next retry. */
  nextRetry(now: Instant): Instant;
  /** Reports whether the wait is long enough to record an event. */
  isLong(now: Instant): boolean;
  reset(): void;
};

const shortestMs = 100;
const longestMs = 2000;
const longMs = 123_000;

export function createVolumeRetry(): VolumeRetry {
  let since: Instant | undefined;
  return {
    nextRetry(now) {
      since ??= now;
      // The next delay equals the time waited so far, within the limits.
      return now + Math.min(longestMs, Math.max(shortestMs, now - since));
    },
    isLong: (now) => since !== undefined && now - since >= longMs,
    reset() {
      since = undefined;
    },
  };
}

/** Returns the event message for volumes that are not mounted, with the cause of the first failure. */
export function unmountedMessage({ spec }: Pod, causes: readonly Error[]): string {
  const names = causes.flatMap((each) => (each instanceof MountError ? [each.volume] : []));
  const all = spec?.volumes?.map(({ name }) => name).filter((name) => names.includes(name)) ?? [];
  const list = `[${all.join(' ')}]`;
  const why = causes[0]?.cause instanceof Error ? `: ${causes[0].cause.message}` : '';
  return `Unable to attach or mount volumes: unmounted volumes=${list}, unattached volumes=[], failed to process volumes=${list}${why}`;
}
