/** What a CloneSet reports of itself (cloneset.md §10). */
import type { CloneSet, CloneSetCondition, CloneSetStatus } from '@kruise/api/kruise/cloneset';
import { findCondition, withoutCondition } from '@kruise/machinery/conditions';
import { formatLabelSelector } from '@kruise/machinery/label-selector';
import { formatTime, type Instant, parseTime } from '@kruise/values/time';
import { isRunningAndReady } from '../../pod-availability.ts';
import { partitionOf, replicasOf } from './numbers.ts';
import { nameOf, type Situation } from './situation.ts';

/** The figures of the Pods as they were found, before anything is done about them. */
export function statusOf(situation: Situation, collisionCount: number): CloneSetStatus {
  const { cloneSet, pods, current, update } = situation;
  const { spec, metadata, status } = cloneSet;
  const { all, updated } = tally(situation);
  const replicas = replicasOf(spec);
  const rolling = spec.updateStrategy?.rollingUpdate;
  const partition = rolling ? partitionOf(rolling.partition, replicas) : 0;
  // A revision is the current one when every Pod that should be there is at it, ready or not.
  const isEverywhere = updated.pods === pods.length && updated.pods === replicas;
  const { conditions } = status ?? {};
  return {
    ...present('observedGeneration', metadata.generation ?? 0),
    replicas: pods.length,
    readyReplicas: all.ready,
    availableReplicas: all.available,
    updatedReplicas: updated.pods,
    updatedReadyReplicas: updated.ready,
    ...present('updatedAvailableReplicas', updated.available),
    ...present('expectedUpdatedReplicas', partition === undefined ? 0 : replicas - partition),
    updateRevision: nameOf(update),
    currentRevision: isEverywhere ? nameOf(update) : nameOf(current),
    collisionCount,
    ...(conditions ? { conditions } : {}),
    labelSelector: formatLabelSelector(spec.selector),
  };
}

/** A figure that is left out where it is zero. */
function present<K extends string>(name: K, figure: number): { readonly [name in K]?: number } {
  return figure === 0 ? {} : ({ [name]: figure } as { readonly [name in K]?: number });
}

type Tally = { pods: number; ready: number; available: number };

/** Every Pod is looked at once: thousands of them are not in the processor's caches. */
function tally({ pods, isUpdated, isAvailable }: Situation): { readonly all: Tally; readonly updated: Tally } {
  const all: Tally = { pods: 0, ready: 0, available: 0 };
  const updated: Tally = { pods: 0, ready: 0, available: 0 };
  for (const pod of pods) {
    const isReady = isRunningAndReady(pod);
    const isOfUse = isReady && isAvailable(pod);
    for (const group of isUpdated(pod) ? [all, updated] : [all]) {
      group.pods++;
      if (isReady) group.ready++;
      if (isOfUse) group.available++;
    }
  }
  return { all, updated };
}

/** A condition `Progressing`, and when it may have to be judged anew. */
type Progress = { readonly status: CloneSetStatus; readonly requeueAfterSeconds?: number };

/** A deadline that nobody lives to see means that there is none. */
const never = 2147483647;

/** The status with condition `Progressing`, or without it where no deadline is asked for. */
export function withProgress({ spec }: CloneSet, status: CloneSetStatus, now: Instant): Progress {
  const deadline = spec.progressDeadlineSeconds;
  if (deadline === undefined || deadline === never) {
    const conditions = withoutCondition(status.conditions, 'Progressing');
    return { status: conditions === (status.conditions ?? conditions) ? status : { ...status, conditions } };
  }
  const previous = findCondition(status.conditions, 'Progressing');
  const elapsedOf = ({ lastUpdateTime }: CloneSetCondition) => (lastUpdateTime ? now - parseTime(lastUpdateTime) : 0);
  // Only who was on the way can be late: the clock of an update starts with it, not with the last one's end.
  const isLate =
    previous?.reason === 'ProgressDeadlineExceeded' ||
    (previous?.reason === 'CloneSetUpdated' && elapsedOf(previous) > deadline * 1000);
  const claim = progressOf(spec, status, isLate);
  const reported = withCondition(status, { type: 'Progressing', ...claim }, now);
  if (claim.reason !== 'CloneSetUpdated') return { status: reported };
  const begun = findCondition(reported.conditions, 'Progressing');
  const leftSeconds = Math.ceil(deadline - (begun ? elapsedOf(begun) : 0) / 1000);
  // Times have whole seconds, so a second later is surely past the deadline.
  return leftSeconds < 1 ? { status: reported } : { status: reported, requeueAfterSeconds: leftSeconds + 1 };
}

type Claim = Pick<CloneSetCondition, 'status'> & { readonly reason: string; readonly message: string };

function progressOf(spec: CloneSet['spec'], status: CloneSetStatus, isLate: boolean): Claim {
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
  if (isLate) {
    const message = `CloneSet revision ${updateRevision} has timed out progressing`;
    return { status: 'False', reason: 'ProgressDeadlineExceeded', message };
  }
  return { status: 'True', reason: 'CloneSetUpdated', message: 'CloneSet is progressing' };
}

/** The status with a condition. One that says the same already is left as it is, times and message included. */
export function withCondition(
  status: CloneSetStatus,
  condition: Omit<CloneSetCondition, 'lastUpdateTime' | 'lastTransitionTime'>,
  now: Instant,
): CloneSetStatus {
  const previous = findCondition(status.conditions, condition.type);
  if (previous?.status === condition.status && (previous.reason ?? '') === (condition.reason ?? '')) return status;
  const time = formatTime(now);
  const kept = previous?.status === condition.status ? previous.lastTransitionTime : undefined;
  // Only progress is timed.
  const timed = condition.type === 'Progressing' ? { lastUpdateTime: time } : {};
  const made = { ...condition, ...timed, lastTransitionTime: kept ?? time };
  const conditions = [...(status.conditions ?? []).filter(({ type }) => type !== condition.type), made];
  return { ...status, conditions };
}
