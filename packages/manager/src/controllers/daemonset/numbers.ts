/**
 * The numbers a DaemonSet is held to (daemonset.md §2.2, §5.5, §5.6). A percentage is one of the nodes that were to have
 * a Pod when the status was written last; only what may be unavailable or surge is one of those that are to have one now.
 */
import type { DaemonSet } from '@kruise/api/kruise/daemonset';
import { ParseError } from '@kruise/values/parse-error';
import { scaledValue } from '../../percent.ts';

const defaultBurst = 250;

/** How many Pods are made in a step at most, and deleted, and updated. */
export function burstOf(set: DaemonSet): number {
  return partOf(set, set.spec.burstReplicas ?? defaultBurst);
}

/** How many Pods stay at the old revision. */
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

/** How many of the nodes without a Pod may get one, where a partition holds back Pods on new nodes, too. */
export function progressiveLimit(
  set: DaemonSet,
  counts: { readonly desired: number; readonly updated: number },
): number {
  const partition = partitionOf(set);
  const { type } = set.spec.updateStrategy ?? {};
  const isHeldBack = type === 'RollingUpdate' && set.spec.scaleStrategy?.partitionedScaling && partition !== 0;
  if (!isHeldBack) return Number.POSITIVE_INFINITY;
  return Math.max(0, counts.desired - counts.updated - Math.min(partition, counts.desired));
}
