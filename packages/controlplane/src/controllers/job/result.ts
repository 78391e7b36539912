/** Result of a Job. A result in the status is final, whatever happens later. */
import type { Job, SuccessPolicy } from '@kruise/api/batch/job';
import { findCondition } from '@kruise/machinery/conditions';
import { type Instant, parseTime } from '@kruise/values/time';
import { applyFailurePolicy } from './failure-policy.ts';
import { countCommon, countIndexes, type IndexSet, parseIndexes } from './indexes.ts';
import { isIndexed, isSuspended } from './job-pods.ts';
import { completionsOf, type State } from './state.ts';

/** Result of a Job. */
export type JobResult = {
  readonly isSuccess: boolean;
  readonly reason: string;
  readonly message: string;
  /** The status of the Job already contains the result. */
  readonly isRecorded: boolean;
};

/** Returns the result of a Job regardless of its active Pods. The order matters, because several rules may apply. */
export function findResult(state: State, now: Instant): JobResult | undefined {
  const { job } = state;
  return (
    recordedResult(job) ??
    failed(policyFailure(state)) ??
    failed(backoffFailure(state)) ??
    failed(deadlineFailure(job, now)) ??
    failed(indexFailure(state)) ??
    policySuccess(state)
  );
}

/** Returns the result of a Job with a number of remaining active Pods: it is complete if no work is left. */
export function completionOf({ job, succeeded }: State, active: number): JobResult | undefined {
  const isDone = succeeded >= (job.spec?.completions ?? 1) && active === 0;
  const message = 'Reached expected number of succeeded pods';
  return isDone ? { isSuccess: true, reason: 'CompletionsReached', message, isRecorded: false } : undefined;
}

/** Returns the seconds until the Job exceeds its active deadline. */
export function secondsUntilDeadline({ spec, status }: Job, now: Instant): number | undefined {
  const { activeDeadlineSeconds } = spec ?? {};
  if (activeDeadlineSeconds === undefined || spec?.suspend) return undefined;
  const startedAt = status?.startTime ? parseTime(status.startTime) : now;
  return Number(activeDeadlineSeconds) - (now - startedAt) / 1000;
}

type Failure = { readonly reason: string; readonly message: string };

function failed(failure: Failure | undefined): JobResult | undefined {
  return failure && { ...failure, isSuccess: false, isRecorded: false };
}

function recordedResult({ status }: Job): JobResult | undefined {
  for (const type of ['SuccessCriteriaMet', 'FailureTarget']) {
    const condition = findCondition(status?.conditions, type);
    if (condition?.status !== 'True') continue;
    const { reason = '', message = '' } = condition;
    return { isSuccess: type === 'SuccessCriteriaMet', reason, message, isRecorded: true };
  }
  return undefined;
}

function policyFailure({ job, ended }: State): Failure | undefined {
  const policy = job.spec?.podFailurePolicy;
  if (!policy) return undefined;
  for (const pod of ended.failed) {
    const { action, message } = applyFailurePolicy(policy, pod);
    if (action === 'FailJob') return { reason: 'PodFailurePolicy', message };
  }
  return undefined;
}

function backoffFailure({ job, pods, failed: failures }: State): Failure | undefined {
  const { backoffLimit = 6, template } = job.spec ?? {};
  const failure = { reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' };
  if (failures > backoffLimit) return failure;
  if (template?.spec?.restartPolicy !== 'OnFailure') return undefined;
  let restarts = 0;
  for (const { status } of pods) {
    if (status?.phase !== 'Running' && status?.phase !== 'Pending') continue;
    for (const each of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]) {
      restarts += each.restartCount ?? 0;
    }
  }
  return restarts > 0 && restarts >= backoffLimit ? failure : undefined;
}

function deadlineFailure(job: Job, now: Instant): Failure | undefined {
  const seconds = job.status?.startTime ? secondsUntilDeadline(job, now) : undefined;
  if (seconds === undefined || seconds > 0 || isSuspended(job)) return undefined;
  return { reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline' };
}

function indexFailure({ job, succeededIndexes, failedIndexes }: State): Failure | undefined {
  if (!failedIndexes) return undefined;
  const failedCount = countIndexes(failedIndexes);
  if (failedCount > (job.spec?.maxFailedIndexes ?? Number.POSITIVE_INFINITY)) {
    const message = 'Job has exceeded the specified maximal number of failed indexes';
    return { reason: 'MaxFailedIndexesExceeded', message };
  }
  const isOver = failedCount > 0 && failedCount + countIndexes(succeededIndexes) >= completionsOf(job);
  return isOver ? { reason: 'FailedIndexes', message: 'Job has failed indexes' } : undefined;
}

function policySuccess({ job, succeededIndexes }: State): JobResult | undefined {
  if (!isIndexed(job) || succeededIndexes.length === 0) return undefined;
  const rules = job.spec?.successPolicy?.rules ?? [];
  const index = rules.findIndex((rule) => matches(rule, succeededIndexes, completionsOf(job)));
  if (index < 0) return undefined;
  return { isSuccess: true, reason: 'SuccessPolicy', message: `Matched rules at index ${index}`, isRecorded: false };
}

type SuccessRule = NonNullable<SuccessPolicy['rules']>[number];

function matches({ succeededIndexes, succeededCount }: SuccessRule, done: IndexSet, completions: number): boolean {
  if (succeededIndexes === undefined) return succeededCount !== undefined && countIndexes(done) >= succeededCount;
  const wanted = parseIndexes(succeededIndexes, completions);
  const common = countCommon(wanted, done);
  return (
    wanted.length > 0 && (common === countIndexes(wanted) || (succeededCount !== undefined && common >= succeededCount))
  );
}
