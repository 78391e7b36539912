/** What every workload asks of a Pod. */
import type { Pod } from '@kruise/api/core/pod';
import { type Instant, parseTime } from '@kruise/values/time';
import { findCondition } from './conditions.ts';

/** Whether a Pod is over: what it ran has ended, and is not started again. */
export function isPodFinished({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Whether a Pod counts for its workload: it is neither over nor on its way out. */
export function isPodActive(pod: Pod): boolean {
  return !isPodFinished(pod) && pod.metadata.deletionTimestamp == null;
}

/** Whether a Pod says that it is ready. */
export function isPodReady({ status }: Pod): boolean {
  return findCondition(status?.conditions, 'Ready')?.status === 'True';
}

/** When a Pod that is ready became so, as far as is known. */
export function readySince({ status }: Pod): Instant | undefined {
  const ready = findCondition(status?.conditions, 'Ready');
  if (ready?.status !== 'True' || !ready.lastTransitionTime) return undefined;
  return parseTime(ready.lastTransitionTime);
}

/** Whether a Pod has been ready for so long that it can be relied on. */
export function isPodAvailable(pod: Pod, minReadySeconds: number, now: Instant): boolean {
  if (!isPodReady(pod)) return false;
  if (minReadySeconds === 0) return true;
  const since = readySince(pod);
  return since !== undefined && since + minReadySeconds * 1000 <= now;
}

/**
 * In how many seconds the next of the Pods that are ready can be relied on; undefined if time alone changes nothing.
 * Never less than a millisecond, so that whoever looks again then finds it so.
 */
export function secondsUntilAvailable(pods: Iterable<Pod>, minReadySeconds: number, now: Instant): number | undefined {
  if (minReadySeconds === 0) return undefined;
  let next = Number.POSITIVE_INFINITY;
  for (const pod of pods) {
    const availableAt = (readySince(pod) ?? Number.NEGATIVE_INFINITY) + minReadySeconds * 1000;
    if (availableAt > now) next = Math.min(next, availableAt);
  }
  return next === Number.POSITIVE_INFINITY ? undefined : Math.max(1, next - now) / 1000;
}
