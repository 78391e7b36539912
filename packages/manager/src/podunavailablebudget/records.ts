/** Records of allowed disruptions that are not observed yet. */
import type { Pod } from '@kruise/api/core/pod';
import type { PodUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { type Instant, parseTime } from '@kruise/values/time';

/** Time after which the record of an allowed deletion expires, whether the deletion is observed or not. */
const deletionTimeoutMs = 20_000;

/** Time after which the record of an allowed update expires: caches may not show yet that the Pod is unavailable. */
const updateTimeoutMs = 10_000;

export type Records = {
  /** Names of Pods with an allowed deletion, eviction or resize, with the time of the permission. */
  readonly disruptedPods: ReadonlyMap<string, string>;
  /** Names of Pods with an allowed update, with the time of the permission. */
  readonly unavailablePods: ReadonlyMap<string, string>;
  /** Pods whose record has expired without an observed disruption. */
  readonly expired: { readonly disrupted: readonly Pod[]; readonly unavailable: readonly Pod[] };
  /** Time when the next record expires. */
  readonly nextAt: Instant | undefined;
};

/** Returns the records of active Pods; the records of other Pods are complete. */
export function recordsOf({ status }: PodUnavailableBudget, pods: readonly Pod[], now: Instant): Records {
  const { disruptedPods = {}, unavailablePods = {} } = status ?? {};
  const ends: Instant[] = [];
  /** Splits the records into valid records and Pods with expired records. */
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
    expired: { disrupted: disrupted.over, unavailable: unavailable.over },
    // At the very end of its timeout a record is still valid.
    nextAt: ends.length > 0 ? Math.min(...ends) + 1 : undefined,
  };
}
