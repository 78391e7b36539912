/**
 * Resolved limits of a DaemonSet. Percentages refer to desiredNumberScheduled of the last status. Only maxUnavailable
 * and maxSurge refer to the nodes that currently need a Pod.
 */
import type { DaemonSet } from '@kruise/api/kruise/daemonset';
import { ParseError } from '@kruise/values/parse-error';
import { scaledValue } from '../workload/percent.ts';

const defaultBurst = 250;

/** Returns the maximum number of Pods that one reconcile creates, deletes or updates. */
export function burstOf(set: DaemonSet): number {
  return partOf(set, set.spec.burstReplicas ?? defaultBurst);
}

/** Returns the number of Pods that stay at the old revision. */
export function partitionOf(set: DaemonSet): number {
  return partOf(set, set.spec.updateStrategy?.rollingUpdate?.partition ?? 0);
}

function partOf({ status }: DaemonSet, value: number | string): number {
  try {
    return Math.max(0, scaledValue(value, status?.desiredNumberScheduled ?? 0, Math.floor));
  } catch (error) {
    if (error instanceof ParseError) return 0;
    throw error;
  }
}

/** Returns how many of the nodes without a Pod may get one, where the partition also limits Pods on new nodes. */
export function progressiveLimit(
  set: DaemonSet,
  counts: { readonly desired: number; readonly updated: number },
): number {
  const partition = partitionOf(set);
  const { type } = set.spec.updateStrategy ?? {};
  const isPartitioned = type === 'RollingUpdate' && set.spec.scaleStrategy?.partitionedScaling && partition !== 0;
  if (!isPartitioned) return Number.POSITIVE_INFINITY;
  return Math.max(0, counts.desired - counts.updated - Math.min(partition, counts.desired));
}
