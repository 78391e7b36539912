import type { Pod } from '@kruise/api/core/pod';
import { isPodFinished } from '@kruise/machinery/pods';
import { type Instant, parseTime } from '@kruise/values/time';

/** Below this number of Pods, the cost of a reconcile is negligible. */
const fewPods = 100;
const podsPerMs = 50;

/**
 * Minimum interval between two reconciles of a workload, in milliseconds. A reconcile costs time proportional to the
 * number of Pods. If every Pod event caused one, for example when all Pods become ready one after the other, the total
 * cost would be quadratic. With 100 ms for 5,000 Pods it stays at a few percent of the time, regardless of the number
 * of events.
 */
export function reconcileIntervalFor(pods: number): number {
  return pods < fewPods ? 0 : pods / podsPerMs;
}

/**
 * A Pod that finishes this soon after its creation, for example because its node rejects it, is likely to do so again.
 */
const shortLifeMs = 10_000;
const shortLivedPodIntervalMs = 1000;

/**
 * Minimum interval between two reconciles of a workload whose Pods finish right after their creation: further Pods
 * would fail likewise.
 */
export function shortLivedPodIntervalFor(pods: readonly Pod[], now: Instant): number {
  const isShortLived = ({ metadata }: Pod) =>
    metadata.creationTimestamp != null && now - parseTime(metadata.creationTimestamp) < shortLifeMs;
  return pods.some((pod) => isPodFinished(pod) && isShortLived(pod)) ? shortLivedPodIntervalMs : 0;
}
