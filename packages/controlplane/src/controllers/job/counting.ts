/**
 * Counts every finished Pod exactly once, even if another process continues after any step. First the status lists the
 * uncounted Pods; then those Pods lose their finalizer; then listed Pods without a finalizer are counted and removed
 * from the list.
 */
import type { JobStatus } from '@kruise/api/batch/job';
import type { Pod } from '@kruise/api/core/pod';
import { isBeingDeleted } from '@kruise/client/actions';
import { formatIndexes, hasIndex, parseIndexes } from './indexes.ts';
import { indexOf, isFailed, isIndexed, isTracked } from './job-pods.ts';
import type { JobResult } from './result.ts';
import { countsAsFailure, isOfJob, type State } from './state.ts';

/** Maximum number of uncounted Pods in the status, which keeps the status small and the reconcile short. */
const maxUncounted = 500;

export type CountingResult = {
  /** Pods that can lose their finalizer once the list is written. */
  readonly released: readonly Pod[];
  readonly counts: Counts;
  /** Some Pods remain for the next reconcile. */
  readonly isPartial: boolean;
};

/** Status fields about finished Pods. */
export type Counts = Required<Pick<JobStatus, 'succeeded' | 'failed' | 'uncountedTerminatedPods'>> &
  Pick<JobStatus, 'completedIndexes' | 'failedIndexes'>;

/** Counts Pods, given the result of the Job, if any, and the Pods that are deleted without being counted. */
export function countFinishedPods(
  state: State,
  result: JobResult | undefined,
  dismissed: ReadonlySet<Pod>,
): CountingResult {
  const { job, uncounted } = state;
  const tracked = state.pods.filter(isTracked);
  const trackedUids = new Set(tracked.map(({ metadata }) => metadata.uid ?? ''));
  const before = settleCounts(recordedCounts(state), (uid) => !trackedUids.has(uid));
  const succeeded = [...(before.uncountedTerminatedPods.succeeded ?? [])];
  const failed = [...(before.uncountedTerminatedPods.failed ?? [])];
  const newIndexes = new Set<number>();
  const previous = parseIndexes(job.status?.completedIndexes, Number.POSITIVE_INFINITY);

  const released: Pod[] = [];
  let isPartial = false;
  for (const pod of isIndexed(job) ? tracked.toSorted(byIndex) : tracked) {
    if (dismissed.has(pod) || !canBeReleased(state, result, pod)) continue;
    released.push(pod);
    const { uid = '' } = pod.metadata;
    if (pod.status?.phase === 'Succeeded' && !uncounted.failed.has(uid)) {
      const index = indexOf(pod);
      // An index in the status is counted; its Pod need not be listed.
      if (!isIndexed(job)) pushNew(succeeded, uncounted.succeeded, uid);
      else if (isOfJob(job, pod) && !hasIndex(previous, index!)) newIndexes.add(index!);
    } else if (isFailed(job, pod) || (result && !result.isSuccess)) {
      if (isOfJob(job, pod) && countsAsFailure(job, pod)) pushNew(failed, uncounted.failed, uid);
    }
    isPartial = newIndexes.size + succeeded.length + failed.length >= maxUncounted;
    if (isPartial) break;
  }
  return { released, counts: { ...before, uncountedTerminatedPods: { succeeded, failed } }, isPartial };
}

/** Returns the counts after some Pods lost their finalizer. */
export function settleCounts(counts: Counts, isReleased: (uid: string) => boolean): Counts {
  const { succeeded = [], failed = [] } = counts.uncountedTerminatedPods;
  const [leftSucceeded, leftFailed] = [succeeded, failed].map((uids) => uids.filter((uid) => !isReleased(uid)));
  const isIndexedCount = counts.completedIndexes !== undefined;
  return {
    ...counts,
    succeeded: counts.succeeded + (isIndexedCount ? 0 : succeeded.length - leftSucceeded!.length),
    failed: counts.failed + failed.length - leftFailed!.length,
    uncountedTerminatedPods: { succeeded: leftSucceeded!, failed: leftFailed! },
  };
}

function recordedCounts({ job, succeeded, succeededIndexes, failedIndexes }: State): Counts {
  const { status } = job;
  return {
    succeeded: isIndexed(job) ? succeeded : (status?.succeeded ?? 0),
    failed: status?.failed ?? 0,
    uncountedTerminatedPods: status?.uncountedTerminatedPods ?? {},
    ...(isIndexed(job) ? { completedIndexes: formatIndexes(succeededIndexes) } : {}),
    ...(failedIndexes ? { failedIndexes: formatIndexes(failedIndexes) } : {}),
  };
}

function canBeReleased({ job, toBeReplaced }: State, result: JobResult | undefined, pod: Pod): boolean {
  if (result || isBeingDeleted(job) || pod.status?.phase === 'Succeeded') return true;
  if (!isFailed(job, pod)) return false;
  // The replacement needs the failure count of its predecessor.
  const index = indexOf(pod);
  return index === undefined || toBeReplaced.get(index) !== pod;
}

function pushNew(list: string[], known: ReadonlySet<string>, uid: string): void {
  if (!known.has(uid)) list.push(uid);
}

function byIndex(a: Pod, b: Pod): number {
  return (indexOf(a) ?? -1) - (indexOf(b) ?? -1);
}
