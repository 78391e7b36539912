/** CloneSet status. */
import type { CloneSet, CloneSetCondition, CloneSetStatus } from '@kruise/api/kruise/cloneset';
import { findCondition, withoutCondition } from '@kruise/machinery/conditions';
import { nameOfRevision } from '@kruise/machinery/controller-revision';
import { formatLabelSelector } from '@kruise/machinery/label-selector';
import { formatTime, type Instant, parseTime } from '@kruise/values/time';
import { isRunningAndReady } from '../workload/pod-availability.ts';
import { presentCount } from '../workload/present-count.ts';
import { partitionOf, replicasOf } from './numbers.ts';
import type { State } from './state.ts';

/** Counts the Pods as observed, before the actions of this reconcile. */
export function statusOf(state: State, collisionCount: number): CloneSetStatus {
  const { cloneSet, pods, current, update } = state;
  const { spec, metadata, status } = cloneSet;
  const { all, updated } = countPods(state);
  const replicas = replicasOf(spec);
  const rolling = spec.updateStrategy?.rollingUpdate;
  const partition = rolling ? partitionOf(rolling.partition, replicas) : 0;
  // A revision becomes the current revision when all desired Pods are at this revision, ready or not.
  const isEverywhere = updated.pods === pods.length && updated.pods === replicas;
  const { conditions } = status ?? {};
  return {
    ...presentCount('observedGeneration', metadata.generation ?? 0),
    replicas: pods.length,
    readyReplicas: all.ready,
    availableReplicas: all.available,
    updatedReplicas: updated.pods,
    updatedReadyReplicas: updated.ready,
    ...presentCount('updatedAvailableReplicas', updated.available),
    ...presentCount('expectedUpdatedReplicas', partition === undefined ? 0 : replicas - partition),
    updateRevision: nameOfRevision(update),
    currentRevision: isEverywhere ? nameOfRevision(update) : nameOfRevision(current),
    collisionCount,
    ...(conditions ? { conditions } : {}),
    labelSelector: formatLabelSelector(spec.selector),
  };
}

type PodCounts = { pods: number; ready: number; available: number };

/** Visits every Pod once: thousands of Pods do not fit in the CPU caches. */
function countPods({ pods, isUpdated, isAvailable }: State): { readonly all: PodCounts; readonly updated: PodCounts } {
  const all: PodCounts = { pods: 0, ready: 0, available: 0 };
  const updated: PodCounts = { pods: 0, ready: 0, available: 0 };
  for (const pod of pods) {
    const isReady = isRunningAndReady(pod);
    const isAvailablePod = isReady && isAvailable(pod);
    for (const group of isUpdated(pod) ? [all, updated] : [all]) {
      group.pods++;
      if (isReady) group.ready++;
      if (isAvailablePod) group.available++;
    }
  }
  return { all, updated };
}

/** Status with the condition `Progressing`, and the time until the condition must be evaluated again. */
type Progress = { readonly status: CloneSetStatus; readonly requeueAfterSeconds?: number };

/** Deadline value that means "no deadline". */
const noDeadline = 2147483647;

/** Returns the status with condition `Progressing`, or without the condition where the spec has no deadline. */
export function withProgress({ spec }: CloneSet, status: CloneSetStatus, now: Instant): Progress {
  const deadline = spec.progressDeadlineSeconds;
  if (deadline === undefined || deadline === noDeadline) {
    const conditions = withoutCondition(status.conditions, 'Progressing');
    return { status: conditions === (status.conditions ?? conditions) ? status : { ...status, conditions } };
  }
  const previous = findCondition(status.conditions, 'Progressing');
  const elapsedMsOf = ({ lastUpdateTime }: CloneSetCondition) => (lastUpdateTime ? now - parseTime(lastUpdateTime) : 0);
  // Only a rollout in progress can exceed its deadline: the clock starts with the update, not with the end of the last
  // update.
  const isDeadlineExceeded =
    previous?.reason === 'ProgressDeadlineExceeded' ||
    (previous?.reason === 'CloneSetUpdated' && elapsedMsOf(previous) > deadline * 1000);
  const progress = progressOf(spec, status, isDeadlineExceeded);
  const reported = withCondition(status, { type: 'Progressing', ...progress }, now);
  if (progress.reason !== 'CloneSetUpdated') return { status: reported };
  const progressCondition = findCondition(reported.conditions, 'Progressing');
  const leftSeconds = Math.ceil(deadline - (progressCondition ? elapsedMsOf(progressCondition) : 0) / 1000);
  // Timestamps have whole seconds, so one more second is surely past the deadline.
  return leftSeconds < 1 ? { status: reported } : { status: reported, requeueAfterSeconds: leftSeconds + 1 };
}

type ProgressState = Pick<CloneSetCondition, 'status'> & { readonly reason: string; readonly message: string };

function progressOf(spec: CloneSet['spec'], status: CloneSetStatus, isDeadlineExceeded: boolean): ProgressState {
  const replicas = replicasOf(spec);
  const { updatedAvailableReplicas = 0, expectedUpdatedReplicas = 0, currentRevision, updateRevision = '' } = status;
  const counts = [status.replicas, status.updatedReplicas, updatedAvailableReplicas];
  if (currentRevision === updateRevision && counts.every((each) => each === replicas)) {
    return { status: 'True', reason: 'CloneSetAvailable', message: 'CloneSet is available' };
  }
  if (spec.updateStrategy?.rollingUpdate?.paused) {
    return { status: 'True', reason: 'CloneSetPaused', message: 'CloneSet is paused' };
  }
  if (expectedUpdatedReplicas < replicas && expectedUpdatedReplicas <= updatedAvailableReplicas) {
    const message = 'CloneSet has been paused due to partition ready';
    return { status: 'True', reason: 'ProgressPartitionAvailable', message };
  }
  if (isDeadlineExceeded) {
    const message = `CloneSet revision ${updateRevision} has timed out progressing`;
    return { status: 'False', reason: 'ProgressDeadlineExceeded', message };
  }
  return { status: 'True', reason: 'CloneSetUpdated', message: 'CloneSet is progressing' };
}

/**
 * Returns the status with a condition. An existing condition with the same status and reason is not changed, including
 * its times and message.
 */
export function withCondition(
  status: CloneSetStatus,
  condition: Omit<CloneSetCondition, 'lastUpdateTime' | 'lastTransitionTime'>,
  now: Instant,
): CloneSetStatus {
  const previous = findCondition(status.conditions, condition.type);
  if (previous?.status === condition.status && (previous.reason ?? '') === (condition.reason ?? '')) return status;
  const time = formatTime(now);
  const kept = previous?.status === condition.status ? previous.lastTransitionTime : undefined;
  // Only `Progressing` has an update time.
  const timed = condition.type === 'Progressing' ? { lastUpdateTime: time } : {};
  const made = { ...condition, ...timed, lastTransitionTime: kept ?? time };
  const conditions = [...(status.conditions ?? []).filter(({ type }) => type !== condition.type), made];
  return { ...status, conditions };
}
