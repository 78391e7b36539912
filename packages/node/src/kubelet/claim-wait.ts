/** How long a Pod waits for claims that have no volume yet: looked at often at first, and told after a while. */
import type { Pod } from '@kruise/api/core/pod';
import type { Instant } from '@kruise/values/time';
import { MountError } from './volumes.ts';

export type ClaimWait = {
  /** When to look again. */
  next(now: Instant): Instant;
  /** Whether it has taken so long that people want to know. */
  isLong(now: Instant): boolean;
  reset(): void;
};

const shortestMs = 100;
const longestMs = 2000;
const longMs = 123_000;

export function createClaimWait(): ClaimWait {
  let since: Instant | undefined;
  return {
    next(now) {
      since ??= now;
      // As long again as it has taken so far.
      return now + Math.min(longestMs, Math.max(shortestMs, now - since));
    },
    isLong: (now) => since !== undefined && now - since >= longMs,
    reset() {
      since = undefined;
    },
  };
}

/** What is told of volumes that are waited for, with the reason of the first. */
export function unmountedMessage({ spec }: Pod, causes: readonly Error[]): string {
  const names = causes.flatMap((each) => (each instanceof MountError ? [each.volume] : []));
  const all = spec?.volumes?.map(({ name }) => name).filter((name) => names.includes(name)) ?? [];
  const list = `[${all.join(' ')}]`;
  const why = causes[0]?.cause instanceof Error ? `: ${causes[0].cause.message}` : '';
  return `Unable to attach or mount volumes: unmounted volumes=${list}, unattached volumes=[], failed to process volumes=${list}${why}`;
}
