/**
 * Numbers of Pods that a CloneSet creates, deletes and updates at a time. All arithmetic of scaling and updating is in
 * this file.
 */

import type { Pod } from '@kruise/api/core/pod';
import type { CloneSet } from '@kruise/api/kruise/cloneset';
import { ParseError } from '@kruise/values/parse-error';
import { lifecycleStateOf } from '../workload/lifecycle/lifecycle.ts';
import { partitionReplicas, wholePercentValue } from '../workload/percent.ts';

export type Numbers = {
  /** Pods to create, how many of them at the old revision, and how many may be created at once. */
  readonly scaleUp: number;
  readonly scaleUpOld: number;
  readonly scaleUpLimit: number;
  /** Pods to delete, and how many of them at the old revision. */
  readonly scaleDown: number;
  readonly scaleDownOld: number;
  /** Number of ready Pods that may be deleted now. */
  readonly deleteReadyLimit: number;
  /** Surge Pods allowed beyond the replicas for now, and how many of them at the old revision. */
  readonly useSurge: number;
  readonly useSurgeOld: number;
  /** Pods to update to the update revision; a negative number of Pods rolls back to the current revision. */
  readonly updateNumber: number;
  /** Number of Pods that may be unavailable during the update. */
  readonly updateMaxUnavailable: number;
};

/** Predicates on Pods, and options of how Pods are counted. */
export type Counting = {
  readonly isUpdatedPod: (pod: Pod) => boolean;
  readonly isAvailable: (pod: Pod) => boolean;
  readonly isSpecifiedDelete: (pod: Pod) => boolean;
  /**
   * Reports whether Pods can roll back to the current revision: it differs from the update revision, and the feature is
   * on.
   */
  readonly canRollBack: boolean;
  readonly excludesPreparingDelete: boolean;
  /** Reports whether an update creates no surge Pods as long as maxUnavailable allows progress. */
  readonly skipsSurge?: boolean;
};

export function numbersOf({ spec }: CloneSet, pods: readonly Pod[], counting: Counting): Numbers {
  const replicas = replicasOf(spec);
  const { partition, maxSurge, maxUnavailable } = limitsOf(spec);
  const scaleMaxUnavailable = wholePercentValue(spec.scaleStrategy?.maxUnavailable ?? unlimited, replicas, Math.ceil);

  const { updated, old } = countPods(pods, counting);
  const unavailable = updated.preparingDelete + old.preparingDelete + updated.unavailable + old.unavailable;
  const toDelete = updated.toDelete + old.toDelete;

  let oldDifference = old.active - partition;
  let newDifference = updated.active - (replicas - partition);
  if (!counting.canRollBack) {
    oldDifference = Math.max(oldDifference, 0);
    newDifference = Math.min(newDifference, 0);
  }

  const { useSurge, useSurgeOld } =
    maxSurge > 0
      ? surgeOf({
          maxSurge,
          oldDifference,
          newDifference,
          toDelete,
          toDeleteNew: updated.toDelete,
          forDeletionOnly: (counting.skipsSurge ?? false) && maxUnavailable > 0,
          missing: unavailable + toDelete - maxUnavailable,
        })
      : { useSurge: 0, useSurgeOld: 0 };

  const excluded = counting.excludesPreparingDelete ? 1 : 0;
  const current = pods.length - excluded * (updated.preparingDelete + old.preparingDelete);
  const currentOld = old.total - excluded * old.preparingDelete;
  const expected = replicas + useSurge;
  const expectedOld = partition + useSurgeOld;

  const scaleUp = Math.max(expected - current, 0);
  const scaleDown = Math.max(current - toDelete - expected, 0);
  // The revision with the smaller difference from its desired number determines how many Pods move.
  const updateNumber = Math.abs(oldDifference) <= Math.abs(newDifference) ? oldDifference : -newDifference;
  return {
    scaleUp,
    scaleUpOld: scaleUp > 0 ? Math.max(expectedOld - currentOld, 0) : 0,
    scaleUpLimit: Math.min(scaleUp, Math.max(scaleMaxUnavailable - unavailable, 0)),
    scaleDown,
    scaleDownOld: scaleDown > 0 ? Math.max(currentOld - old.toDelete - expectedOld, 0) : 0,
    deleteReadyLimit:
      toDelete > 0 || scaleDown > 0 ? Math.max(maxUnavailable + (pods.length - replicas) - unavailable, 0) : 0,
    useSurge,
    useSurgeOld,
    updateNumber: updateNumber + 0,
    updateMaxUnavailable: updateNumber === 0 ? 0 : maxUnavailable + pods.length - replicas,
  };
}

