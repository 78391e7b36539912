/** Result of a Job. A result in the status is final, whatever happens later. */
import type { Job, SuccessPolicy } from '@kruise/api/batch/job';
import { findCondition } from '@kruise/machinery/conditions';
import { type Instant, parseTime } from '@kruise/values/time';
import { type Census, completionsOf } from './census.ts';
import { judge } from './failure-policy.ts';
import { countCommon, countIndexes, type IndexSet, parseIndexes } from './indexes.ts';
import { isIndexed, isSuspended } from './job-pods.ts';

/** Result of a Job. */
export type Verdict = {
  readonly isSuccess: boolean;
  readonly reason: string;
  readonly message: string;
  /** The status of the Job already contains the result. */
  readonly isKnown: boolean;
};

/** Returns the result of a Job regardless of its active Pods. The order matters, because several rules may apply. */
export function verdictOf(census: Census, now: Instant): Verdict | undefined {
  const { job } = census;
  return (
    knownVerdict(job) ??
    failed(policyFailure(census)) ??
    failed(backoffFailure(census)) ??
    failed(deadlineFailure(job, now)) ??
    failed(indexFailure(census)) ??
    policySuccess(census)
  );
}

/** Returns the result of a Job with a number of remaining active Pods: it is complete if no work is left. */
export function completionOf({ job, succeeded }: Census, active: number): Verdict | undefined {
  const isDone = succeeded >= (job.spec?.completions ?? 1) && active === 0;
  const message = 'Reached expected number of succeeded pods';
  return isDone ? { isSuccess: true, reason: 'CompletionsReached', message, isKnown: false } : undefined;
}

/** Returns the seconds until the Job exceeds its active deadline. */
export function secondsUntilDeadline({ spec, status }: Job, now: Instant): number | undefined {
  const { activeDeadlineSeconds } = spec ?? {};
  if (activeDeadlineSeconds === undefined || spec?.suspend) return undefined;
  const startedAt = status?.startTime ? parseTime(status.startTime) : now;
  return Number(activeDeadlineSeconds) - (now - startedAt) / 1000;
}

type Fault = { readonly reason: string; readonly message: string };

function failed(fault: Fault | undefined): Verdict | undefined {
  return fault && { ...fault, isSuccess: false, isKnown: false };
}

function knownVerdict({ status }: Job): Verdict | undefined {
  for (const type of ['SuccessCriteriaMet', 'FailureTarget']) {
    const condition = findCondition(status?.conditions, type);
    if (condition?.status !== 'True') continue;
    const { reason = '', message = '' } = condition;
    return { isSuccess: type === 'SuccessCriteriaMet', reason, message, isKnown: true };
  }
  return undefined;
}

function policyFailure({ job, ended }: Census): Fault | undefined {
  const policy = job.spec?.podFailurePolicy;
  if (!policy) return undefined;
  for (const pod of ended.failed) {
    const { action, message } = judge(policy, pod);
    if (action === 'FailJob') return { reason: 'PodFailurePolicy', message };
  }
  return undefined;
}

function backoffFailure({ job, pods, failed: failures }: Census): Fault | undefined {
  const { backoffLimit = 6, template } = job.spec ?? {};
  const fault = { reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' };
  if (failures > backoffLimit) return fault;
  if (template?.spec?.restartPolicy !== 'OnFailure') return undefined;
  let restarts = 0;
  for (const { status } of pods) {
    if (status?.phase !== 'Running' && status?.phase !== 'Pending') continue;
    for (const each of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]) {
      restarts += each.restartCount ?? 0;
    }
  }
  return restarts > 0 && restarts >= backoffLimit ? fault : undefined;
}

function deadlineFailure(job: Job, now: Instant): Fault | undefined {
  const seconds = job.status?.startTime ? secondsUntilDeadline(job, now) : undefined;
  if (seconds === undefined || seconds > 0 || isSuspended(job)) return undefined;
  return { reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline' };
}

function indexFailure({ job, succeededIndexes, failedIndexes }: Census): Fault | undefined {
  if (!failedIndexes) return undefined;
  const given = countIndexes(failedIndexes);
  if (given > (job.spec?.maxFailedIndexes ?? Number.POSITIVE_INFINITY)) {
    const message = 'Job has exceeded the specified maximal number of failed indexes';
    return { reason: 'MaxFailedIndexesExceeded', message };
  }
  const isOver = given > 0 && given + countIndexes(succeededIndexes) >= completionsOf(job);
  return isOver ? { reason: 'FailedIndexes', message: 'Job has failed indexes' } : undefined;
}

function policySuccess({ job, succeededIndexes }: Census): Verdict | undefined {
  if (!isIndexed(job) || succeededIndexes.length === 0) return undefined;
  const rules = job.spec?.successPolicy?.rules ?? [];
  const index = rules.findIndex((rule) => matches(rule, succeededIndexes, completionsOf(job)));
  if (index < 0) return undefined;
  return { isSuccess: true, reason: 'SuccessPolicy', message: `Matched rules at index ${index}`, isKnown: false };
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
