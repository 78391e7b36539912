/**
 * Recount of subsets that the status reports as full. The controller's count is slightly stale: a Pod may have
 * terminated since, and its replacement is often created before the controller reconciles.
 */
import { type Pod, pod } from '@kruise/api/core/pod';
import type { WorkloadSpread, WorkloadSpreadSubsetStatus } from '@kruise/api/kruise/workloadspread';
import { isPodActive } from '@kruise/machinery/pods';
import type { WebhookContext } from '../../../webhooks/context.ts';
import { placementOf } from '../../placement.ts';
import { subsetCapacity, withSubsets } from '../../subset-allocation.ts';
import { countSubset } from '../../subset-status.ts';
import { versionOf } from '../../versions.ts';

/** Reports whether a subset is reported as full, and the cache has newer Pods that may change the count. */
export function needsRecount({ metadata, status }: WorkloadSpread, version: string, context: WebhookContext): boolean {
  const subsets = status?.versionedSubsetStatuses?.[version] ?? [];
  // A count based on Pods that this cache does not show yet is better than a recount.
  const hasSeen = () => context.caches.informer(pod).hasReached(metadata.resourceVersion ?? '');
  return subsets.some(isFull) && hasSeen();
}

/** Returns the WorkloadSpread with the free places that the cached Pods leave. */
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
    // Most subsets reported as full are full, which their size alone shows.
    if (pods.length - leaving >= subsetCapacity(subset.maxReplicas, replicas)) return old;
    return { ...old, ...countSubset(spread, subset, pods, { old, replicas, now: now() }).value };
  };
  return withSubsets(spread, version, subsets.map(recount));
}

function isFull({ missingReplicas }: WorkloadSpreadSubsetStatus): boolean {
  return missingReplicas === 0;
}

/** Indexes active Pods by their subset and version. */
function activeIn(found: Pod): readonly string[] {
  const placement = placementOf(found);
  if (!placement || !isPodActive(found)) return [];
  return [groupId(found.metadata.namespace ?? '', placement.name, placement.subset, versionOf(found))];
}

function groupId(...parts: readonly [namespace: string, spread: string, subset: string, version: string]): string {
  return parts.join('/');
}
