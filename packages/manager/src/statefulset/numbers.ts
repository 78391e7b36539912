/** Resolved limits of a StatefulSet. */
import type { StatefulSet } from '@kruise/api/kruise/statefulset';
import { wholePercentValue } from '../workload/percent.ts';
import { replicasOf } from './ordinals.ts';

/** Returns maxUnavailable of an update in Pods; at least 1, otherwise the update would never finish. */
export function maxUnavailableOf(set: StatefulSet): number {
  const { maxUnavailable = 1 } = set.spec.updateStrategy?.rollingUpdate ?? {};
  return Math.max(1, wholePercentValue(maxUnavailable, replicasOf(set), Math.floor));
}

/** Returns maxUnavailable while scaling out, in Pods; unlimited where unset. */
export function scaleBudgetOf(set: StatefulSet): number {
  const { maxUnavailable } = set.spec.scaleStrategy ?? {};
  if (maxUnavailable === undefined) return Number.POSITIVE_INFINITY;
  return Math.max(1, wholePercentValue(maxUnavailable, replicasOf(set), Math.floor));
}

/** Returns the number of Pods that stay at the old revision. The partition is a number of Pods, not an ordinal. */
export function partitionOf({ spec }: StatefulSet): number {
  return spec.updateStrategy?.rollingUpdate?.partition ?? 0;
}
