import { type Job, type JobCondition, type JobStatus, jobStatus } from '@kruise/api/batch/job';
import { isBeingDeleted, type NewEvent } from '@kruise/client/actions';
import { findCondition } from '@kruise/machinery/conditions';
import { findFinishedCondition } from '@kruise/machinery/jobs';
import { isSame } from '@kruise/machinery/json-value';
import { codecOf } from '@kruise/schema/codec';
import { formatTime, type Instant } from '@kruise/values/time';
import type { ActivePods } from './active-pods.ts';
import { type CountingResult, type Counts, settleCounts } from './counting.ts';
import { isSuspended } from './job-pods.ts';
import type { JobResult } from './result.ts';

/** Inputs of the status. */
export type Report = {
  readonly job: Job;
  readonly counts: Counts;
  readonly activePods: Pick<ActivePods, 'active' | 'ready' | 'terminating'>;
  readonly suspension: Suspension;
  readonly result: JobResult | undefined;
};

/** Suspension conditions, the start time of the Job, and the event if there is one. */
export type Suspension = {
  readonly conditions: readonly JobCondition[];
  readonly startTime: string | undefined;
  readonly events: readonly NewEvent[];
};

/** Reports whether two statuses are equal when stored. */
export function isSameStatus(a: JobStatus | undefined, b: JobStatus | undefined): boolean {
  return isSame(codec.stored(a ?? {}), codec.stored(b ?? {}));
}

const codec = codecOf(jobStatus);

/**
 * Derives the suspension: a resumed Job gets a new start time. A Job that finishes is neither suspended nor resumed.
 */
export function suspensionOf(job: Job, result: JobResult | undefined, now: Instant): Suspension {
  const conditions = job.status?.conditions ?? [];
  const startTime = job.status?.startTime ?? (isSuspended(job) ? undefined : formatTime(now));
  const known = findCondition(conditions, 'Suspended');
  const isKnown = known ? (known.status === 'True') === isSuspended(job) : !isSuspended(job);
  if (result || isBeingDeleted(job) || isKnown) return { conditions, startTime, events: [] };
  const [status, verb] = isSuspended(job) ? (['True', 'suspended'] as const) : (['False', 'resumed'] as const);
  const reasonSuffix = status === 'True' ? 'Suspended' : 'Resumed';
  const changed = condition({ type: 'Suspended', status, reason: `Job${reasonSuffix}`, message: `Job ${verb}` }, now);
  return {
    conditions: known ? conditions.with(conditions.indexOf(known), changed) : [...conditions, changed],
    startTime: status === 'True' ? startTime : formatTime(now),
    events: [{ about: job, type: 'Normal', reason: reasonSuffix, message: `Job ${verb}` }],
  };
}

/**
 * Returns the status before Pods lose their finalizer: it lists the uncounted Pods and the upcoming result of the Job.
 */
export function interimStatus(report: Report, now: Instant): JobStatus {
  const { result, suspension } = report;
  if (!result || result.isRecorded) return statusOf(report, suspension.conditions);
  const type = result.isSuccess ? 'SuccessCriteriaMet' : 'FailureTarget';
  return statusOf(report, [...suspension.conditions, resultCondition(type, result, now)]);
}

/** Returns the status after Pods lost their finalizer: a finished Job has no uncounted Pods. */
export function finalStatus(report: Report, { released, counts, isPartial }: CountingResult, now: Instant): JobStatus {
  const uids = new Set(released.map(({ metadata }) => metadata.uid ?? ''));
  const left = settleCounts(counts, (uid) => uids.has(uid));
  const { conditions = [], ...status } = interimStatus({ ...report, counts: left }, now);
  const { result, activePods } = report;
  const { succeeded = [], failed = [] } = left.uncountedTerminatedPods;
  const isAllDone = !isPartial && succeeded.length + failed.length === 0 && activePods.terminating === 0;
  if (!result || !isAllDone) return { ...status, conditions };
  return result.isSuccess
    ? {
        ...status,
        conditions: [...conditions, resultCondition('Complete', result, now)],
        completionTime: formatTime(now),
      }
    : { ...status, conditions: [...conditions, resultCondition('Failed', result, now)] };
}

/** Returns the events for a finished Job. */
export function eventsFor(job: Job, status: JobStatus): readonly NewEvent[] {
  const failure = findCondition(status.conditions, 'Failed');
  if (failure) {
    const { reason = '', message = '' } = failure;
    return [{ about: job, type: 'Warning', reason, message }];
  }
  if (!findFinishedCondition(status)) return [];
  const isTooMany = (status.succeeded ?? 0) > (job.spec?.completions ?? Number.POSITIVE_INFINITY);
  const excess = 'Too many succeeded pods running after completion count reached';
  return [
    ...(isTooMany ? [{ about: job, type: 'Warning', reason: 'TooManySucceededPods', message: excess } as const] : []),
    { about: job, type: 'Normal', reason: 'Completed', message: 'Job completed' },
  ];
}

function statusOf({ job, counts, activePods, suspension }: Report, conditions: readonly JobCondition[]): JobStatus {
  const { startTime } = suspension;
  const { active, ready, terminating } = activePods;
  return {
    ...job.status,
    ...(startTime === undefined ? {} : { startTime }),
    ...counts,
    conditions,
    active,
    ready,
    terminating,
  };
}

function resultCondition(type: string, { reason, message }: JobResult, now: Instant): JobCondition {
  return condition({ type, status: 'True', reason, message }, now);
}

function condition(fields: Omit<JobCondition, 'lastProbeTime' | 'lastTransitionTime'>, now: Instant): JobCondition {
  return { ...fields, lastProbeTime: formatTime(now), lastTransitionTime: formatTime(now) };
}
