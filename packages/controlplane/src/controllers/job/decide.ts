/**
 * Job reconciler: runs Pods until enough of them succeeded or too many failed. Each reconcile derives the state,
 * determines whether the Job is finished and, if not, adjusts the number of active Pods. A Job finishes in two steps:
 * first it gets a SuccessCriteriaMet or FailureTarget condition and its Pods are deleted; when all Pods are terminated
 * and counted, it gets the Complete or Failed condition.
 */
import type { Job, JobStatus } from '@kruise/api/batch/job';
import type { Pod } from '@kruise/api/core/pod';
import { hasFinalizer, isBeingDeleted, type PatchAction, record, type UpdateAction } from '@kruise/client/actions';
import { claimActions } from '@kruise/client/adoption';
import type { Decision } from '@kruise/client/controller';
import type { Outcome } from '@kruise/client/execute';
import { type Claims, claimsOf } from '@kruise/machinery/claims';
import { endOfJob } from '@kruise/machinery/jobs';
import { selectorOf } from '@kruise/machinery/label-selector';
import type { Instant } from '@kruise/values/time';
import { type Census, takeCensus } from './census.ts';
import { isManagedElsewhere, release, trackingFinalizer } from './job-pods.ts';
import { announcement, conclusion, isSameStatus, newsOf, type Report, suspensionOf } from './status.ts';
import { settled, takeTally } from './tally.ts';
import { completionOf, secondsUntilDeadline, type Verdict, verdictOf } from './verdict.ts';
import { adjusted, ended, unchanged, type Workforce } from './workforce.ts';

export type Observed = {
  readonly job: Job;
  /** Pods of the Job, and orphans. */
  readonly pods: readonly Pod[];
};

export function decide({ job, pods }: Observed, now: Instant): Decision<JobStatus | undefined> {
  if (endOfJob(job.status) || isManagedElsewhere(job)) return { actions: [] };
  const selector = selectorOf(job.spec?.selector);
  const claims = claimsOf(job, pods, ({ metadata }) => selector.matches(metadata.labels));
  const census = takeCensus(job, withTracking(claims));

  const sentence = verdictOf(census, now);
  const workforce = workforceFor(census, sentence, now);
  const verdict = sentence ?? completionOf(census, workforce.active);
  const tally = takeTally(census, verdict, workforce.dismissed);
  const suspension = suspensionOf(job, verdict, now);

  const report: Report = { job, counts: tally.counts, workforce, suspension, verdict };
  const last = conclusion(report, tally, now);
  const isNew = verdict !== undefined && !verdict.isKnown;
  const isListed = isSameStatus({ ...job.status, ...tally.counts }, { uncountedTerminatedPods: {}, ...job.status });
  const isToBeAnnounced = isNew || (tally.released.length > 0 && !isListed);
  return {
    actions: [
      ...claimActionsOf(job, claims),
      ...suspension.news.map(record),
      // No Pod may be active when the Job gets its Failed condition.
      ...(sentence ? workforce.actions : []),
      ...(isToBeAnnounced ? [writeStatus(job, announcement(report, now))] : []),
      ...tally.released.map(release),
      // Finished Pods are counted even if no more Pods can be created.
      ...(sentence ? [] : workforce.actions),
    ],
    status: (outcome) => (outcome.failures.length === 0 ? last : halfWay(report, census, outcome, now)),
    events: newsOf(job, last),
    ...requeue(job, verdict, workforce, now),
    // The remaining work is requeued immediately, behind other keys.
    ...(tally.isPartial || workforce.isPartial ? { minIntervalMs: 0 } : {}),
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
function claimActionsOf(job: Job, claims: Claims<Pod>): readonly PatchAction[] {
  const released = new Set<unknown>(claims.released);
  return claimActions(job, claims).map((action) => {
    const finalizers = finalizersOf(action.object, released.has(action.object) ? [] : [trackingFinalizer]);
    // Adoption and release are merge patches of metadata.
    const { metadata } = action.patch as { readonly metadata: object };
    return { ...action, patch: { metadata: { ...metadata, finalizers } } };
  });
}

function finalizersOf({ metadata }: Pick<Pod, 'metadata'>, own: readonly string[]): readonly string[] {
  return [...(metadata.finalizers ?? []).filter((each) => each !== trackingFinalizer), ...own];
}

function workforceFor(census: Census, sentence: Verdict | undefined, now: Instant): Workforce {
  if (sentence) return ended(census);
  return isBeingDeleted(census.job) ? unchanged(census) : adjusted(census, now);
}

function writeStatus(job: Job, status: JobStatus): UpdateAction {
  const object: Job = { ...job, status };
  return { type: 'update', object, subresource: 'status' };
}

/** Returns the status after a failed action: Pod numbers are unchanged, and Pods without the finalizer are counted. */
function halfWay(report: Report, census: Census, { written }: Outcome, now: Instant): JobStatus {
  const isReleased = (uid: string) => {
    const pod = written.get(uid);
    return pod !== undefined && !hasFinalizer(pod, trackingFinalizer);
  };
  return announcement({ ...report, counts: settled(report.counts, isReleased), workforce: unchanged(census) }, now);
}

function requeue(job: Job, verdict: Verdict | undefined, { waitMs }: Workforce, now: Instant) {
  const deadline = verdict ? undefined : secondsUntilDeadline(job, now);
  const times = [...(waitMs === undefined ? [] : [waitMs / 1000]), ...(deadline === undefined ? [] : [deadline])];
  return times.length === 0 ? {} : { requeueAfterSeconds: Math.max(0, Math.min(...times)) };
}
