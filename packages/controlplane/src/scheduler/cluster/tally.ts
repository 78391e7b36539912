/**
 * How many Pods of some sort are on each node and in each of its domains (zones, racks, whatever a label of nodes says).
 * Kept up to date by every Pod that comes or goes, so that asking costs the same however many Pods there are.
 */
import type { Labels } from '@kruise/machinery/label-selector';
import { count, type NodeInfo } from './node-info.ts';
import type { AffinityTerm, PodInfo, WeightedTerm } from './pod-info.ts';

/** Counts by node and by domain. */
export type Tally = {
  readonly byNode: ReadonlyMap<string, number>;
  /** By the values of a node label; nodes without it do not count. */
  byDomain(topologyKey: string): ReadonlyMap<string, number>;
};

type OwnTally = Tally & {
  add(node: NodeInfo, by: number): void;
  relabel(name: string, before: Labels, after: Labels): void;
};

function createTally(labelsOf: (node: string) => Labels): OwnTally {
  const byNode = new Map<string, number>();
  const domains = new Map<string, Map<string, number>>();
  const countIn = (topologyKey: string, counts: Map<string, number>, labels: Labels, by: number) => {
    const value = labels?.[topologyKey];
    if (value !== undefined) count(counts, value, by);
  };
  return {
    byNode,
    byDomain(topologyKey) {
      let counts = domains.get(topologyKey);
      if (!counts) {
        domains.set(topologyKey, (counts = new Map()));
        for (const [name, pods] of byNode) countIn(topologyKey, counts, labelsOf(name), pods);
      }
      return counts;
    },
    add(node, by) {
      count(byNode, node.name, by);
      for (const [topologyKey, counts] of domains) countIn(topologyKey, counts, node.labels, by);
    },
    relabel(name, before, after) {
      const pods = byNode.get(name);
      if (pods === undefined) return;
      for (const [topologyKey, counts] of domains) {
        countIn(topologyKey, counts, before, -pods);
        countIn(topologyKey, counts, after, pods);
      }
    },
  };
}

/** Pods that are counted: those in these namespaces, or in all, for which something holds. */
export type PodQuery = {
  /** The same for queries that mean the same. */
  readonly id: string;
  readonly namespaces: ReadonlySet<string> | 'all';
  readonly matches: (pod: PodInfo) => boolean;
};

/** A term that Pods on nodes have, and where they are. */
export type CarriedTerm = { readonly term: AffinityTerm; readonly weight: number; readonly tally: Tally };

/** In what sense a Pod has a term. */
export type TermRole = 'affinity' | 'antiAffinity' | 'preferredAffinity' | 'preferredAntiAffinity';
export const termRoles: readonly TermRole[] = [
  'affinity',
  'antiAffinity',
  'preferredAffinity',
  'preferredAntiAffinity',
];

/** Every tally there is. */
export type Tallies = {
  /** Where the Pods of a query are. What is asked for once is kept up to date, and forgotten when long unasked. */
  of(query: PodQuery): Tally;
  /** The terms that Pods on nodes have, each once however many have it. */
  carried(role: TermRole): Iterable<CarriedTerm>;
  change(node: NodeInfo, pod: PodInfo, by: 1 | -1): void;
  relabel(name: string, before: Labels, after: Labels): void;
};

/** Queries that are kept: each costs a comparison whenever a Pod of its namespaces comes or goes. */
const maxQueries = 512;

export function createTallies(nodes: ReadonlyMap<string, NodeInfo>): Tallies {
  const queries = new Map<string, { readonly query: PodQuery; readonly tally: OwnTally }>();
  const carried = new Map<TermRole, Map<string, CarriedTerm & { readonly tally: OwnTally }>>();
  for (const role of termRoles) carried.set(role, new Map());
  const labelsOf = (name: string) => nodes.get(name)?.labels;

  const changeTerm = (role: TermRole, term: AffinityTerm | WeightedTerm, node: NodeInfo, by: 1 | -1) => {
    const terms = carried.get(role)!;
    const weight = 'weight' in term ? term.weight : 0;
    const id = `${weight}|${term.id}`;
    let found = terms.get(id);
    if (!found) terms.set(id, (found = { term, weight, tally: createTally(labelsOf) }));
    found.tally.add(node, by);
    if (found.tally.byNode.size === 0) terms.delete(id);
  };

  return {
    of(query) {
      const found = queries.get(query.id);
      // The one asked for last is the last to be forgotten.
      if (found) queries.delete(query.id);
      const entry = found ?? { query, tally: createTally(labelsOf) };
      queries.set(query.id, entry);
      if (found) return found.tally;
      for (const node of nodes.values()) {
        for (const pod of node.pods.values()) if (isAskedFor(query, pod)) entry.tally.add(node, 1);
      }
      if (queries.size > maxQueries) queries.delete(queries.keys().next().value!);
      return entry.tally;
    },
    carried: (role) => carried.get(role)!.values(),
    change(node, pod, by) {
      for (const { query, tally } of queries.values()) if (isAskedFor(query, pod)) tally.add(node, by);
      for (const role of termRoles) for (const term of pod[role]) changeTerm(role, term, node, by);
    },
    relabel(name, before, after) {
      for (const { tally } of queries.values()) tally.relabel(name, before, after);
      for (const terms of carried.values()) for (const { tally } of terms.values()) tally.relabel(name, before, after);
    },
  };
}

function isAskedFor({ namespaces, matches }: PodQuery, pod: PodInfo): boolean {
  return (namespaces === 'all' || namespaces.has(pod.namespace)) && matches(pod);
}
