/** BroadcastJob reconciler: runs a Pod to completion on every eligible node. */
import type { Pod } from '@kruise/api/core/pod';
import type { BroadcastJob, BroadcastJobStatus } from '@kruise/api/kruise/broadcastjob';
import {
  type Action,
  announced,
  isBeingDeleted,
  type NewEvent,
  type RemoveAction,
  record,
  remove,
} from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import type { Outcome } from '@kruise/client/execute';
import { createPod } from '@kruise/controlplane/controllers/pod-control';
import { targetNodeOf } from '@kruise/machinery/daemon-pods';
import { endOfJob } from '@kruise/machinery/jobs';
import { formatTime, type Instant, parseTime } from '@kruise/values/time';
import { scaledValue } from '../../percent.ts';
import type { ManagerSettings } from '../../settings.ts';
import { type Census, type Observed, takeCensus } from './census.ts';
import { podFor } from './pods.ts';

type Settings = Pick<ManagerSettings, 'broadcastJobsUseScheduler'>;
type Decided = Decision<BroadcastJobStatus>;

export function decide(observed: Observed, settings: Settings, now: Instant): Decided {
  const { job } = observed;
  if (!isForEver(job) && endOfJob(job.status)) return afterwards(job, now);
  const census = takeCensus(observed);
  const status = figuresOf(job, census, now);
  const doubles = census.doubles.map((pod) => record(double(job, pod)));
  // A job without end may have failed all the same, and then does nothing more.
  if (status.phase === 'failed') return { actions: doubles, status };
  if (job.spec.paused) return { actions: doubles, status: { ...status, phase: 'paused' } };

  const resumed = status.phase === 'paused' ? [record(tell(job, 'Normal', 'Continue', 'continue to process job'))] : [];
  const news = [...doubles, ...resumed];
  const isFaulty = census.failed.length > 0;
  if (isFaulty && job.spec.failurePolicy?.type === 'Pause') {
    const paused = record(tell(job, 'Warning', 'Paused', 'job is paused, due to failed pod'));
    return { actions: [...news, paused], status: { ...status, phase: 'paused' } };
  }
  const situation: Situation = { job, census, status: { ...status, phase: 'running' }, news, now };
  const untilDeadlineMs = msUntilDeadline(job, status, now);
  if (isFaulty && job.spec.failurePolicy?.type === 'FailFast') return fail(situation, failedPod);
  if (untilDeadlineMs <= 0) return fail(situation, deadlineExceeded(job));
  const step = goOn(situation, settings);
  return untilDeadlineMs === Number.POSITIVE_INFINITY ? step : { ...step, requeueAfterSeconds: untilDeadlineMs / 1000 };
}

type Situation = {
  readonly job: BroadcastJob;
  readonly census: Census;
  readonly status: BroadcastJobStatus;
  readonly news: readonly Action[];
  readonly now: Instant;
};

/** Reports whether a job never completes and runs on new nodes as they join. */
function isForEver({ spec }: BroadcastJob): boolean {
  return spec.completionPolicy?.type === 'Never';
}

function afterwards(job: BroadcastJob, now: Instant): Decided {
  const { ttlSecondsAfterFinished: ttlSeconds } = job.spec.completionPolicy ?? {};
  const { completionTime } = job.status ?? {};
  if (ttlSeconds == null || completionTime == null) return { actions: [] };
  const leftMs = parseTime(completionTime) + ttlSeconds * 1000 - now;
  if (leftMs > 0) return { actions: [], requeueAfterSeconds: leftMs / 1000 };
  return { actions: isBeingDeleted(job) ? [] : [remove(job)] };
}

function figuresOf({ status }: BroadcastJob, census: Census, now: Instant): BroadcastJobStatus {
  const { conditions, startTime, completionTime, phase } = status ?? {};
  return {
    ...(conditions ? { conditions } : {}),
    startTime: startTime ?? formatTime(now),
    ...(completionTime == null ? {} : { completionTime }),
    active: census.active.length,
    succeeded: census.succeeded.length,
    failed: census.failed.length,
    desired: census.desired,
    phase: phase || 'running',
  };
}

function msUntilDeadline({ spec }: BroadcastJob, { startTime }: BroadcastJobStatus, now: Instant): number {
  const { type, activeDeadlineSeconds } = spec.completionPolicy ?? {};
  if (type === 'Never' || activeDeadlineSeconds == null || startTime == null) return Number.POSITIVE_INFINITY;
  return parseTime(startTime) + Number(activeDeadlineSeconds) * 1000 - now;
}

