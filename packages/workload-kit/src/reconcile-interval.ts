import type { Pod } from '@kruise/api/core/pod';
import { isPodFinished } from '@kruise/machinery/pods';
import { type Instant, parseTime } from '@kruise/values/time';

/** Options of `reconcileIntervalFor`. */
export type ReconcileInterval = {
  /** Below this number of objects the cost of a reconcile is negligible, and there is no interval. */
  readonly from?: number;
  /** Objects for each millisecond of the interval: fewer where a reconcile costs more, or where it waits longer. */
  readonly objectsPerMs?: number;
  readonly maxMs?: number;
};

/**
 * Minimum interval between two reconciles, in milliseconds, by the number of Pods or other objects that a reconcile
 * visits. A reconcile costs time proportional to this number. If every event caused one, for example when all Pods
 * become ready one after the other, the total cost would be quadratic. With 100 ms for 5,000 Pods it stays at a few
 * percent of the time, regardless of the number of events.
 */
export function reconcileIntervalFor(
  objects: number,
  { from = 100, objectsPerMs = 50, maxMs = Number.POSITIVE_INFINITY }: ReconcileInterval = {},
): number {
  return objects < from ? 0 : Math.min(Math.floor(objects / objectsPerMs), maxMs);
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
