/** The numbers a StatefulSet is held to (statefulset.md §2.2, §5.6, §5.8). */
import type { StatefulSet } from '@kruise/api/kruise/statefulset';
import { wholePercentValue } from '../../percent.ts';
import { replicasOf } from './ordinals.ts';

/** How many Pods may be unavailable during an update; never none, or it would never end. */
export function maxUnavailableOf(set: StatefulSet): number {
  const { maxUnavailable = 1 } = set.spec.updateStrategy?.rollingUpdate ?? {};
  return Math.max(1, wholePercentValue(maxUnavailable, replicasOf(set), Math.floor));
}

/** How many Pods may be unavailable while more are made; any number where nothing is said. */
export function scaleBudgetOf(set: StatefulSet): number {
  const { maxUnavailable } = set.spec.scaleStrategy ?? {};
  if (maxUnavailable === undefined) return Number.POSITIVE_INFINITY;
  return Math.max(1, wholePercentValue(maxUnavailable, replicasOf(set), Math.floor));
}

/** How many Pods stay at the old revision. It is a number of Pods, not one of them. */
export function partitionOf({ spec }: StatefulSet): number {
  return spec.updateStrategy?.rollingUpdate?.partition ?? 0;
}
