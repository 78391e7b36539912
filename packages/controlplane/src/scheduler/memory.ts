/**
 * What is remembered from one Pod to the next. Pods of one workload ask for the same, and between two of them little
 * changes but the node that the first went to; so what plugins say of a node by itself is asked for again only where
 * the node has changed.
 */
import type { NodeInfo } from './cluster/node-info.ts';
import type { PodInfo } from './cluster/pod-info.ts';
import type { Rejection } from './plugin.ts';
import type { Profile } from './profile.ts';

export type Memory = {
  /** What is remembered for Pods like this one. */
  of(profile: Profile, pod: PodInfo): Recollection;
};

export type Recollection = {
  /** What was said of a node as it is now. */
  on(node: NodeInfo): Remembered;
};

export type Remembered = {
  readonly node: NodeInfo;
  readonly generation: number;
  /** What the filters that judge a node by itself have against it; `unknown` if they have not been asked. */
  rejection: Rejection | undefined | 'unknown';
  /** The scores of plugins that judge a node by itself, by the place of the plugin in the profile. */
  readonly scores: (number | undefined)[];
};

/** Sorts of Pods that are remembered: as many workloads as are likely to be rolled out at a time. */
const maxSorts = 32;

export function createMemory(): Memory {
  const sorts = new Map<string, Recollection>();
  return {
    of(profile, pod) {
      const sort = `${profile.schedulerName}\n${sortOf(pod)}`;
      const found = sorts.get(sort) ?? createRecollection();
      // The one asked for last is the last to be forgotten.
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

/** The same for Pods of which plugins that judge a node by itself say the same. */
function sortOf({ spec, requests, assumedRequests, hostPorts }: PodInfo): string {
  const { nodeName, nodeSelector, tolerations, affinity } = spec;
  const { others, ...usual } = requests;
  const wanted = [usual, [...others], assumedRequests, hostPorts];
  return JSON.stringify([nodeName, nodeSelector, tolerations, affinity?.nodeAffinity, wanted]);
}
