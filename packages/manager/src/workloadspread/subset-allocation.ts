/**
 * Places in the subsets of a WorkloadSpread, as webhooks allocate and release them. The status keeps them by version,
 * between two counts of the controller.
 */
import type { WorkloadSpread, WorkloadSpreadSubsetStatus } from '@kruise/api/kruise/workloadspread';
import { isConditionFalse } from '@kruise/machinery/conditions';
import { intValue, isPercentage, scaleUp } from '@kruise/values/int-or-string';
import { ParseError } from '@kruise/values/parse-error';
import { formatTime, type Instant } from '@kruise/values/time';
import type { StatusUpdate } from '../webhooks/status-updater.ts';

/** Condition of a subset whose nodes are taken to have capacity. */
export const schedulable = 'Schedulable';

/** Number of missing replicas of a subset without a limit. */
export const unlimited = -1;

/** The subset for a Pod. */
export type SubsetAssignment = {
  readonly subset: string;
  /** The generated id of the Pod until it has a name; empty if it has one, or if it is not recorded. */
  readonly uid: string;
};

/** A Pod that requests or releases a place. */
export type PodIdentity = { readonly version: string; readonly name?: string };

type Subset = WorkloadSpreadSubsetStatus;

/** Reports whether the controller has counted the Pods of a version. */
export function isCounted({ status }: WorkloadSpread, version: string): boolean {
  return (status?.versionedSubsetStatuses?.[version] ?? []).length > 0;
}

/** Reports whether the limits depend on the size of the workload. */
export function hasPercentages({ spec }: WorkloadSpread): boolean {
  return spec.subsets.some(({ maxReplicas }) => maxReplicas !== undefined && isPercentage(maxReplicas));
}

/**
 * Allocates a place in the first subset with a free one; none if all subsets are full. `uid` identifies a Pod without a
 * name.
 */
export function allocateSubset(
  spread: WorkloadSpread,
  identity: PodIdentity,
  { replicas, uid, now }: { readonly replicas: number; readonly uid: string; readonly now: Instant },
): StatusUpdate<WorkloadSpread, SubsetAssignment | undefined> {
  const counted = spread.status?.versionedSubsetStatuses?.[identity.version] ?? [];
  const subsets = counted.length > 0 ? counted : emptySubsets(spread, replicas);
  const own = identity.name && subsets.find((subset) => isRecorded(subset, identity.name!));
  if (own) return { result: { subset: own.name, uid: '' } };
  const chosen = subsets.find(
    (subset) => !isConditionFalse(subset.conditions, schedulable) && subset.missingReplicas !== 0,
  );
  // The subsets may have free places by now, and an unassigned Pod stays unassigned, so the result needs a live read.
  if (!chosen) return { result: undefined, needsLiveRead: true };
  const { name, missingReplicas } = chosen;
  if (missingReplicas === unlimited) return { result: { subset: name, uid: '' } };
  const id = identity.name || uid;
  const taken = {
    ...chosen,
    missingReplicas: missingReplicas - 1,
    creatingPods: { ...chosen.creatingPods, [id]: formatTime(now) },
  };
  return {
    result: { subset: name, uid: identity.name ? '' : uid },
    object: withSubsets(spread, identity.version, replaced(subsets, taken)),
  };
}

/**
 * Releases the place of a deleted Pod. The creation record of a Pod that the controller has not observed is removed,
 * otherwise its place would stay taken until the record expires. If the version has not been counted yet, the Pod will
 * not be counted either.
 */
export function releaseSubset(
  spread: WorkloadSpread,
  { version, name = '' }: PodIdentity,
  { subset, uid, now }: SubsetAssignment & { readonly now: Instant },
): StatusUpdate<WorkloadSpread, void> {
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

/**
 * Returns the subset of a Pod of a StatefulSet: Pods with the lowest ordinals fill the first subset, whichever Pods
 * exist.
 */
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
    const capacity = subsetCapacity(maxReplicas, replicas);
    return { name, replicas: 0, missingReplicas: capacity === Number.POSITIVE_INFINITY ? unlimited : capacity };
  });
}

/**
 * Returns the number of Pods that a subset takes; none for an invalid limit, such as a text that is not a percentage.
 */
export function subsetCapacity(maxReplicas: number | string | undefined, replicas: number): number {
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

/** Returns the WorkloadSpread with other counts of one version. */
export function withSubsets(spread: WorkloadSpread, version: string, subsets: readonly Subset[]): WorkloadSpread {
  const { status = {} } = spread;
  const versionedSubsetStatuses = { ...status.versionedSubsetStatuses, [version]: subsets };
  return { ...spread, status: { ...status, versionedSubsetStatuses } };
}
