import type { Pod } from '@kruise/api/core/pod';
import { isPodFinished } from '@kruise/machinery/pods';
import { type Instant, parseTime } from '@kruise/values/time';

/** Below so many Pods a look costs less than it is worth to think about. */
const fewPods = 100;
const podsPerMs = 50;

/**
 * How long a workload is left alone between two looks, in milliseconds. A look costs time in proportion to the Pods there
 * are; were each of them a reason to look again, as when all become ready one after the other, the whole would cost the
 * square. With a tenth of a second for 5,000 Pods it is at most a few percent of the time, however many change.
 */
export function restBetweenLooks(pods: number): number {
  return pods < fewPods ? 0 : pods / podsPerMs;
}

/** A Pod that ends so soon after it was made, as one its node does not let in, is likely to do so again. */
const shortLifeMs = 10_000;
const restAfterShortLifeMs = 1000;

/** How long a workload is left alone because Pods ended as soon as they were made: others of them would end likewise. */
export function restAfterShortLives(pods: readonly Pod[], now: Instant): number {
  const isShortLived = ({ metadata }: Pod) =>
    metadata.creationTimestamp != null && now - parseTime(metadata.creationTimestamp) < shortLifeMs;
  return pods.some((pod) => isPodFinished(pod) && isShortLived(pod)) ? restAfterShortLifeMs : 0;
}
