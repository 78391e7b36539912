import { amountOf } from '../cluster/resources.ts';
import type { Plugin } from '../plugin.ts';
import { asRequested, balance, cpuAndMemory, isJudgedBy, type ResourceWeight } from './resource-scores.ts';

export type BalancedAllocationArgs = { readonly resources?: readonly ResourceWeight[] };

/**
 * NodeResourcesBalancedAllocation plugin: prefers nodes whose resources would be used evenly, so that no resource is
 * stranded.
 */
export function nodeResourcesBalancedAllocation({ resources = cpuAndMemory }: BalancedAllocationArgs = {}): Plugin {
  const all = resources.map(({ name }) => ({ name, share: asRequested(name) }));
  return {
    name: 'NodeResourcesBalancedAllocation',
    isLocal: true,
    score(pod) {
      // A Pod without requests does not change the balance, and would be attracted to the same node again and again.
      if (all.every(({ name }) => amountOf(pod.requests, name) === 0)) return undefined;
      const judged = all.filter(({ name }) => isJudgedBy(name, pod));
      return {
        score(node) {
          const fractions: number[] = [];
          for (const { share } of judged) {
            const allocatable = share.allocatable(node);
            if (allocatable > 0) fractions.push(Math.min(share.requested(node, pod) / allocatable, 1));
          }
          return balance(fractions);
        },
      };
    },
  };
}
