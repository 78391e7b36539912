/** BroadcastJob reconciler: runs a Pod to completion on every eligible node. */
import type { Pod } from '@kruise/api/core/pod';
import type { BroadcastJob, BroadcastJobStatus } from '@kruise/api/kruise/broadcastjob';
import {
  type Action,
  isBeingDeleted,
  type NewEvent,
  parallel,
  record,
  remove,
  type Step,
  withOutcomeEvents,
} from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import type { Outcome } from '@kruise/client/execute';
import { targetNodeOf } from '@kruise/machinery/daemon-pods';
import { findFinishedCondition } from '@kruise/machinery/jobs';
import { formatTime, type Instant, parseTime } from '@kruise/values/time';
import { earliestRequeue } from '@kruise/workload-kit/earliest-requeue';
import { createPod } from '@kruise/workload-kit/pod-control';
import type { ManagerSettings } from '../configuration/settings.ts';
import { scaledValue } from '../workload/percent.ts';
import { podFor } from './pods.ts';
import { deriveState, type Observed, type State } from './state.ts';

type Settings = Pick<ManagerSettings, 'broadcastJobsUseScheduler'>;
type Decided = Decision<BroadcastJobStatus>;

export function decide(observed: Observed, settings: Settings, now: Instant): Decided {
  const { job } = observed;
  if (!neverCompletes(job) && findFinishedCondition(job.status)) return cleanUpFinished(job, now);
  const state = deriveState(observed);
  const status = countStatus(job, state, now);
  const duplicateEvents = state.duplicates.map((pod) => record(duplicateEvent(job, pod)));
  // A job without end may have failed all the same, and then does nothing more.
  if (status.phase === 'failed') return { actions: duplicateEvents, status };
  if (job.spec.paused) return { actions: duplicateEvents, status: { ...status, phase: 'paused' } };

  const resumed =
    status.phase === 'paused' ? [record(newEvent(job, 'Normal', 'Continue', 'continue to process job'))] : [];
  const pendingEvents = [...duplicateEvents, ...resumed];
  const isFaulty = state.failed.length > 0;
  if (isFaulty && job.spec.failurePolicy?.type === 'Pause') {
    const paused = record(newEvent(job, 'Warning', 'Paused', 'job is paused, due to failed pod'));
    return { actions: [...pendingEvents, paused], status: { ...status, phase: 'paused' } };
  }
  const running: RunningState = { ...state, job, status: { ...status, phase: 'running' }, pendingEvents, now };
  const untilDeadlineMs = msUntilDeadline(job, status, now);
  if (isFaulty && job.spec.failurePolicy?.type === 'FailFast') return failJob(running, failedPod);
  if (untilDeadlineMs <= 0) return failJob(running, deadlineExceeded(job));
  const step = continueJob(running, settings);
  return {
    ...step,
    ...earliestRequeue(untilDeadlineMs === Number.POSITIVE_INFINITY ? undefined : untilDeadlineMs / 1000),
  };
}

/** State of a job that is neither finished nor paused. */
type RunningState = State & {
  readonly job: BroadcastJob;
  readonly status: BroadcastJobStatus;
  readonly pendingEvents: readonly Action[];
  readonly now: Instant;
};

/** Reports whether a job never completes and runs on new nodes as they join. */
function neverCompletes({ spec }: BroadcastJob): boolean {
  return spec.completionPolicy?.type === 'Never';
}

function cleanUpFinished(job: BroadcastJob, now: Instant): Decided {
  const { ttlSecondsAfterFinished: ttlSeconds } = job.spec.completionPolicy ?? {};
  const { completionTime } = job.status ?? {};
  if (ttlSeconds == null || completionTime == null) return { actions: [] };
  const leftMs = parseTime(completionTime) + ttlSeconds * 1000 - now;
  if (leftMs > 0) return { actions: [], requeueAfterSeconds: leftMs / 1000 };
  return { actions: isBeingDeleted(job) ? [] : [remove(job)] };
}

