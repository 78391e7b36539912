/**
 * How many Pods a CloneSet makes, removes and updates at a time: all arithmetic of scaling and updating
 * (cloneset.md §8.1), and none of it anywhere else.
 */

import type { Pod } from '@kruise/api/core/pod';
import type { CloneSet } from '@kruise/api/kruise/cloneset';
import { ParseError } from '@kruise/values/parse-error';
import { lifecycleStateOf } from '../../lifecycle/lifecycle.ts';
import { partitionReplicas, wholePercentValue } from '../../percent.ts';

export type Numbers = {
  /** Pods to make, how many of them at the old revision, and how many may be made at once. */
  readonly scaleUp: number;
  readonly scaleUpOld: number;
  readonly scaleUpLimit: number;
  /** Pods to remove, and how many of them at the old revision. */
  readonly scaleDown: number;
  readonly scaleDownOld: number;
  /** How many Pods that are ready may be deleted now. */
  readonly deleteReadyLimit: number;
  /** Pods beyond the replicas that may be there for now, and how many of them at the old revision. */
  readonly useSurge: number;
  readonly useSurgeOld: number;
  /** Pods to bring to the update revision; below zero, Pods to bring back to the current one. */
  readonly updateNumber: number;
  /** How many Pods may be unavailable for that. */
  readonly updateMaxUnavailable: number;
};

/** What is known of the Pods, and what was decided about how they are counted. */
export type Counting = {
  readonly isNew: (pod: Pod) => boolean;
  readonly isAvailable: (pod: Pod) => boolean;
  readonly isSpecifiedDelete: (pod: Pod) => boolean;
  /** Whether Pods can go back to the revision before: there is another one, and that is wanted. */
  readonly canRollBack: boolean;
  readonly excludesPreparingDelete: boolean;
  /** Whether an update does without Pods made ahead of it, as far as maxUnavailable lets it go on. */
  readonly sparesSurge?: boolean;
};

export function numbersOf({ spec }: CloneSet, pods: readonly Pod[], counting: Counting): Numbers {
  const replicas = replicasOf(spec);
  const { partition, maxSurge, maxUnavailable } = limitsOf(spec);
  const scaleMaxUnavailable = wholePercentValue(spec.scaleStrategy?.maxUnavailable ?? unlimited, replicas, Math.ceil);

  const { fresh, old } = tally(pods, counting);
  const unavailable = fresh.preparingDelete + old.preparingDelete + fresh.unavailable + old.unavailable;
  const toDelete = fresh.toDelete + old.toDelete;

  let oldDifference = old.active - partition;
  let newDifference = fresh.active - (replicas - partition);
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
          toDeleteNew: fresh.toDelete,
          forDeletionOnly: (counting.sparesSurge ?? false) && maxUnavailable > 0,
          missing: unavailable + toDelete - maxUnavailable,
        })
      : { useSurge: 0, useSurgeOld: 0 };

  const excluded = counting.excludesPreparingDelete ? 1 : 0;
  const current = pods.length - excluded * (fresh.preparingDelete + old.preparingDelete);
  const currentOld = old.total - excluded * old.preparingDelete;
  const expected = replicas + useSurge;
  const expectedOld = partition + useSurgeOld;

  const scaleUp = Math.max(expected - current, 0);
  const scaleDown = Math.max(current - toDelete - expected, 0);
  // Whichever of the two revisions is nearer to where it should be says how many move.
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

/** The replicas that are wanted. */
export function replicasOf({ replicas = 1 }: CloneSet['spec']): number {
  return replicas;
}

/** The limits of an update in Pods. */
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
  // Surplus Pods of a new revision are part of an update, which a pause stops.
  const maxSurge = rolling.paused ? 0 : wholePercentValue(rolling.maxSurge ?? 0, replicas, Math.ceil);
  // With a surge the surplus covers the gap already; rounding up would let one Pod too many go.
  const round = maxSurge > 0 ? Math.floor : Math.ceil;
  const maxUnavailable = wholePercentValue(rolling.maxUnavailable ?? defaultMaxUnavailable, replicas, round);
  return { partition: partitionOf(rolling.partition, replicas) ?? 0, maxSurge, maxUnavailable };
}

/** The Pods a partition keeps back; none known where it cannot be read. */
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

type Tally = { total: number; preparingDelete: number; active: number; toDelete: number; unavailable: number };

/** Every Pod is looked at once: thousands of them are not in the processor's caches. */
function tally(pods: readonly Pod[], counting: Counting): { readonly fresh: Tally; readonly old: Tally } {
  const none: Tally = { total: 0, preparingDelete: 0, active: 0, toDelete: 0, unavailable: 0 };
  const [fresh, old] = [{ ...none }, { ...none }];
  for (const pod of pods) {
    const group = counting.isNew(pod) ? fresh : old;
    group.total++;
    if (lifecycleStateOf(pod) === 'PreparingDelete') {
      group.preparingDelete++;
      continue;
    }
    group.active++;
    if (counting.isSpecifiedDelete(pod)) group.toDelete++;
    else if (!counting.isAvailable(pod)) group.unavailable++;
  }
  return { fresh, old };
}

/** Pods made ahead of those that are to be deleted or updated: of the two reasons the one that asks for more counts. */
function surgeOf(by: {
  readonly maxSurge: number;
  readonly oldDifference: number;
  readonly newDifference: number;
  readonly toDelete: number;
  readonly toDeleteNew: number;
  /** An update needs no Pods ahead of it. */
  readonly forDeletionOnly: boolean;
  /** Pods that would be missing if all that are to be deleted were. */
  readonly missing: number;
}) {
  const { maxSurge, oldDifference, newDifference, toDelete, toDeleteNew } = by;
  const forDeletion = Math.min(Math.max(by.missing, 0), toDelete);
  const forDeletionOld = Math.max(forDeletion - toDeleteNew, 0);

  const isUpdating = !by.forDeletionOnly && oldDifference * newDifference < 0;
  const toMove = isUpdating ? Math.min(Math.abs(oldDifference), Math.abs(newDifference)) : 0;
  // For an update, all Pods of the revision there are too many of, not only as many as the other one lacks: else the last
  // waves are smaller than they could be (cloneset.md §8.1 has the lesser of the two).
  const forUpdate = by.forDeletionOnly ? 0 : Math.max(oldDifference, newDifference);
  const forUpdateOld = newDifference > 0 ? forUpdate : 0;

  const [surge, surgeOld] = forDeletion >= toMove ? [forDeletion, forDeletionOld] : [forUpdate, forUpdateOld];
  const useSurge = Math.min(maxSurge, surge);
  return { useSurge, useSurgeOld: Math.min(useSurge, surgeOld) };
}
