/**
 * Job reconciler: runs Pods until enough of them succeeded or too many failed. Each reconcile derives the state,
 * determines whether the Job is finished and, if not, adjusts the number of active Pods. A Job finishes in two steps:
 * first it gets a SuccessCriteriaMet or FailureTarget condition and its Pods are deleted; when all Pods are terminated
 * and counted, it gets the Complete or Failed condition.
 */
import type { Job, JobStatus } from '@kruise/api/batch/job';
import type { Pod } from '@kruise/api/core/pod';
import {
  hasFinalizer,
  isBeingDeleted,
  parallel,
  parallelByKind,
  record,
  type Step,
  type UpdateAction,
} from '@kruise/client/actions';
import { claimPatches } from '@kruise/client/adoption';
import type { Decision } from '@kruise/client/controller';
import type { Outcome } from '@kruise/client/execute';
import { type Claims, claimsOf } from '@kruise/machinery/claims';
import { findFinishedCondition } from '@kruise/machinery/jobs';
import { selectorOf } from '@kruise/machinery/label-selector';
import type { Instant } from '@kruise/values/time';
import { type ActivePods, adjustPods, deleteAll, keepAll } from './active-pods.ts';
import { countFinishedPods, settleCounts } from './counting.ts';
import { isExternallyManaged, release, trackingFinalizer } from './job-pods.ts';
import { completionOf, findResult, type JobResult, secondsUntilDeadline } from './result.ts';
import { deriveState, type State } from './state.ts';
import { eventsFor, finalStatus, interimStatus, isSameStatus, type Report, suspensionOf } from './status.ts';

export type Observed = {
  readonly job: Job;
  /** Pods of the Job, and orphans. */
  readonly pods: readonly Pod[];
};

export function decide({ job, pods }: Observed, now: Instant): Decision<JobStatus | undefined> {
  if (findFinishedCondition(job.status) || isExternallyManaged(job)) return { actions: [] };
  const selector = selectorOf(job.spec?.selector);
  const claims = claimsOf(job, pods, ({ metadata }) => selector.matches(metadata.labels));
  const state = deriveState(job, withTracking(claims));

  const earlyResult = findResult(state, now);
  const activePods = adjustActivePods(state, earlyResult, now);
  const result = earlyResult ?? completionOf(state, activePods.active);
  const counting = countFinishedPods(state, result, activePods.dismissed);
  const suspension = suspensionOf(job, result, now);

  const report: Report = { job, counts: counting.counts, activePods, suspension, result };
  const last = finalStatus(report, counting, now);
  const isNew = result !== undefined && !result.isRecorded;
  const isListed = isSameStatus({ ...job.status, ...counting.counts }, { uncountedTerminatedPods: {}, ...job.status });
  const needsInterimStatus = isNew || (counting.released.length > 0 && !isListed);
  return {
    actions: [
      ...claimActionsOf(job, claims),
      ...suspension.events.map(record),
      // No Pod may be active when the Job gets its Failed condition.
      ...(earlyResult ? activePods.actions : []),
      ...(needsInterimStatus ? [writeStatus(job, interimStatus(report, now))] : []),
      ...parallel(counting.released.map(release)),
      // Finished Pods are counted even if no more Pods can be created.
      ...(earlyResult ? [] : activePods.actions),
    ],
    status: (outcome) => (outcome.failures.length === 0 ? last : partialStatus(report, state, outcome, now)),
    events: eventsFor(job, last),
    ...requeue(job, result, activePods, now),
    // The remaining work is requeued immediately, behind other keys.
    ...(counting.isPartial || activePods.isPartial ? { minIntervalMs: 0 } : {}),
  };
}

/** Returns the Pods of a Job, adopted ones with the tracking finalizer that adoption adds. */
function withTracking({ claimed, adopted }: Claims<Pod>): readonly Pod[] {
  if (adopted.length === 0) return claimed;
  const isAdopted = new Set(adopted);
  return claimed.map((pod) => {
    if (!isAdopted.has(pod)) return pod;
    return { ...pod, metadata: { ...pod.metadata, finalizers: finalizersOf(pod, [trackingFinalizer]) } };
  });
}

/** Adds the tracking finalizer to adopted Pods and removes it from released ones. */
function claimActionsOf(job: Job, claims: Claims<Pod>): readonly Step[] {
  const released = new Set<unknown>(claims.released);
  const patches = claimPatches(job, claims).map((action) => {
    const finalizers = finalizersOf(action.object, released.has(action.object) ? [] : [trackingFinalizer]);
    // Adoption and release are merge patches of metadata.
    const { metadata } = action.patch as { readonly metadata: object };
    return { ...action, patch: { metadata: { ...metadata, finalizers } } };
  });
  return parallelByKind(patches);
}

function finalizersOf({ metadata }: Pick<Pod, 'metadata'>, own: readonly string[]): readonly string[] {
  return [...(metadata.finalizers ?? []).filter((each) => each !== trackingFinalizer), ...own];
}

function adjustActivePods(state: State, earlyResult: JobResult | undefined, now: Instant): ActivePods {
  if (earlyResult) return deleteAll(state);
  return isBeingDeleted(state.job) ? keepAll(state) : adjustPods(state, now);
}

function writeStatus(job: Job, status: JobStatus): UpdateAction {
  const object: Job = { ...job, status };
  return { type: 'update', object, subresource: 'status' };
}

/** Returns the status after a failed action: Pod numbers are unchanged, and Pods without the finalizer are counted. */
function partialStatus(report: Report, state: State, { written }: Outcome, now: Instant): JobStatus {
  const isReleased = (uid: string) => {
    const pod = written.get(uid);
    return pod !== undefined && !hasFinalizer(pod, trackingFinalizer);
  };
  return interimStatus({ ...report, counts: settleCounts(report.counts, isReleased), activePods: keepAll(state) }, now);
}

function requeue(job: Job, result: JobResult | undefined, { waitMs }: ActivePods, now: Instant) {
  const deadline = result ? undefined : secondsUntilDeadline(job, now);
  const times = [...(waitMs === undefined ? [] : [waitMs / 1000]), ...(deadline === undefined ? [] : [deadline])];
  return times.length === 0 ? {} : { requeueAfterSeconds: Math.max(0, Math.min(...times)) };
}
