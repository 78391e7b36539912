/** Assessment of subsets: which subsets are unschedulable, and which Pods are reserved. */
import type { Pod } from '@kruise/api/core/pod';
import type { UnitedDeploymentScheduleStrategy } from '@kruise/api/kruise/uniteddeployment';
import { reservedPodLabel } from '@kruise/api/kruise/well-known';
import { type Action, isBeingDeleted, patch } from '@kruise/client/actions';
import { findCondition } from '@kruise/machinery/conditions';
import { isPodActive, readySince } from '@kruise/machinery/pods';
import { type Instant, parseTime } from '@kruise/values/time';
import type { Occupancy } from './allocate.ts';
import { isReserving, pendingTimeoutMs, unschedulableDurationMs } from './strategy.ts';
import { type ExistingSubset, revisionOf } from './subsets.ts';

type Condition = { readonly status: string; readonly lastTransitionTime?: string | null };

/** Schedulable condition of a subset. */
export type Schedulable = { readonly status: 'True' | 'False'; readonly reason: string; readonly message: string };

export type Assessment = Occupancy & {
  /** Pods at an old revision that have exceeded the update timeout. */
  readonly overduePods: number;
  /**
   * Conditions to set one after the other: a subset that recovers may become unschedulable at once, with a new
   * transition time.
   */
  readonly schedulable: readonly Schedulable[];
  /** Actions that set reservation labels on Pods. */
  readonly actions: readonly Action[];
  /** Requeue delays in seconds. */
  readonly seconds: readonly number[];
};

export type AssessmentContext = {
  readonly strategy: UnitedDeploymentScheduleStrategy | undefined;
  /** Schedulable condition of the subset in the last status. */
  readonly reported: Condition | undefined;
  /** Update revision of the Pods. */
  readonly revision: string;
  /** Time when the last template update started or finished. */
  readonly updatedAt: Instant;
  readonly now: Instant;
};

/** Returns the assessment of a subset that needs no check. */
export function unassessed({ replicas, readyReplicas }: ExistingSubset): Assessment {
  const known = { isUnschedulable: false, wasUnschedulable: false, reservedPods: 0, missingPods: 0, overduePods: 0 };
  return { replicas, readyReplicas, ...known, schedulable: [], actions: [], seconds: [] };
}

export function assess(subset: ExistingSubset, context: AssessmentContext): Assessment {
  return isReserving(context.strategy) ? assessReserving(subset, context) : assessPending(subset, context);
}

/**
 * Assesses a subset without reservation: it counts as unschedulable for a fixed time after a Pod was pending for too
 * long.
 */
function assessPending(subset: ExistingSubset, { strategy, reported, now }: AssessmentContext): Assessment {
  const seconds: number[] = [];
  let isUnschedulable = false;
  const schedulable: Schedulable[] = [];
  if (reported?.status === 'False') {
    const remainingMs = timeOf(reported) + unschedulableDurationMs(strategy) - now;
    isUnschedulable = remainingMs > 0;
    if (isUnschedulable) seconds.push(remainingMs / 1000);
    else {
      const after = (unschedulableDurationMs(strategy) / 1000).toFixed(6);
      const message = `unschedulable subset recovered after ${after} seconds`;
      schedulable.push({ status: 'True', reason: 'recover', message });
    }
  }
  if (subset.readyReplicas < subset.statusReplicas) {
    const waits = subset.pods
      .map((pod) => pendingTimeLeftMs(pod, pendingTimeoutMs(strategy), now))
      .filter((ms) => ms !== undefined);
    seconds.push(...earliestDelay(waits));
    if (waits.some((ms) => ms <= 0)) {
      isUnschedulable = true;
      schedulable.push({ status: 'False', reason: 'reschedule', message: 'timeout pending pods found' });
      seconds.push(unschedulableDurationMs(strategy) / 1000);
    }
  }
  return { ...unassessed(subset), isUnschedulable, schedulable, seconds };
}

/**
 * Returns the milliseconds until an unschedulable Pod exceeds its timeout; 0 or less if it has. Undefined for other
 * Pods.
 */
function pendingTimeLeftMs(pod: Pod, patience: number, now: Instant): number | undefined {
  const { spec, status, metadata } = pod;
  if (isBeingDeleted(pod) || status?.phase !== 'Pending' || spec?.nodeName) return undefined;
  const scheduled = findCondition(status.conditions, 'PodScheduled');
  if (scheduled?.status !== 'False' || scheduled.reason !== 'Unschedulable') return undefined;
  return parseTime(metadata.creationTimestamp ?? '') + patience - now;
}

