/**
 * What the controller has counted is a little old: a Pod may have ended since, and whoever makes another in its place is
 * often faster than the controller. So a group that is said to be full is looked at again before it is believed.
 */
import { type Pod, pod } from '@kruise/api/core/pod';
import type { WorkloadSpread, WorkloadSpreadSubsetStatus } from '@kruise/api/kruise/workloadspread';
import { isPodActive } from '@kruise/machinery/pods';
import { placementOf } from '../../../workloadspread/placement.ts';
import { seatsOf, withSubsets } from '../../../workloadspread/seats.ts';
import { tallySubset } from '../../../workloadspread/subset-status.ts';
import { versionOf } from '../../../workloadspread/versions.ts';
import type { WebhookContext } from '../../context.ts';

/** Whether a group is said to be full, and Pods have been seen since that may say otherwise. */
export function isToBeRecounted(
  { metadata, status }: WorkloadSpread,
  version: string,
  context: WebhookContext,
): boolean {
  const subsets = status?.versionedSubsetStatuses?.[version] ?? [];
  // What was counted by Pods that are not in sight here yet is better than what is.
  const hasSeen = () => context.caches.informer(pod).hasReached(metadata.resourceVersion ?? '');
  return subsets.some(isFull) && hasSeen();
}

/** The WorkloadSpread with as many seats as are left by the Pods in sight. */
export function recounted(
  spread: WorkloadSpread,
  version: string,
  replicas: number,
  { caches, now }: WebhookContext,
): WorkloadSpread {
  const subsets = spread.status?.versionedSubsetStatuses?.[version] ?? [];
  const { name: spreadName = '', namespace = '' } = spread.metadata;
  const recount = (old: WorkloadSpreadSubsetStatus): WorkloadSpreadSubsetStatus => {
    const subset = spread.spec.subsets.find(({ name }) => name === old.name);
    if (!isFull(old) || !subset) return old;
    const pods = caches.of(pod).byIndex(activeIn, groupId(namespace, spreadName, old.name, version));
    const leaving = Object.keys(old.deletingPods ?? {}).length;
    // Most groups that are said to be full are, and it is told by their size alone.
    if (pods.length - leaving >= seatsOf(subset.maxReplicas, replicas)) return old;
    return { ...old, ...tallySubset(spread, subset, pods, { old, replicas, now: now() }).value };
  };
  return withSubsets(spread, version, subsets.map(recount));
}

function isFull({ missingReplicas }: WorkloadSpreadSubsetStatus): boolean {
  return missingReplicas === 0;
}

/** Active Pods by the group they were sent to, and their version. */
function activeIn(found: Pod): readonly string[] {
  const placement = placementOf(found);
  if (!placement || !isPodActive(found)) return [];
  return [groupId(found.metadata.namespace ?? '', placement.name, placement.subset, versionOf(found))];
}

function groupId(...parts: readonly [namespace: string, spread: string, subset: string, version: string]): string {
  return parts.join('/');
}
