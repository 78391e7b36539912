/**
 * Equivalence cache between scheduling cycles. Pods of one workload have the same requirements, and between two of them
 * usually only the node of the first one changes. So the results of node-local plugins are memoized, and recomputed
 * only for changed nodes.
 */
import type { NodeInfo } from './cluster/node-info.ts';
import type { PodInfo } from './cluster/pod-info.ts';
import type { Rejection } from './plugin.ts';
import type { Profile } from './profile.ts';

export type Memory = {
  /** Returns the memo for Pods equivalent to this one. */
  of(profile: Profile, pod: PodInfo): Recollection;
};

export type Recollection = {
  /** Returns the results for the current generation of a node. */
  on(node: NodeInfo): Remembered;
};

export type Remembered = {
  readonly node: NodeInfo;
  readonly generation: number;
  /** Rejection by the node-local filters; `unknown` if they have not run. */
  rejection: Rejection | undefined | 'unknown';
  /** Scores of node-local plugins, by the index of the plugin in the profile. */
  readonly scores: (number | undefined)[];
};

/**
 * Maximum number of memoized equivalence classes: the number of workloads that are likely to roll out at the same time.
 */
const maxSorts = 32;

export function createMemory(): Memory {
  const sorts = new Map<string, Recollection>();
  return {
    of(profile, pod) {
      const sort = `${profile.schedulerName}\n${sortOf(pod)}`;
      const found = sorts.get(sort) ?? createRecollection();
      // Moves the class to the end of the LRU order.
      sorts.delete(sort);
      sorts.set(sort, found);
      if (sorts.size > maxSorts) sorts.delete(sorts.keys().next().value!);
      return found;
    },
  };
}

function createRecollection(): Recollection {
  const bySlot: Remembered[] = [];
  return {
    on(node) {
      const found = bySlot[node.slot];
      if (found?.node === node && found.generation === node.generation) return found;
      return (bySlot[node.slot] = { node, generation: node.generation, rejection: 'unknown', scores: [] });
    },
  };
}

/** Returns a key that is equal for Pods with the same results of all node-local plugins. */
function sortOf({ spec, requests, assumedRequests, hostPorts }: PodInfo): string {
  const { nodeName, nodeSelector, tolerations, affinity } = spec;
  const { others, ...usual } = requests;
  const wanted = [usual, [...others], assumedRequests, hostPorts];
  return JSON.stringify([nodeName, nodeSelector, tolerations, affinity?.nodeAffinity, wanted]);
}