const waits: Schedulable = { status: 'False', reason: 'reschedule', message: 'reserved pods found' };
const noReservedPods: Schedulable = { status: 'True', reason: 'reschedule', message: 'no reserved pods' };

/**
 * Assesses a subset with reservation. Pods that exceed the timeout stay, and are labelled as reserved until they are
 * proven. A subset that was unschedulable does not recover just because its Pods are being recreated, or do not exist
 * yet. OpenKruise treats such a subset as recovered and scales it out.
 */
function assessReserving(subset: ExistingSubset, context: AssessmentContext): Assessment {
  const wasUnschedulable = context.reported?.status === 'False';
  const podAssessments = subset.pods.map((pod) => ({ pod, ...assessPod(pod, wasUnschedulable, context) }));
  const reservedPods = podAssessments.filter(({ isReserved }) => isReserved).length;
  const activePods = subset.pods.filter(isPodActive).length;
  const missingPods = wasUnschedulable ? Math.max(0, subset.replicas - activePods) : 0;
  const isUnschedulable = reservedPods + missingPods > 0;
  return {
    ...unassessed(subset),
    isUnschedulable,
    wasUnschedulable,
    reservedPods,
    missingPods,
    overduePods: podAssessments.filter(({ isOverdue }) => isOverdue).length,
    schedulable: [isUnschedulable ? waits : noReservedPods],
    actions: podAssessments.flatMap(({ pod, isReserved }) => mark(pod, isReserved)),
    seconds: earliestDelay(podAssessments.map(({ waitMs = 0 }) => waitMs)),
  };
}

/** Returns the earliest positive delay in seconds; empty where there is none. */
function earliestDelay(waitsMs: readonly number[]): readonly number[] {
  const next = waitsMs.reduce((earliest, ms) => (ms > 0 && ms < earliest ? ms : earliest), Number.POSITIVE_INFINITY);
  return next === Number.POSITIVE_INFINITY ? [] : [next / 1000];
}

type PodAssessment = {
  readonly isReserved: boolean;
  readonly isOverdue?: boolean;
  /** Delay until the assessment may change. */
  readonly waitMs?: number | undefined;
};

function assessPod(pod: Pod, isSubsetUnschedulable: boolean, context: AssessmentContext): PodAssessment {
  const { strategy, revision, updatedAt, now } = context;
  const marked = pod.metadata.labels?.[reservedPodLabel];
  const probation = unschedulableDurationMs(strategy);
  // A new Pod in an unschedulable subset is reserved until it is proven to be schedulable.
  if (marked === undefined && isSubsetUnschedulable) return { isReserved: true, waitMs: probation };
  const isUpdated = revisionOf(pod) === revision;
  if (marked === 'true') {
    const since = pod.status?.phase === 'Running' && isUpdated ? readySince(pod) : undefined;
    const waitMs = since === undefined ? probation : since + probation - now;
    return since !== undefined && waitMs <= 0 ? { isReserved: false } : { isReserved: true, waitMs };
  }
  if (isUpdated) return waiting(pendingTimeLeftMs(pod, pendingTimeoutMs(strategy), now), probation);
  if (isBeingDeleted(pod)) return { isReserved: false };
  const podAssessment = waiting(updatedAt + pendingTimeoutMs(strategy) - now, probation);
  return { ...podAssessment, isOverdue: podAssessment.isReserved };
}

function waiting(remainingMs: number | undefined, probation: number): PodAssessment {
  return remainingMs !== undefined && remainingMs <= 0
    ? { isReserved: true, waitMs: probation }
    : { isReserved: false, waitMs: remainingMs };
}

/** Labels every Pod as reserved or not, so that autoscalers can exclude reserved Pods. */
function mark(pod: Pod, isReserved: boolean): readonly Action[] {
  const value = String(isReserved);
  if (pod.metadata.labels?.[reservedPodLabel] === value) return [];
  return [patch(pod, { metadata: { labels: { [reservedPodLabel]: value } } })];
}

function timeOf({ lastTransitionTime }: Condition): Instant {
  return lastTransitionTime ? parseTime(lastTransitionTime) : 0;
}
