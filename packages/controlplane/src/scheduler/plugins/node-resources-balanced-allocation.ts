import { amountOf } from '../cluster/resources.ts';
import type { Plugin } from '../plugin.ts';
import { balance, cpuAndMemory, type ResourceWeight, sharesRequested } from './resource-scores.ts';

export type BalancedAllocationArgs = { readonly resources?: readonly ResourceWeight[] };

/** Rather nodes whose resources would be used up alike, so that none is left over that nobody can use. */
export function nodeResourcesBalancedAllocation({ resources = cpuAndMemory }: BalancedAllocationArgs = {}): Plugin {
  const names = resources.map(({ name }) => name);
  return {
    name: 'NodeResourcesBalancedAllocation',
    score(pod) {
      // A Pod that asks for nothing changes nothing, and would be drawn to one node again and again.
      if (names.every((name) => amountOf(pod.requests, name) === 0)) return undefined;
      return { score: (node) => balance(names.flatMap((name) => sharesRequested(node, pod, name) ?? [])) };
    },
  };
}
