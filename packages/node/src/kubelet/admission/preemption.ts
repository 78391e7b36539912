/** Kubelet preemption: pure functions that select victims for a critical Pod. */
import type { Pod } from '@kruise/api/core/pod';
import type { Requests } from './allocations.ts';
import { isCriticalPod } from './critical.ts';

/** A candidate for preemption with the resources it would free. */
export type Candidate = { readonly pod: Pod; readonly requests: Requests };

const qosClasses = ['BestEffort', 'Burstable', 'Guaranteed'] as const;

/**
 * Returns the Pods to preempt; empty if no set of victims frees enough. Preempts as few Guaranteed Pods as possible,
 * then as few Burstable Pods, then as few BestEffort Pods.
 */
export function selectVictims<C extends Candidate>(missing: Requests, candidates: readonly C[]): readonly C[] {
  const preemptible = candidates.filter(({ pod }) => !isCriticalPod(pod));
  const [bestEffort, burstable, guaranteed] = qosClasses.map((qosClass) =>
    preemptible.filter(({ pod }) => (pod.status?.qosClass ?? 'BestEffort') === qosClass),
  ) as [C[], C[], C[]];
  if (missingAfter(missing, preemptible).size > 0) return [];
  const fromGuaranteed = selectFewest(missingAfter(missing, [...bestEffort, ...burstable]), guaranteed);
  const fromBurstable = selectFewest(missingAfter(missing, [...bestEffort, ...fromGuaranteed]), burstable);
  const fromBestEffort = selectFewest(missingAfter(missing, [...fromBurstable, ...fromGuaranteed]), bestEffort);
  return [...fromBestEffort, ...fromBurstable, ...fromGuaranteed];
}

/** Returns the resources that are still missing after some Pods are preempted. */
function missingAfter(missing: Requests, victims: readonly Candidate[]): Requests {
  const left = new Map<string, number>();
  for (const [name, amount] of missing) {
    const freed = victims.reduce((sum, { requests }) => sum + (name === 'pods' ? 1 : (requests.get(name) ?? 0)), 0);
    if (amount > freed) left.set(name, amount - freed);
  }
  return left;
}

/** Selects greedily the Pod that is closest to the missing resources. */
function selectFewest<C extends Candidate>(missing: Requests, candidates: readonly C[]): C[] {
  const chosen: C[] = [];
  let left = missing;
  while (left.size > 0) {
    const rest = candidates.filter((each) => !chosen.includes(each));
    const [best] = rest.toSorted((a, b) => distance(left, a) - distance(left, b) || size(a) - size(b));
    if (!best) return chosen;
    chosen.push(best);
    left = missingAfter(missing, chosen);
  }
  return chosen;
}

/** Returns the distance of a Pod to the missing resources: the sum of the squared missing fractions. */
function distance(missing: Requests, candidate: Candidate): number {
  const left = missingAfter(missing, [candidate]);
  let sum = 0;
  for (const [name, amount] of left) sum += (amount / missing.get(name)!) ** 2;
  return sum;
}

function size({ requests }: Candidate): number {
  return (requests.get('memory') ?? 0) + (requests.get('cpu') ?? 0);
}
