/** Who has to make room for a Pod that the node cannot be without (kubelet.md §3): pure. */
import type { Pod } from '@kruise/api/core/pod';
import type { Requests } from './allocations.ts';
import { isCriticalPod } from './critical.ts';

/** A Pod that might go, and what it would leave. */
export type Candidate = { readonly pod: Pod; readonly requests: Requests };

const qosClasses = ['BestEffort', 'Burstable', 'Guaranteed'] as const;

/**
 * The Pods whose going leaves what is missing, none if that cannot be had. As few Guaranteed ones as will do if all
 * others went; then as few Burstable ones; then of the rest no more than are needed beside those.
 */
export function victimsFor<C extends Candidate>(missing: Requests, candidates: readonly C[]): readonly C[] {
  const able = candidates.filter(({ pod }) => !isCriticalPod(pod));
  const [bestEffort, burstable, guaranteed] = qosClasses.map((qosClass) =>
    able.filter(({ pod }) => (pod.status?.qosClass ?? 'BestEffort') === qosClass),
  ) as [C[], C[], C[]];
  if (without(missing, able).size > 0) return [];
  const fromGuaranteed = fewest(without(missing, [...bestEffort, ...burstable]), guaranteed);
  const fromBurstable = fewest(without(missing, [...bestEffort, ...fromGuaranteed]), burstable);
  const fromBestEffort = fewest(without(missing, [...fromBurstable, ...fromGuaranteed]), bestEffort);
  return [...fromBestEffort, ...fromBurstable, ...fromGuaranteed];
}

/** What is still missing when some have gone. */
function without(missing: Requests, gone: readonly Candidate[]): Requests {
  const left = new Map<string, number>();
  for (const [name, amount] of missing) {
    const freed = gone.reduce((sum, { requests }) => sum + (name === 'pods' ? 1 : (requests.get(name) ?? 0)), 0);
    if (amount > freed) left.set(name, amount - freed);
  }
  return left;
}

/** One after the other, always the one that comes nearest to what is needed. */
function fewest<C extends Candidate>(missing: Requests, candidates: readonly C[]): C[] {
  const chosen: C[] = [];
  let left = missing;
  while (left.size > 0) {
    const rest = candidates.filter((each) => !chosen.includes(each));
    const [best] = rest.toSorted((a, b) => distance(left, a) - distance(left, b) || size(a) - size(b));
    if (!best) return chosen;
    chosen.push(best);
    left = without(missing, chosen);
  }
  return chosen;
}

/** How far a Pod's going is from enough: the squares of what shares would still be missing. */
function distance(missing: Requests, candidate: Candidate): number {
  const left = without(missing, [candidate]);
  let sum = 0;
  for (const [name, amount] of left) sum += (amount / missing.get(name)!) ** 2;
  return sum;
}

function size({ requests }: Candidate): number {
  return (requests.get('memory') ?? 0) + (requests.get('cpu') ?? 0);
}
