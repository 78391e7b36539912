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