/** Returns the desired replicas. */
export function replicasOf({ replicas = 1 }: CloneSet['spec']): number {
  return replicas;
}

/** Resolves the limits of a rolling update to numbers of Pods. */
function limitsOf(spec: CloneSet['spec']) {
  const replicas = replicasOf(spec);
  const rolling = spec.updateStrategy?.rollingUpdate;
  if (!rolling) {
    return {
      partition: 0,
      maxSurge: 0,
      maxUnavailable: wholePercentValue(defaultMaxUnavailable, replicas, Math.floor),
    };
  }
  // Surge Pods at a new revision are part of an update, and a pause stops the update.
  const maxSurge = rolling.paused ? 0 : wholePercentValue(rolling.maxSurge ?? 0, replicas, Math.ceil);
  // With surge Pods the gap is covered already; rounding up would delete one Pod too many.
  const round = maxSurge > 0 ? Math.floor : Math.ceil;
  const maxUnavailable = wholePercentValue(rolling.maxUnavailable ?? defaultMaxUnavailable, replicas, round);
  return { partition: partitionOf(rolling.partition, replicas) ?? 0, maxSurge, maxUnavailable };
}

/** Returns the number of Pods that the partition keeps at the old revision; undefined for an invalid partition. */
export function partitionOf(partition: number | string | undefined, replicas: number): number | undefined {
  try {
    return partitionReplicas(partition, replicas);
  } catch (error) {
    if (error instanceof ParseError) return undefined;
    throw error;
  }
}

export const defaultMaxUnavailable = '20%';
const unlimited = 2147483647;

type PodCounts = { total: number; preparingDelete: number; active: number; toDelete: number; unavailable: number };

/** Visits every Pod once: thousands of Pods do not fit in the CPU caches. */
function countPods(pods: readonly Pod[], counting: Counting): { readonly updated: PodCounts; readonly old: PodCounts } {
  const none: PodCounts = { total: 0, preparingDelete: 0, active: 0, toDelete: 0, unavailable: 0 };
  const [updated, old] = [{ ...none }, { ...none }];
  for (const pod of pods) {
    const group = counting.isUpdatedPod(pod) ? updated : old;
    group.total++;
    if (lifecycleStateOf(pod) === 'PreparingDelete') {
      group.preparingDelete++;
      continue;
    }
    group.active++;
    if (counting.isSpecifiedDelete(pod)) group.toDelete++;
    else if (!counting.isAvailable(pod)) group.unavailable++;
  }
  return { updated, old };
}

/**
 * Returns the surge Pods for Pods that will be deleted or updated. The reason that needs more Pods determines the
 * number.
 */
function surgeOf(by: {
  readonly maxSurge: number;
  readonly oldDifference: number;
  readonly newDifference: number;
  readonly toDelete: number;
  readonly toDeleteNew: number;
  /** Set where an update needs no surge Pods. */
  readonly forDeletionOnly: boolean;
  /** Pods that would be missing if all Pods to delete were deleted. */
  readonly missing: number;
}) {
  const { maxSurge, oldDifference, newDifference, toDelete, toDeleteNew } = by;
  const forDeletion = Math.min(Math.max(by.missing, 0), toDelete);
  const forDeletionOld = Math.max(forDeletion - toDeleteNew, 0);

  const isUpdating = !by.forDeletionOnly && oldDifference * newDifference < 0;
  const toMove = isUpdating ? Math.min(Math.abs(oldDifference), Math.abs(newDifference)) : 0;
  // For an update the surge covers all excess Pods of one revision, not only as many as the other revision lacks:
  // otherwise the last waves are smaller than they could be. OpenKruise takes the minimum of the two.
  const forUpdate = by.forDeletionOnly ? 0 : Math.max(oldDifference, newDifference);
  const forUpdateOld = newDifference > 0 ? forUpdate : 0;

  const [surge, surgeOld] = forDeletion >= toMove ? [forDeletion, forDeletionOld] : [forUpdate, forUpdateOld];
  const useSurge = Math.min(maxSurge, surge);
  return { useSurge, useSurgeOld: Math.min(useSurge, surgeOld) };
}
