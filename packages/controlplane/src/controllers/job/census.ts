/** What a Job's Pods come to, together with what its status says of those that are gone. */
import type { Job } from '@kruise/api/batch/job';
import type { Pod } from '@kruise/api/core/pod';
import { isPodActive } from '@kruise/machinery/pods';
import { finishedAt } from './backoff.ts';
import { judge } from './failure-policy.ts';
import { countIndexes, hasIndex, type IndexSet, indexesOf, parseIndexes, union } from './indexes.ts';
import { failuresBefore, indexOf, isFailed, isIndexed, isTerminating, isTracked } from './job-pods.ts';

export type Census = {
  readonly job: Job;
  readonly pods: readonly Pod[];
  readonly active: readonly Pod[];
  /** Pods on their way out that have not ended yet. */
  readonly terminating: readonly Pod[];
  /** Every Pod there is that ended well, or not, counted or not. */
  readonly ended: { readonly succeeded: readonly Pod[]; readonly failed: readonly Pod[] };
  /** The uids of Pods the status says are about to be counted. */
  readonly uncounted: { readonly succeeded: ReadonlySet<string>; readonly failed: ReadonlySet<string> };
  /** How many have succeeded or failed, those not yet counted included, those a policy ignores not. */
  readonly succeeded: number;
  readonly failed: number;
  /** Of an indexed Job, the indexes that are done. */
  readonly succeededIndexes: IndexSet;
  /** Where indexes fail one by one, those that are given up. */
  readonly failedIndexes: IndexSet | undefined;
  /** The last Pod that failed of each index that is neither done nor worked on: its replacement goes on counting. */
  readonly toBeReplaced: ReadonlyMap<number, Pod>;
};

export function takeCensus(job: Job, pods: readonly Pod[]): Census {
  const { status } = job;
  const uncounted = {
    succeeded: new Set(status?.uncountedTerminatedPods?.succeeded),
    failed: new Set(status?.uncountedTerminatedPods?.failed),
  };
  const valid = pods.filter((pod) => isOfJob(job, pod));
  const succeededPods = valid.filter(({ status: each }) => each?.phase === 'Succeeded');
  const failedPods = valid.filter((pod) => isFailed(job, pod));
  const isNew = (pod: Pod, known: ReadonlySet<string>) => isTracked(pod) && !known.has(pod.metadata.uid ?? '');
  // One that was deleted is as good as failed, though it may come to a good end before it goes. Were it both, the Job would
  // be complete, and a success short: as it is in the reference.
  const newlySucceeded = succeededPods.filter((pod) => isNew(pod, uncounted.succeeded.union(uncounted.failed)));
  const newlyFailed = failedPods.filter((pod) => isNew(pod, uncounted.failed) && doesCount(job, pod));

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
  const indexes = takeIndexCensus(base);
  return { ...base, ...indexes, succeeded: countIndexes(indexes.succeededIndexes) };
}

/** Whether the failure of a Pod counts, by the Job's policy. */
export function doesCount({ spec }: Job, pod: Pod): boolean {
  return judge(spec?.podFailurePolicy, pod).action !== 'Ignore';
}

/** Whether a Pod works on something the Job wants done. */
export function isOfJob(job: Job, pod: Pod): boolean {
  if (!isIndexed(job)) return true;
  const index = indexOf(pod);
  return index !== undefined && index < completionsOf(job);
}

/** How many indexes an indexed Job has. */
export function completionsOf({ spec }: Job): number {
  return spec?.completions ?? 0;
}

/** The indexes Pods work on. */
export function indexesOfPods(pods: readonly Pod[]): IndexSet {
  return indexesOf(pods.flatMap((pod) => indexOf(pod) ?? []));
}

type IndexCensus = Pick<Census, 'succeededIndexes' | 'failedIndexes' | 'toBeReplaced'>;

function takeIndexCensus({ job, active, ended }: Pick<Census, 'job' | 'active' | 'ended'>): IndexCensus {
  const { spec, status } = job;
  const known = (text: string | undefined) => parseIndexes(text, completionsOf(job));
  const succeededIndexes = union(known(status?.completedIndexes), indexesOfPods(ended.succeeded.filter(isTracked)));
  if (spec?.backoffLimitPerIndex === undefined) {
    return { succeededIndexes, failedIndexes: undefined, toBeReplaced: new Map() };
  }
  const failed = ended.failed.filter(isTracked);
  const failedIndexes = union(
    known(status?.failedIndexes),
    indexesOfPods(failed.filter((pod) => isIndexGivenUp(job, pod))),
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

function isIndexGivenUp({ spec }: Job, pod: Pod): boolean {
  const { action } = judge(spec?.podFailurePolicy, pod);
  if (action === 'FailIndex') return true;
  return action !== 'Ignore' && failuresBefore(pod).counted >= (spec?.backoffLimitPerIndex ?? 0);
}

function isLater(pod: Pod, previous: Pod): boolean {
  const total = (each: Pod) => failuresBefore(each).counted + failuresBefore(each).ignored;
  return total(previous) <= total(pod) && finishedAt(pod) >= finishedAt(previous);
}
