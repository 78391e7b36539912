/**
 * Seats in the groups of a WorkloadSpread, as webhooks give and take them (workloadspread.md §8.2). They are kept by
 * version in the status, between what the controller has counted last and what it will count next.
 */
import type { WorkloadSpread, WorkloadSpreadSubsetStatus } from '@kruise/api/kruise/workloadspread';
import { isConditionFalse } from '@kruise/machinery/conditions';
import { intValue, isPercentage, scaleUp } from '@kruise/values/int-or-string';
import { ParseError } from '@kruise/values/parse-error';
import { formatTime, type Instant } from '@kruise/values/time';
import type { Entry } from '../webhooks/ledger.ts';

/** Says that a group is held to have room on its nodes. */
export const schedulable = 'Schedulable';

/** As many Pods as there are. */
export const unlimited = -1;

/** Where a Pod goes. */
export type Seat = {
  readonly subset: string;
  /** What the Pod is known by until it has a name; empty if it has one, or nothing is kept of it. */
  readonly uid: string;
};

/** A Pod that asks for a seat, or leaves its own. */
export type Guest = { readonly version: string; readonly name?: string };

type Subset = WorkloadSpreadSubsetStatus;

/** Whether anybody has counted the Pods of a version. */
export function isCounted({ status }: WorkloadSpread, version: string): boolean {
  return (status?.versionedSubsetStatuses?.[version] ?? []).length > 0;
}

/** Whether it depends on the size of the workload how many seats there are. */
export function hasPercentages({ spec }: WorkloadSpread): boolean {
  return spec.subsets.some(({ maxReplicas }) => maxReplicas !== undefined && isPercentage(maxReplicas));
}

/** Gives a Pod a seat in the first group that has one; none where all are taken. `uid` is for a Pod without a name. */
export function takeSeat(
  spread: WorkloadSpread,
  guest: Guest,
  { replicas, uid, now }: { readonly replicas: number; readonly uid: string; readonly now: Instant },
): Entry<WorkloadSpread, Seat | undefined> {
  const counted = spread.status?.versionedSubsetStatuses?.[guest.version] ?? [];
  const subsets = counted.length > 0 ? counted : emptySubsets(spread, replicas);
  const own = guest.name && subsets.find((subset) => isRecorded(subset, guest.name!));
  if (own) return { result: { subset: own.name, uid: '' } };
  const chosen = subsets.find(
    (subset) => !isConditionFalse(subset.conditions, schedulable) && subset.missingReplicas !== 0,
  );
  // What is full here may have room by now: a Pod that is sent nowhere stays so.
  if (!chosen) return { result: undefined, isDoubtful: true };
  const { name, missingReplicas } = chosen;
  if (missingReplicas === unlimited) return { result: { subset: name, uid: '' } };
  const id = guest.name || uid;
  const taken = {
    ...chosen,
    missingReplicas: missingReplicas - 1,
    creatingPods: { ...chosen.creatingPods, [id]: formatTime(now) },
  };
  return {
    result: { subset: name, uid: guest.name ? '' : uid },
    object: withSubsets(spread, guest.version, replaced(subsets, taken)),
  };
}

/**
 * Gives back the seat of a Pod that is deleted. One that nobody has seen yet is not awaited any more, or its seat would
 * stay empty until its time is over. Where nobody has counted yet, it will not be counted.
 */
export function leaveSeat(
  spread: WorkloadSpread,
  { version, name = '' }: Guest,
  { subset, uid, now }: Seat & { readonly now: Instant },
): Entry<WorkloadSpread, void> {
  const subsets = spread.status?.versionedSubsetStatuses?.[version] ?? [];
  const own = subsets.find((each) => each.name === subset);
  if (!own || own.missingReplicas === unlimited || Object.hasOwn(own.deletingPods ?? {}, name)) {
    return { result: undefined };
  }
  const { [uid || name]: _, ...creatingPods } = own.creatingPods ?? {};
  const left = {
    ...own,
    missingReplicas: own.missingReplicas + 1,
    ...(own.creatingPods ? { creatingPods } : {}),
    deletingPods: { ...own.deletingPods, [name]: formatTime(now) },
  };
  return { result: undefined, object: withSubsets(spread, version, replaced(subsets, left)) };
}

/** The group of a Pod of a StatefulSet: those with the lowest ordinals fill the first, whoever is there. */
export function subsetOfOrdinal({ spec, status }: WorkloadSpread, podName: string): string | undefined {
  const ordinal = Number(/-(\d+)$/.exec(podName)?.[1] ?? -1);
  let threshold = 0;
  for (const { name, maxReplicas } of spec.subsets) {
    const known = status?.subsetStatuses?.find((each) => each.name === name);
    if (isConditionFalse(known?.conditions, schedulable)) continue;
    threshold += maxReplicas === undefined ? Number.POSITIVE_INFINITY : intValue(maxReplicas);
    if (ordinal < threshold) return name;
  }
  return undefined;
}

function emptySubsets({ spec }: WorkloadSpread, replicas: number): readonly Subset[] {
  return spec.subsets.map(({ name, maxReplicas }) => {
    const seats = seatsOf(maxReplicas, replicas);
    return { name, replicas: 0, missingReplicas: seats === Number.POSITIVE_INFINITY ? unlimited : seats };
  });
}

/** How many Pods a group takes; none where it cannot be told: a text that is no percentage, say. */
export function seatsOf(maxReplicas: number | string | undefined, replicas: number): number {
  if (maxReplicas === undefined) return Number.POSITIVE_INFINITY;
  try {
    return scaleUp(maxReplicas, replicas);
  } catch (error) {
    if (error instanceof ParseError) return 0;
    throw error;
  }
}

function isRecorded({ creatingPods = {}, deletingPods = {} }: Subset, podName: string): boolean {
  return Object.hasOwn(creatingPods, podName) || Object.hasOwn(deletingPods, podName);
}

function replaced(subsets: readonly Subset[], subset: Subset): readonly Subset[] {
  return subsets.map((each) => (each.name === subset.name ? subset : each));
}

/** The WorkloadSpread with other counts of one version. */
export function withSubsets(spread: WorkloadSpread, version: string, subsets: readonly Subset[]): WorkloadSpread {
  const { status = {} } = spread;
  const versionedSubsetStatuses = { ...status.versionedSubsetStatuses, [version]: subsets };
  return { ...spread, status: { ...status, versionedSubsetStatuses } };
}
