/**
 * Equivalence cache between scheduling cycles. Pods of one workload have the same requirements, and between two of them
 * usually only the node of the first one changes. So the results of node-local plugins are memoized, and recomputed
 * only for changed nodes.
 */
import type { NodeInfo } from './cluster/node-info.ts';
import type { PodInfo } from './cluster/pod-info.ts';
import type { Rejection } from './plugin.ts';
import type { Profile } from './profile.ts';

export type EquivalenceCache = {
  /** Returns the memo for Pods equivalent to this one. */
  of(profile: Profile, pod: PodInfo): NodeMemo;
};

export type NodeMemo = {
  /** Returns the results for the current generation of a node. */
  on(node: NodeInfo): NodeResult;
};

export type NodeResult = {
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
const maxClasses = 32;

export function createEquivalenceCache(): EquivalenceCache {
  const classes = new Map<string, NodeMemo>();
  return {
    of(profile, pod) {
      const classKey = `${profile.schedulerName}\n${equivalenceKeyOf(pod)}`;
      const found = classes.get(classKey) ?? createNodeMemo();
      // Moves the class to the end of the LRU order.
      classes.delete(classKey);
      classes.set(classKey, found);
      if (classes.size > maxClasses) classes.delete(classes.keys().next().value!);
      return found;
    },
  };
}

function createNodeMemo(): NodeMemo {
  const bySlot: NodeResult[] = [];
  return {
    on(node) {
      const found = bySlot[node.slot];
      if (found?.node === node && found.generation === node.generation) return found;
      return (bySlot[node.slot] = { node, generation: node.generation, rejection: 'unknown', scores: [] });
    },
  };
}

/** Returns a key that is equal for Pods with the same results of all node-local plugins. */
function equivalenceKeyOf({ spec, requests, nonZeroRequests, hostPorts }: PodInfo): string {
  const { nodeName, nodeSelector, tolerations, affinity } = spec;
  const { others, ...standard } = requests;
  const wanted = [standard, [...others], nonZeroRequests, hostPorts];
  return JSON.stringify([nodeName, nodeSelector, tolerations, affinity?.nodeAffinity, wanted]);
}
