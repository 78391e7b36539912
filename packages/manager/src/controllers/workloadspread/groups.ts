/** Which Pods are in which group, by version; Pods that were sent to none are given to the one they fit best (§9.3). */
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type { WorkloadSpread, WorkloadSpreadSubset } from '@kruise/api/kruise/workloadspread';
import { type Placement, placementOf } from '../../workloadspread/placement.ts';
import { seatsOf } from '../../workloadspread/seats.ts';
import { versionOf } from '../../workloadspread/versions.ts';
import { fitnessOf } from './fitness.ts';

/** The Pods of one version. */
export type Groups = {
  /** By the name of their group. */
  readonly inSubset: ReadonlyMap<string, readonly Pod[]>;
  /** Those of no group: what was sent to one that is gone, and what fits nowhere. */
  readonly elsewhere: readonly Pod[];
};

export type Grouping = {
  readonly versions: ReadonlyMap<string, Groups>;
  /** The Pods that were not sent to the group they are in. */
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
    // What is left has names.
    versions.set(version, { inSubset: placed as ReadonlyMap<string, readonly Pod[]>, elsewhere });
  }
  return { versions, adopted };
}

/** Where this WorkloadSpread, and no other, sent a Pod. */
function placementIn({ metadata }: WorkloadSpread, pod: Pod): Placement | undefined {
  const placement = placementOf(pod);
  return placement?.name === metadata.name && placement?.subset ? placement : undefined;
}

/** How many seats each group has beside those of the Pods that were sent to it. */
function seatsLeft(spread: WorkloadSpread, pods: readonly Pod[], replicas: number): Map<string, number> {
  const seats = new Map(spread.spec.subsets.map(({ name, maxReplicas }) => [name, seatsOf(maxReplicas, replicas)]));
  for (const pod of pods) {
    const { subset = '' } = placementIn(spread, pod) ?? {};
    const left = seats.get(subset);
    if (left !== undefined) seats.set(subset, left - 1);
  }
  return seats;
}

/** The group a Pod fits best, the first of several; none if it fits nowhere, or has not been given a node yet. */
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
