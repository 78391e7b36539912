/** What was let happen to Pods and has not been seen yet (protection.md §A9.3). */
import type { Pod } from '@kruise/api/core/pod';
import type { PodUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { type Instant, parseTime } from '@kruise/values/time';

/** A Pod that may be deleted is taken for gone for so long, whether it is seen to go or not. */
const deletionTimeoutMs = 20_000;

/** A Pod that may be updated is taken for unavailable for so long: caches may not show yet that it is. */
const updateTimeoutMs = 10_000;

export type Records = {
  /** Pods that are still to be deleted, evicted or resized, by name, with the time it was allowed. */
  readonly disruptedPods: ReadonlyMap<string, string>;
  /** Pods that are still to be updated. */
  readonly unavailablePods: ReadonlyMap<string, string>;
  /** Pods whose record is too old, though nothing was seen to happen to them. */
  readonly forgotten: { readonly disrupted: readonly Pod[]; readonly unavailable: readonly Pod[] };
  /** When the next record is to be forgotten. */
  readonly nextAt: Instant | undefined;
};

/** The records of Pods that are at work; those of others have done their part. */
export function recordsOf({ status }: PodUnavailableBudget, pods: readonly Pod[], now: Instant): Records {
  const { disruptedPods = {}, unavailablePods = {} } = status ?? {};
  const ends: Instant[] = [];
  /** The records that still hold, and the Pods of those that do not. */
  const sort = (records: { readonly [name: string]: string }, timeoutMs: number) => {
    const kept = new Map<string, string>();
    const over: Pod[] = [];
    for (const pod of pods) {
      const { name = '' } = pod.metadata;
      const since = Object.hasOwn(records, name) ? records[name] : undefined;
      if (since === undefined) continue;
      const end = parseTime(since) + timeoutMs;
      if (now > end) {
        over.push(pod);
      } else {
        kept.set(name, since);
        ends.push(end);
      }
    }
    return { kept, over };
  };
  const disrupted = sort(disruptedPods, deletionTimeoutMs);
  const unavailable = sort(unavailablePods, updateTimeoutMs);
  return {
    disruptedPods: disrupted.kept,
    unavailablePods: unavailable.kept,
    forgotten: { disrupted: disrupted.over, unavailable: unavailable.over },
    // Whoever looked at the very end would find that it still holds.
    nextAt: ends.length > 0 ? Math.min(...ends) + 1 : undefined,
  };
}
