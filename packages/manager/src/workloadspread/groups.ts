/** Pods by version and subset. Pods without a subset are assigned to the subset with the best score. */
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type { WorkloadSpread, WorkloadSpreadSubset } from '@kruise/api/kruise/workloadspread';
import { type Placement, placementOf } from './placement.ts';
import { subsetCapacity } from './subset-allocation.ts';
import { subsetScore } from './subset-score.ts';
import { versionOf } from './versions.ts';

/** Pods of one version. */
export type Groups = {
  /** Pods by subset name. */
  readonly inSubset: ReadonlyMap<string, readonly Pod[]>;
  /** Pods without a subset: their subset was removed, or no subset matches. */
  readonly unassigned: readonly Pod[];
};

export type Grouping = {
  readonly versions: ReadonlyMap<string, Groups>;
  /** Pods that were assigned to a subset after admission. */
  readonly adopted: ReadonlyMap<Pod, WorkloadSpreadSubset>;
};

export type GroupingContext = {
  readonly replicas: number;
  readonly findNode: (name: string) => Node | undefined;
};

export function groupPods(spread: WorkloadSpread, pods: readonly Pod[], context: GroupingContext): Grouping {
  const adopted = new Map<Pod, WorkloadSpreadSubset>();
  const versions = new Map<string, Groups>();
  for (const [version, podsOfVersion] of Map.groupBy(pods, versionOf)) {
    const capacity = remainingCapacity(spread, podsOfVersion, context.replicas);
    const placed = Map.groupBy(podsOfVersion, (pod) => {
      const placement = placementIn(spread, pod);
      if (placement) return capacity.has(placement.subset) ? placement.subset : undefined;
      const subset = bestFor(pod, spread, capacity, context);
      if (!subset) return undefined;
      adopted.set(pod, subset);
      capacity.set(subset.name, capacity.get(subset.name)! - 1);
      return subset.name;
    });
    const unassigned = placed.get(undefined) ?? [];
    placed.delete(undefined);
    // The remaining keys are names.
    versions.set(version, { inSubset: placed as ReadonlyMap<string, readonly Pod[]>, unassigned });
  }
  return { versions, adopted };
}

/** Returns the placement of a Pod by this WorkloadSpread. */
function placementIn({ metadata }: WorkloadSpread, pod: Pod): Placement | undefined {
  const placement = placementOf(pod);
  return placement?.name === metadata.name && placement?.subset ? placement : undefined;
}

/** Returns the capacity of each subset that is left beside the Pods placed in it. */
function remainingCapacity(spread: WorkloadSpread, pods: readonly Pod[], replicas: number): Map<string, number> {
  const capacity = new Map(
    spread.spec.subsets.map(({ name, maxReplicas }) => [name, subsetCapacity(maxReplicas, replicas)]),
  );
  for (const pod of pods) {
    const { subset = '' } = placementIn(spread, pod) ?? {};
    const left = capacity.get(subset);
    if (left !== undefined) capacity.set(subset, left - 1);
  }
  return capacity;
}

/**
 * Returns the subset with the best score, the first of several; undefined if no subset matches, or if the Pod has no
 * node yet.
 */
function bestFor(
  pod: Pod,
  { spec: { subsets } }: WorkloadSpread,
  capacity: ReadonlyMap<string, number>,
  { findNode }: GroupingContext,
): WorkloadSpreadSubset | undefined {
  const node = pod.spec?.nodeName ? findNode(pod.spec.nodeName) : undefined;
  if (!node) return undefined;
  let best: { readonly subset: WorkloadSpreadSubset; readonly score: number } | undefined;
  for (const subset of subsets) {
    const score = subsetScore(pod, node, subset, capacity.get(subset.name) ?? 0);
    if (score !== undefined && score > (best?.score ?? -1)) best = { subset, score };
  }
  return best?.subset;
}
