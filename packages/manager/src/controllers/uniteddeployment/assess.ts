/** Which domains have no room for Pods, and which Pods wait for it (uniteddeployment.md §9.4, §9.5). */
import type { Pod } from '@kruise/api/core/pod';
import type { UnitedDeploymentScheduleStrategy } from '@kruise/api/kruise/uniteddeployment';
import { reservedPodLabel } from '@kruise/api/kruise/well-known';
import { type Action, isBeingDeleted, patch } from '@kruise/client/actions';
import { findCondition } from '@kruise/machinery/conditions';
import { isPodActive, readySince } from '@kruise/machinery/pods';
import { type Instant, parseTime } from '@kruise/values/time';
import type { Occupancy } from './allocate.ts';
import { isReserving, patienceMs, probationMs } from './strategy.ts';
import { type ExistingSubset, revisionOf } from './subsets.ts';

type Condition = { readonly status: string; readonly lastTransitionTime?: string | null };

/** Whether Pods of a domain find nodes, as it is to be told. */
export type Schedulable = { readonly status: 'True' | 'False'; readonly reason: string; readonly message: string };

export type Assessment = Occupancy & {
  /** Pods of an old revision that have taken too long to be updated. */
  readonly overduePods: number;
  /** What is to be told, one after the other: what holds again may cease to at once, and is told from then on. */
  readonly schedulable: readonly Schedulable[];
  /** Marks on Pods. */
  readonly actions: readonly Action[];
  /** When to look again though nothing happens. */
  readonly seconds: readonly number[];
};

export type Circumstances = {
  readonly strategy: UnitedDeploymentScheduleStrategy | undefined;
  /** What was told last of whether Pods of the domain find nodes. */
  readonly told: Condition | undefined;
  /** The revision Pods are to be at. */
  readonly revision: string;
  /** When the last update of the template began, or was over. */
  readonly updatedAt: Instant;
  readonly now: Instant;
};

/** A domain about which nothing has to be found out. */
export function unassessed({ replicas, readyReplicas }: ExistingSubset): Assessment {
  const known = { isUnschedulable: false, wasUnschedulable: false, reservedPods: 0, missingPods: 0, overduePods: 0 };
  return { replicas, readyReplicas, ...known, schedulable: [], actions: [], seconds: [] };
}

export function assess(subset: ExistingSubset, circumstances: Circumstances): Assessment {
  return isReserving(circumstances.strategy)
    ? assessReserving(subset, circumstances)
    : assessPending(subset, circumstances);
}

/** A domain counts as full from when a Pod has waited too long until some time has gone by. */
function assessPending(subset: ExistingSubset, { strategy, told, now }: Circumstances): Assessment {
  const seconds: number[] = [];
  let isUnschedulable = false;
  const schedulable: Schedulable[] = [];
  if (told?.status === 'False') {
    const remainingMs = timeOf(told) + probationMs(strategy) - now;
    isUnschedulable = remainingMs > 0;
    if (isUnschedulable) seconds.push(remainingMs / 1000);
    else {
      const after = (probationMs(strategy) / 1000).toFixed(6);
      const message = `unschedulable subset recovered after ${after} seconds`;
      schedulable.push({ status: 'True', reason: 'recover', message });
    }
  }
  if (subset.readyReplicas < subset.statusReplicas) {
    const waits = subset.pods
      .map((pod) => patienceLeft(pod, patienceMs(strategy), now))
      .filter((ms) => ms !== undefined);
    seconds.push(...soonestOf(waits));
    if (waits.some((ms) => ms <= 0)) {
      isUnschedulable = true;
      schedulable.push({ status: 'False', reason: 'reschedule', message: 'timeout pending pods found' });
      seconds.push(probationMs(strategy) / 1000);
    }
  }
  return { ...unassessed(subset), isUnschedulable, schedulable, seconds };
}

/**
 * In how many milliseconds a Pod that finds no node will have waited too long; not more than none if it has. Undefined of
 * other Pods.
 */
