/** Pods by version and subset. Pods without a subset are assigned to the subset with the best score. */
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type { WorkloadSpread, WorkloadSpreadSubset } from '@kruise/api/kruise/workloadspread';
import { type Placement, placementOf } from '../../workloadspread/placement.ts';
import { seatsOf } from '../../workloadspread/seats.ts';
import { versionOf } from '../../workloadspread/versions.ts';
import { fitnessOf } from './fitness.ts';

/** Pods of one version. */
export type Groups = {
  /** Pods by subset name. */
  readonly inSubset: ReadonlyMap<string, readonly Pod[]>;
  /** Pods without a subset: their subset was removed, or no subset matches. */
  readonly elsewhere: readonly Pod[];
};

export type Grouping = {
  readonly versions: ReadonlyMap<string, Groups>;
  /** Pods that were assigned to a subset after admission. */
  readonly adopted: ReadonlyMap<Pod, WorkloadSpreadSubset>;
};

export type Surroundings = {
  readonly replicas: number;
  readonly nodeNamed: (name: string) => Node | undefined;
};

export function groupPods(spread: WorkloadSpread, pods: readonly Pod[], surroundings: Surroundings): Grouping {
  const adopted = new Map<Pod, WorkloadSpreadSubset>();
  const versions = new Map<string, Groups>();
  for (const [version, alike] of Map.groupBy(pods, versionOf)) {
    const seats = seatsLeft(spread, alike, surroundings.replicas);
    const placed = Map.groupBy(alike, (pod) => {
      const placement = placementIn(spread, pod);
      if (placement) return seats.has(placement.subset) ? placement.subset : undefined;
      const subset = bestFor(pod, spread, seats, surroundings);
      if (!subset) return undefined;
      adopted.set(pod, subset);
      seats.set(subset.name, seats.get(subset.name)! - 1);
      return subset.name;
    });
    const elsewhere = placed.get(undefined) ?? [];
    placed.delete(undefined);
    // The remaining keys are names.
    versions.set(version, { inSubset: placed as ReadonlyMap<string, readonly Pod[]>, elsewhere });
  }
  return { versions, adopted };
}

/** Returns the placement of a Pod by this WorkloadSpread. */
function placementIn({ metadata }: WorkloadSpread, pod: Pod): Placement | undefined {
  const placement = placementOf(pod);
  return placement?.name === metadata.name && placement?.subset ? placement : undefined;
}

/** Returns the capacity of each subset that is left beside the Pods placed in it. */
function seatsLeft(spread: WorkloadSpread, pods: readonly Pod[], replicas: number): Map<string, number> {
  const seats = new Map(spread.spec.subsets.map(({ name, maxReplicas }) => [name, seatsOf(maxReplicas, replicas)]));
  for (const pod of pods) {
    const { subset = '' } = placementIn(spread, pod) ?? {};
    const left = seats.get(subset);
    if (left !== undefined) seats.set(subset, left - 1);
  }
  return seats;
}

/**
 * Returns the subset with the best score, the first of several; undefined if no subset matches, or if the Pod has no
 * node yet.
 */
function bestFor(
  pod: Pod,
  { spec: { subsets } }: WorkloadSpread,
  seats: ReadonlyMap<string, number>,
  { nodeNamed }: Surroundings,
): WorkloadSpreadSubset | undefined {
  const node = pod.spec?.nodeName ? nodeNamed(pod.spec.nodeName) : undefined;
  if (!node) return undefined;
  let best: { readonly subset: WorkloadSpreadSubset; readonly fitness: number } | undefined;
  for (const subset of subsets) {
    const fitness = fitnessOf(pod, node, subset, seats.get(subset.name) ?? 0);
    if (fitness !== undefined && fitness > (best?.fitness ?? -1)) best = { subset, fitness };
  }
  return best?.subset;
}
