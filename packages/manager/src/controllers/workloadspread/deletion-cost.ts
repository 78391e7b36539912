/** Which Pods a workload had better lose first, so that its groups stay as they should be (workloadspread.md §9.4). */
import type { Pod } from '@kruise/api/core/pod';
import type { WorkloadSpread } from '@kruise/api/kruise/workloadspread';
import { rankForDeletion } from '@kruise/machinery/pod-ranking';
import { isPodActive } from '@kruise/machinery/pods';
import { wholePercentValue } from '../../percent.ts';
import type { Groups } from './groups.ts';

/** What it costs to lose a Pod, by the group it is in. */
export type Cost = { readonly subset: string; readonly value: number };

/** What events call the group of Pods that are in none. */
const noSubset = 'kruise.io/workloadspread-fake-subset-name';

const unit = 100;

/** The workloads that heed what it costs to lose a Pod. */
const heedingKinds = ['CloneSet', 'Deployment', 'ReplicaSet'];

/**
 * What it costs to lose each active Pod. The last groups are emptied first; of versions on their way out the first ones
 * are, whose seats the Pods of the latest version take. What a group has too many of goes before anything else, and what
 * is in no group before that. Nothing while it is not known which version is the latest.
 */
export function deletionCosts(
  { spec }: WorkloadSpread,
  versions: ReadonlyMap<string, Groups>,
  { replicas, latestVersion }: { readonly replicas: number; readonly latestVersion?: string | undefined },
): ReadonlyMap<Pod, Cost> {
  const costs = new Map<Pod, Cost>();
  const { subsets, targetRef } = spec;
  if (!heedingKinds.includes(targetRef.kind) || latestVersion === undefined) return costs;
  const count = subsets.length;
  for (const [version, { inSubset, elsewhere }] of versions) {
    for (const [index, { name, maxReplicas }] of subsets.entries()) {
      const rank = version === latestVersion ? index : count - 1 - index;
      const active = (inSubset.get(name) ?? []).filter(isPodActive);
      const most = maxReplicas === undefined ? active.length : wholePercentValue(maxReplicas, replicas, Math.ceil);
      const surplus = active.length - most;
      const ranked = surplus > 0 ? rankForDeletion(active, { heedsCost: false }) : active;
      for (const [place, pod] of ranked.entries()) {
        costs.set(pod, { subset: name, value: place < surplus ? -unit * (rank + 1) : unit * (count - rank) });
      }
    }
    for (const pod of elsewhere.filter(isPodActive)) costs.set(pod, { subset: noSubset, value: -unit * (count + 1) });
  }
  return costs;
}
