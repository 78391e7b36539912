import { type Cause, duplicate, invalid, required } from '@kruise/schema/field-error';
import { invalidStructure, invalidTime, invalidWithoutValue } from '../meta/go-value.ts';
import { validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { isSame } from '../meta/same.ts';
import { nonNegative } from '../meta/value.validate.ts';
import type { Job, JobStatus } from './job.ts';
import { countIndexes, findOverlap } from './job-indexes.ts';

/**
 * Validates an update of the status. Each rule applies only when its fields change: a status that already breaks the
 * rule may stay so.
 */
export function* validateJobStatusUpdate(job: Job, old: Job): Generator<Cause> {
  yield* validateKindMetaUpdate(job.metadata, old.metadata);
  const [now, was] = [factsOf(job), factsOf(old)];
  yield* validateCounts(now.status);
  yield* validateUncounted(now.status);
  yield* validateEnd(job, now, was);
  yield* validateIndexes(job, now, was);
  yield* validatePods(now, was);
  yield* validateCriteria(job, now);
  yield* validateProgress(job, now, was);
}

type Facts = {
  readonly status: JobStatus;
  readonly isComplete: boolean;
  readonly isFailed: boolean;
  readonly isFailing: boolean;
  readonly isSucceeding: boolean;
  readonly isSuspended: boolean;
  readonly isFinished: boolean;
};

function factsOf({ status = {} }: Job): Facts {
  const has = (type: string) =>
    (status.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True');
  const [isComplete, isFailed] = [has('Complete'), has('Failed')];
  return {
    status,
    isComplete,
    isFailed,
    isFailing: has('FailureTarget'),
    isSucceeding: has('SuccessCriteriaMet'),
    isSuspended: has('Suspended'),
    isFinished: isComplete || isFailed,
  };
}

function* validateCounts(status: JobStatus): Generator<Cause> {
  for (const field of ['active', 'succeeded', 'failed', 'ready', 'terminating'] as const) {
    yield* nonNegative(`status.${field}`, status[field]);
  }
}

function* validateUncounted({ uncountedTerminatedPods }: JobStatus): Generator<Cause> {
  const seen = new Set<string>();
  for (const list of ['succeeded', 'failed'] as const) {
    for (const [index, uid] of (uncountedTerminatedPods?.[list] ?? []).entries()) {
      const field = `status.uncountedTerminatedPods.${list}[${index}]`;
      if (uid === '') yield invalid(field, uid, 'must not be empty');
      else if (seen.has(uid)) yield duplicate(field, uid);
      seen.add(uid);
    }
  }
}

/** A Job ends with one terminal condition, the matching times, and no active Pods. */
function* validateEnd({ spec }: Job, now: Facts, was: Facts): Generator<Cause> {
  const differs = (...facts: readonly Exclude<keyof Facts, 'status'>[]) =>
    facts.some((fact) => now[fact] !== was[fact]);
  const changed = (...fields: readonly (keyof JobStatus)[]) =>
    fields.some((field) => !isSame(now.status[field], was.status[field]));
  const { completionTime, startTime, active = 0, uncountedTerminatedPods: uncounted } = now.status;
  const timeChanged = differs('isComplete') || changed('completionTime');

  if (differs('isComplete', 'isFailed') && now.isComplete && now.isFailed) {
    yield condition('cannot set Complete=True and Failed=true conditions');
  }
  if (differs('isComplete', 'isFailing') && now.isComplete && now.isFailing) {
    yield condition('cannot set Complete=True and FailureTarget=true conditions');
  }
  if (timeChanged && completionTime && !now.isComplete) {
    const detail = 'cannot set completionTime when there is no Complete=True condition';
    yield invalidTime('status.completionTime', completionTime, detail);
  }
  if (timeChanged && !completionTime && now.isComplete) {
    yield required('status.completionTime', 'completionTime is required for Complete jobs');
  }
  if (changed('startTime', 'completionTime') && startTime && completionTime && completionTime < startTime) {
    yield invalidTime('status.completionTime', completionTime, 'completionTime cannot be set before startTime');
  }
  if ((differs('isFailed') || changed('failedIndexes')) && now.isFailed && !now.isFailing) {
    yield condition('cannot set Failed=True condition without the FailureTarget=true condition');
  }
  if (differs('isComplete', 'isSucceeding') && now.isComplete && !now.isSucceeding) {
    yield condition('cannot set Complete=True condition without the SuccessCriteriaMet=true condition');
  }
  if ((differs('isFinished') || changed('active')) && active > 0 && now.isFinished) {
    yield invalid('status.active', active, 'active>0 is invalid for finished job');
  }
  const neverStarted = spec?.suspend === true && spec.completions === 0;
  if ((differs('isFinished') || changed('startTime')) && !neverStarted && !startTime && now.isFinished) {
    yield required('status.startTime', 'startTime is required for finished job');
  }
  const count = (uncounted?.failed ?? []).length + (uncounted?.succeeded ?? []).length;
  if ((differs('isFinished') || changed('uncountedTerminatedPods')) && now.isFinished && count > 0) {
    const detail = 'uncountedTerminatedPods needs to be empty for finished job';
    yield invalidStructure('status.uncountedTerminatedPods', 'batch.UncountedTerminatedPods', uncounted, detail);
  }
}

function condition(detail: string): Cause {
  return invalidWithoutValue('status.conditions', detail);
}

function* validateIndexes({ spec }: Job, now: Facts, was: Facts): Generator<Cause> {
  const { completedIndexes = '', failedIndexes } = now.status;
  const isCompletedNew = completedIndexes !== (was.status.completedIndexes ?? '');
  const isFailedNew = failedIndexes !== was.status.failedIndexes;
  const { completions, backoffLimitPerIndex, completionMode } = spec ?? {};
  if (isCompletedNew && completions !== undefined) {
    yield* validateIndexText(completedIndexes, completions, 'completedIndexes');
  }
  if (isFailedNew && completions !== undefined && backoffLimitPerIndex !== undefined && failedIndexes !== undefined) {
    yield* validateIndexText(failedIndexes, completions, 'failedIndexes');
  }
  if (isCompletedNew && completedIndexes !== '' && completionMode !== 'Indexed') {
    const detail = 'cannot set non-empty completedIndexes when non-indexed completion mode';
    yield invalid('status.completedIndexes', completedIndexes, detail);
  }
  if (isFailedNew && backoffLimitPerIndex === undefined && failedIndexes !== undefined) {
    const detail = 'cannot set non-null failedIndexes when backoffLimitPerIndex is null';
    yield invalid('status.failedIndexes', failedIndexes, detail);
  }
  if ((isFailedNew || isCompletedNew) && completions !== undefined && failedIndexes !== undefined) {
    const overlap = findOverlap(completedIndexes, failedIndexes, completions);
    if (overlap !== undefined) {
      const detail = `failedIndexes and completedIndexes overlap at index: ${overlap}`;
      yield invalid('status.failedIndexes', failedIndexes, detail);
    }
  }
}

function* validateIndexText(text: string, completions: number, field: string): Generator<Cause> {
  const counted = countIndexes(text, completions);
  if (typeof counted !== 'number') yield invalid(`status.${field}`, text, `error parsing ${field}: ${counted.fault}`);
}

function* validatePods(now: Facts, was: Facts): Generator<Cause> {
  const { terminating, ready, active = 0 } = now.status;
  const isFinishedNew = now.isFinished !== was.isFinished;
  if ((isFinishedNew || terminating !== was.status.terminating) && (terminating ?? 0) > 0 && now.isFinished) {
    yield invalid('status.terminating', terminating, 'terminating>0 is invalid for finished job');
  }
  const isReadyNew = ready !== was.status.ready || active !== (was.status.active ?? 0);
  if (isReadyNew && ready !== undefined && ready > active) {
    yield invalid('status.ready', ready, 'cannot set more ready pods than active');
  }
}

function* validateCriteria({ spec }: Job, { isSucceeding, isFailed, isFailing, isComplete }: Facts): Generator<Cause> {
  if (isSucceeding && isFailed) yield condition('cannot set SuccessCriteriaMet=True and Failed=true conditions');
  if (isSucceeding && isFailing)
    yield condition('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions');
  if (spec?.successPolicy && !isSucceeding && isComplete) {
    yield condition('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True');
  }
}

/** Counters and timestamps must not go back. */
function* validateProgress({ spec }: Job, now: Facts, was: Facts): Generator<Cause> {
  const terminal = [
    ['Failed', 'isFailed'],
    ['Complete', 'isComplete'],
    ['FailureTarget', 'isFailing'],
  ] as const;
  for (const [type, fact] of terminal) {
    if (was[fact] && !now[fact]) yield condition(`cannot disable the terminal ${type}=True condition`);
  }
  const { failed = 0, succeeded = 0, completionTime, startTime } = now.status;
  if (failed < (was.status.failed ?? 0)) yield invalid('status.failed', failed, 'cannot decrease the failed counter');
  // Scaling down an elastic indexed Job removes indexes that may have succeeded.
  const isElastic = spec?.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  if (!isElastic && succeeded < (was.status.succeeded ?? 0)) {
    yield invalid('status.succeeded', succeeded, 'cannot decrease the succeeded counter');
  }
  if (completionTime && was.status.completionTime && completionTime !== was.status.completionTime) {
    yield invalidTime('status.completionTime', completionTime, 'completionTime cannot be mutated');
  }
  // Later releases of Kubernetes 1.33 let a resumed Job get a new startTime. Earlier ones refuse it without reporting
  // that the Job is resumed.
  const isResumed = was.isSuspended && startTime !== undefined;
  if (was.status.startTime && startTime !== was.status.startTime && !spec?.suspend && !isResumed) {
    yield required('status.startTime', 'startTime cannot be removed for unsuspended job');
  }
  if (was.isSucceeding && !now.isSucceeding) yield condition('cannot disable the SuccessCriteriaMet=True condition');
  if (was.isComplete && !was.isSucceeding && now.isSucceeding) {
    yield condition('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions');
  }
}
