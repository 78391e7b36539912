/** State of a Job: its Pods, together with the recorded Pods in its status. */
import type { Job } from '@kruise/api/batch/job';
import type { Pod } from '@kruise/api/core/pod';
import { isPodActive } from '@kruise/machinery/pods';
import { finishedAt } from './backoff.ts';
import { applyFailurePolicy } from './failure-policy.ts';
import { countIndexes, hasIndex, type IndexSet, indexesOf, parseIndexes, union } from './indexes.ts';
import { failuresBefore, indexOf, isFailed, isIndexed, isTerminating, isTracked } from './job-pods.ts';

export type State = {
  readonly job: Job;
  readonly pods: readonly Pod[];
  readonly active: readonly Pod[];
  /** Terminating Pods that have not finished yet. */
  readonly terminating: readonly Pod[];
  /** All existing Pods that succeeded or failed, counted or not. */
  readonly ended: { readonly succeeded: readonly Pod[]; readonly failed: readonly Pod[] };
  /** UIDs of Pods that the status lists as uncounted. */
  readonly uncounted: { readonly succeeded: ReadonlySet<string>; readonly failed: ReadonlySet<string> };
  /** Numbers of succeeded and failed Pods, including uncounted ones, excluding failures that the policy ignores. */
  readonly succeeded: number;
  readonly failed: number;
  /** Completed indexes of an Indexed Job. */
  readonly succeededIndexes: IndexSet;
  /** Failed indexes; undefined without a backoff limit per index. */
  readonly failedIndexes: IndexSet | undefined;
  /**
   * Last failed Pod of each index that is neither completed nor active; the replacement continues its failure count.
   */
  readonly toBeReplaced: ReadonlyMap<number, Pod>;
};

export function deriveState(job: Job, pods: readonly Pod[]): State {
  const { status } = job;
  const uncounted = {
    succeeded: new Set(status?.uncountedTerminatedPods?.succeeded),
    failed: new Set(status?.uncountedTerminatedPods?.failed),
  };
  const valid = pods.filter((pod) => isOfJob(job, pod));
  const succeededPods = valid.filter(({ status: each }) => each?.phase === 'Succeeded');
  const failedPods = valid.filter((pod) => isFailed(job, pod));
  const isNew = (pod: Pod, known: ReadonlySet<string>) => isTracked(pod) && !known.has(pod.metadata.uid ?? '');
  // A deleted Pod counts as failed, even if it succeeds before it is gone. If it counted as both, the Job would be
  // complete with one success too few. This matches upstream.
  const newlySucceeded = succeededPods.filter((pod) => isNew(pod, uncounted.succeeded.union(uncounted.failed)));
  const newlyFailed = failedPods.filter((pod) => isNew(pod, uncounted.failed) && countsAsFailure(job, pod));

  const base = {
    job,
    pods,
    active: pods.filter(isPodActive),
    terminating: pods.filter(isTerminating),
    ended: { succeeded: succeededPods, failed: failedPods },
    uncounted,
    failed: (status?.failed ?? 0) + newlyFailed.length + uncounted.failed.size,
  };
  if (!isIndexed(job)) {
    const succeeded = (status?.succeeded ?? 0) + newlySucceeded.length + uncounted.succeeded.size;
    return { ...base, succeeded, succeededIndexes: [], failedIndexes: undefined, toBeReplaced: new Map() };
  }
  const indexes = deriveIndexState(base);
  return { ...base, ...indexes, succeeded: countIndexes(indexes.succeededIndexes) };
}

/** Reports whether the failure of a Pod counts, by the Job's Pod failure policy. */
export function countsAsFailure({ spec }: Job, pod: Pod): boolean {
  return applyFailurePolicy(spec?.podFailurePolicy, pod).action !== 'Ignore';
}

/** Reports whether a Pod works on an index of the Job. */
export function isOfJob(job: Job, pod: Pod): boolean {
  if (!isIndexed(job)) return true;
  const index = indexOf(pod);
  return index !== undefined && index < completionsOf(job);
}

/** Returns the number of indexes of an Indexed Job. */
export function completionsOf({ spec }: Job): number {
  return spec?.completions ?? 0;
}

/** Returns the indexes of Pods. */
export function indexesOfPods(pods: readonly Pod[]): IndexSet {
  return indexesOf(pods.flatMap((pod) => indexOf(pod) ?? []));
}

type IndexState = Pick<State, 'succeededIndexes' | 'failedIndexes' | 'toBeReplaced'>;

function deriveIndexState({ job, active, ended }: Pick<State, 'job' | 'active' | 'ended'>): IndexState {
  const { spec, status } = job;
  const known = (text: string | undefined) => parseIndexes(text, completionsOf(job));
  const succeededIndexes = union(known(status?.completedIndexes), indexesOfPods(ended.succeeded.filter(isTracked)));
  if (spec?.backoffLimitPerIndex === undefined) {
    return { succeededIndexes, failedIndexes: undefined, toBeReplaced: new Map() };
  }
  const failed = ended.failed.filter(isTracked);
  const failedIndexes = union(
    known(status?.failedIndexes),
    indexesOfPods(failed.filter((pod) => isIndexFailed(job, pod))),
  );
  const settled = union(succeededIndexes, failedIndexes, indexesOfPods(active));
  const toBeReplaced = new Map<number, Pod>();
  for (const pod of failed) {
    const index = indexOf(pod);
    if (index === undefined || hasIndex(settled, index)) continue;
    const previous = toBeReplaced.get(index);
    if (!previous || isLater(pod, previous)) toBeReplaced.set(index, pod);
  }
  return { succeededIndexes, failedIndexes, toBeReplaced };
}

function isIndexFailed({ spec }: Job, pod: Pod): boolean {
  const { action } = applyFailurePolicy(spec?.podFailurePolicy, pod);
  if (action === 'FailIndex') return true;
  return action !== 'Ignore' && failuresBefore(pod).counted >= (spec?.backoffLimitPerIndex ?? 0);
}

function isLater(pod: Pod, previous: Pod): boolean {
  const total = (each: Pod) => failuresBefore(each).counted + failuresBefore(each).ignored;
  return total(previous) <= total(pod) && finishedAt(pod) >= finishedAt(previous);
}