type Failure = { readonly reason: string; readonly message: string };

const failedPod: Failure = {
  reason: 'failed pod is found',
  message: 'failure policy is FailurePolicyTypeFailFast and failed pod is found',
};

function deadlineExceeded({ metadata: { namespace, name } }: BroadcastJob): Failure {
  return { reason: 'DeadlineExceeded', message: `Job ${namespace}/${name} was active longer than specified deadline` };
}

/** Deletes the active Pods. The job fails when the deletions are accepted. */
function fail({ job, census, status, news, now }: Situation, { reason, message }: Failure): Decided {
  const stopped = census.active.length;
  const ended = { ...status, active: 0, failed: status.failed + stopped };
  const told = (figures: BroadcastJobStatus) => tell(job, 'Warning', reason, `${message}: ${countsOf(figures)}`);
  return {
    // The event is recorded when the failed Pod is found, and again with the final counts.
    actions: [...news, ...(reason === failedPod.reason ? [record(told(status))] : []), ...stop(job, census.active)],
    status: ({ failures }) => (failures.length > 0 ? status : over(ended, 'Failed', message, now)),
    events: [told(ended)],
  };
}

function goOn({ job, census, status, news, now }: Situation, settings: Settings): Decided {
  const stops = stop(job, census.misplaced);
  if (census.isDone && !isForEver(job)) {
    const { namespace, name } = job.metadata;
    const message = `Job ${namespace}/${name} is completed, ${countsOf(status)}`;
    return {
      actions: [...news, ...stops],
      status: ({ failures }) =>
        failures.length > 0 ? status : over(status, 'Complete', `Job completed, ${countsOf(status)}`, now),
      events: [tell(job, 'Normal', 'JobComplete', message)],
    };
  }
  const starts = isBeingDeleted(job) ? [] : start(job, census, settings);
  const stoppedActive = census.misplaced.filter((pod) => census.active.includes(pod)).length;
  return {
    actions: [...news, ...stops, ...starts],
    status: (outcome) => ({ ...status, active: status.active + madeIn(outcome) - stoppedActive }),
  };
}

/** Creates Pods on as many nodes as the parallelism allows. */
function start(job: BroadcastJob, census: Census, settings: Settings): readonly Action[] {
  const { active, bare, desired } = census;
  if (bare.length === 0) return [];
  const limit = scaledValue(job.spec.parallelism ?? unlimited, desired, Math.ceil);
  if (active.length > limit) {
    const message = 'Number of active pods exceed parallelism limit';
    return [record(tell(job, 'Warning', 'TooManyActivePods', message))];
  }
  const usesScheduler = settings.broadcastJobsUseScheduler;
  return bare
    .slice(0, limit - active.length)
    .map((nodeName) => createPod(job, podFor(job, nodeName, { usesScheduler })));
}

const unlimited = 2147483647;

function stop(job: BroadcastJob, pods: readonly Pod[]): readonly RemoveAction[] {
  const done = { reason: 'SuccessfulDelete', message: 'Delete pod: {name}' };
  return pods.map((pod) => announced(remove(pod), { about: job, done }));
}

function madeIn({ written }: Outcome): number {
  return [...written.values()].filter(({ kind }) => kind === 'Pod').length;
}

function over(
  status: BroadcastJobStatus,
  type: 'Complete' | 'Failed',
  message: string,
  now: Instant,
): BroadcastJobStatus {
  const time = formatTime(now);
  const end = { type, status: 'True', lastProbeTime: time, lastTransitionTime: time, reason: type, message } as const;
  return {
    ...status,
    conditions: [...(status.conditions ?? []), end],
    completionTime: time,
    phase: type === 'Failed' ? 'failed' : 'completed',
  };
}

function countsOf({ succeeded, failed }: BroadcastJobStatus): string {
  return `${succeeded} pods succeeded, ${failed} pods failed`;
}

function double(job: BroadcastJob, pod: Pod): NewEvent {
  const message = `Duplicated pod ${pod.metadata.name} found on same node ${targetNodeOf(pod) ?? ''}`;
  return tell(job, 'Warning', 'DuplicatePodCreatedOnSameNode', message);
}

function tell(about: BroadcastJob, type: NewEvent['type'], reason: string, message: string): NewEvent {
  return { about, type, reason, message };
}
