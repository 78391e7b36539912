/** Deletion costs that make a workload keep the Pods that its subsets need. */
import type { Pod } from '@kruise/api/core/pod';
import type { WorkloadSpread } from '@kruise/api/kruise/workloadspread';
import { rankForDeletion } from '@kruise/machinery/pod-ranking';
import { isPodActive } from '@kruise/machinery/pods';
import { wholePercentValue } from '../workload/percent.ts';
import type { Groups } from './groups.ts';

/** Deletion cost of a Pod, and its subset. */
export type Cost = { readonly subset: string; readonly value: number };

/** Subset name in events for Pods without a subset. */
const noSubset = 'kruise.io/workloadspread-fake-subset-name';

const unit = 100;

/** Kinds of workloads that respect deletion costs. */
const costAwareKinds = ['CloneSet', 'Deployment', 'ReplicaSet'];

/**
 * Returns the deletion cost of each active Pod. The latest version scales in from the last subset. Older versions scale
 * in from the first subset, whose capacity Pods of the latest version need. Excess Pods of a subset are deleted before
 * others, and Pods without a subset before those. Empty while the latest version is unknown.
 */
export function deletionCosts(
  { spec }: WorkloadSpread,
  versions: ReadonlyMap<string, Groups>,
  { replicas, latestVersion }: { readonly replicas: number; readonly latestVersion?: string | undefined },
): ReadonlyMap<Pod, Cost> {
  const costs = new Map<Pod, Cost>();
  const { subsets, targetRef } = spec;
  if (!costAwareKinds.includes(targetRef.kind) || latestVersion === undefined) return costs;
  const count = subsets.length;
  for (const [version, { inSubset, unassigned }] of versions) {
    for (const [index, { name, maxReplicas }] of subsets.entries()) {
      const rank = version === latestVersion ? index : count - 1 - index;
      const active = (inSubset.get(name) ?? []).filter(isPodActive);
      const most = maxReplicas === undefined ? active.length : wholePercentValue(maxReplicas, replicas, Math.ceil);
      const surplus = active.length - most;
      const ranked = surplus > 0 ? rankForDeletion(active, { usesDeletionCost: false }) : active;
      for (const [place, pod] of ranked.entries()) {
        costs.set(pod, { subset: name, value: place < surplus ? -unit * (rank + 1) : unit * (count - rank) });
      }
    }
    for (const pod of unassigned.filter(isPodActive)) costs.set(pod, { subset: noSubset, value: -unit * (count + 1) });
  }
  return costs;
}