function patienceLeft(pod: Pod, patience: number, now: Instant): number | undefined {
  const { spec, status, metadata } = pod;
  if (isBeingDeleted(pod) || status?.phase !== 'Pending' || spec?.nodeName) return undefined;
  const scheduled = findCondition(status.conditions, 'PodScheduled');
  if (scheduled?.status !== 'False' || scheduled.reason !== 'Unschedulable') return undefined;
  return parseTime(metadata.creationTimestamp ?? '') + patience - now;
}

const waits: Schedulable = { status: 'False', reason: 'reschedule', message: 'reserved pods found' };
const waitsNoMore: Schedulable = { status: 'True', reason: 'reschedule', message: 'no reserved pods' };

/**
 * Pods that have waited too long wait on, marked as such until they have proved themselves. A domain that was full has no
 * room just because its Pods are being replaced, or not made yet. (The reference takes it for that, and scales it out.)
 */
function assessReserving(subset: ExistingSubset, circumstances: Circumstances): Assessment {
  const wasUnschedulable = circumstances.told?.status === 'False';
  const looks = subset.pods.map((pod) => ({ pod, ...judge(pod, wasUnschedulable, circumstances) }));
  const reservedPods = looks.filter(({ isReserved }) => isReserved).length;
  const activePods = subset.pods.filter(isPodActive).length;
  const missingPods = wasUnschedulable ? Math.max(0, subset.replicas - activePods) : 0;
  const isUnschedulable = reservedPods + missingPods > 0;
  return {
    ...unassessed(subset),
    isUnschedulable,
    wasUnschedulable,
    reservedPods,
    missingPods,
    overduePods: looks.filter(({ isOverdue }) => isOverdue).length,
    schedulable: [isUnschedulable ? waits : waitsNoMore],
    actions: looks.flatMap(({ pod, isReserved }) => mark(pod, isReserved)),
    seconds: soonestOf(looks.map(({ waitMs = 0 }) => waitMs)),
  };
}

/** The next of many moments that are yet to come, in seconds; none where there is none. */
function soonestOf(waitsMs: readonly number[]): readonly number[] {
  const next = waitsMs.reduce((soonest, ms) => (ms > 0 && ms < soonest ? ms : soonest), Number.POSITIVE_INFINITY);
  return next === Number.POSITIVE_INFINITY ? [] : [next / 1000];
}

type Judgement = {
  readonly isReserved: boolean;
  readonly isOverdue?: boolean;
  /** When the judgement may be another. */
  readonly waitMs?: number | undefined;
};

function judge(pod: Pod, isInFullDomain: boolean, circumstances: Circumstances): Judgement {
  const { strategy, revision, updatedAt, now } = circumstances;
  const marked = pod.metadata.labels?.[reservedPodLabel];
  const probation = probationMs(strategy);
  // What is new in a domain that was full has yet to show that it finds a node.
  if (marked === undefined && isInFullDomain) return { isReserved: true, waitMs: probation };
  const isUpdated = revisionOf(pod) === revision;
  if (marked === 'true') {
    const since = pod.status?.phase === 'Running' && isUpdated ? readySince(pod) : undefined;
    const waitMs = since === undefined ? probation : since + probation - now;
    return since !== undefined && waitMs <= 0 ? { isReserved: false } : { isReserved: true, waitMs };
  }
  if (isUpdated) return waiting(patienceLeft(pod, patienceMs(strategy), now), probation);
  if (isBeingDeleted(pod)) return { isReserved: false };
  const judgement = waiting(updatedAt + patienceMs(strategy) - now, probation);
  return { ...judgement, isOverdue: judgement.isReserved };
}

function waiting(remainingMs: number | undefined, probation: number): Judgement {
  return remainingMs !== undefined && remainingMs <= 0
    ? { isReserved: true, waitMs: probation }
    : { isReserved: false, waitMs: remainingMs };
}

/** Every Pod says whether it waits, so that autoscalers can leave out those that do. */
function mark(pod: Pod, isReserved: boolean): readonly Action[] {
  const value = String(isReserved);
  if (pod.metadata.labels?.[reservedPodLabel] === value) return [];
  return [patch(pod, { metadata: { labels: { [reservedPodLabel]: value } } })];
}

function timeOf({ lastTransitionTime }: Condition): Instant {
  return lastTransitionTime ? parseTime(lastTransitionTime) : 0;
}