function countStatus({ status }: BroadcastJob, state: State, now: Instant): BroadcastJobStatus {
  const { conditions, startTime, completionTime, phase } = status ?? {};
  return {
    ...(conditions ? { conditions } : {}),
    startTime: startTime ?? formatTime(now),
    ...(completionTime == null ? {} : { completionTime }),
    active: state.active.length,
    succeeded: state.succeeded.length,
    failed: state.failed.length,
    desired: state.desired,
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
function failJob({ job, active, status, pendingEvents, now }: RunningState, { reason, message }: Failure): Decided {
  const stopped = active.length;
  const ended = { ...status, active: 0, failed: status.failed + stopped };
  const failureEvent = (figures: BroadcastJobStatus) =>
    newEvent(job, 'Warning', reason, `${message}: ${countsOf(figures)}`);
  return {
    // The event is recorded when the failed Pod is found, and again with the final counts.
    actions: [
      ...pendingEvents,
      ...(reason === failedPod.reason ? [record(failureEvent(status))] : []),
      ...deletePods(job, active),
    ],
    status: ({ failures }) => (failures.length > 0 ? status : finishedStatus(ended, 'Failed', message, now)),
    events: [failureEvent(ended)],
  };
}

function continueJob(state: RunningState, settings: Settings): Decided {
  const { job, status, pendingEvents, now } = state;
  const deletions = deletePods(job, state.misplaced);
  if (state.isDone && !neverCompletes(job)) {
    const { namespace, name } = job.metadata;
    const message = `Job ${namespace}/${name} is completed, ${countsOf(status)}`;
    return {
      actions: [...pendingEvents, ...deletions],
      status: ({ failures }) =>
        failures.length > 0 ? status : finishedStatus(status, 'Complete', `Job completed, ${countsOf(status)}`, now),
      events: [newEvent(job, 'Normal', 'JobComplete', message)],
    };
  }
  const creations = isBeingDeleted(job) ? [] : createPods(job, state, settings);
  const stoppedActive = state.misplaced.filter((pod) => state.active.includes(pod)).length;
  return {
    actions: [...pendingEvents, ...deletions, ...creations],
    status: (outcome) => ({ ...status, active: status.active + countCreated(outcome) - stoppedActive }),
  };
}

/** Creates Pods on as many nodes as the parallelism allows. */
function createPods(job: BroadcastJob, state: State, settings: Settings): readonly Step[] {
  const { active, nodesWithoutPod, desired } = state;
  if (nodesWithoutPod.length === 0) return [];
  const limit = scaledValue(job.spec.parallelism ?? unlimited, desired, Math.ceil);
  if (active.length > limit) {
    const message = 'Number of active pods exceed parallelism limit';
    return [record(newEvent(job, 'Warning', 'TooManyActivePods', message))];
  }
  const usesScheduler = settings.broadcastJobsUseScheduler;
  const nodes = nodesWithoutPod.slice(0, limit - active.length);
  return parallel(nodes.map((nodeName) => createPod(job, podFor(job, nodeName, { usesScheduler }))));
}

const unlimited = 2147483647;

function deletePods(job: BroadcastJob, pods: readonly Pod[]): readonly Step[] {
  const done = { reason: 'SuccessfulDelete', message: 'Delete pod: {name}' };
  return parallel(pods.map((pod) => withOutcomeEvents(remove(pod), { about: job, done })));
}

function countCreated({ written }: Outcome): number {
  return [...written.values()].filter(({ kind }) => kind === 'Pod').length;
}

function finishedStatus(
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

function duplicateEvent(job: BroadcastJob, pod: Pod): NewEvent {
  const message = `Duplicated pod ${pod.metadata.name} found on same node ${targetNodeOf(pod) ?? ''}`;
  return newEvent(job, 'Warning', 'DuplicatePodCreatedOnSameNode', message);
}

function newEvent(about: BroadcastJob, type: NewEvent['type'], reason: string, message: string): NewEvent {
  return { about, type, reason, message };
}
