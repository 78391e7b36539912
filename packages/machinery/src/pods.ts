/** State of Pods, as all workloads use it. */
import type { Pod } from '@kruise/api/core/pod';
import { type Instant, parseTime } from '@kruise/values/time';
import { findCondition } from './conditions.ts';

/** Reports whether a Pod has finished: its phase is Succeeded or Failed. */
export function isPodFinished({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Reports whether a Pod is active: neither finished nor terminating. */
export function isPodActive(pod: Pod): boolean {
  return !isPodFinished(pod) && pod.metadata.deletionTimestamp == null;
}

/** Reports whether the Ready condition of a Pod is true. */
export function isPodReady({ status }: Pod): boolean {
  return findCondition(status?.conditions, 'Ready')?.status === 'True';
}

/** Reports whether a Pod is running and its Ready condition is true. */
export function isPodRunningAndReady(pod: Pod): boolean {
  return pod.status?.phase === 'Running' && isPodReady(pod);
}

/** Returns the time at which a ready Pod became ready, if it is known. */
export function readySince({ status }: Pod): Instant | undefined {
  const ready = findCondition(status?.conditions, 'Ready');
  if (ready?.status !== 'True' || !ready.lastTransitionTime) return undefined;
  return parseTime(ready.lastTransitionTime);
}

/**
 * Reports whether a Pod is available: ready for at least `minReadySeconds`.
 *
 * ```ts
 * const available = pods.filter((each) => isPodAvailable(each, 10, clock.now()));
 * ```
 */
export function isPodAvailable(pod: Pod, minReadySeconds: number, now: Instant): boolean {
  if (!isPodReady(pod)) return false;
  if (minReadySeconds === 0) return true;
  const since = readySince(pod);
  return since !== undefined && since + minReadySeconds * 1000 <= now;
}

/**
 * Returns the seconds until the next ready Pod becomes available; undefined if time alone changes nothing. The result
 * is at least a millisecond, so that a requeue finds the Pod available.
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
