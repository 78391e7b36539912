/**
 * Counts of matching Pods per node and per topology domain (zone, rack, or any other node label). Updated by every
 * added and removed Pod, so that a query costs the same for any number of Pods.
 */
import type { Labels, Selector } from '@kruise/machinery/label-selector';
import { count, type NodeInfo } from './node-info.ts';
import type { AffinityTerm, PodInfo, WeightedTerm } from './pod-info.ts';

/** Counts by node and by domain. */
export type Tally = {
  readonly byNode: ReadonlyMap<string, number>;
  /** Counts by the values of a node label; nodes without the label are skipped. */
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

/** Counted Pods: those in some or all namespaces that satisfy a predicate. */
export type PodQuery = {
  /** Equal for equivalent queries. */
  readonly id: string;
  readonly namespaces: ReadonlySet<string> | 'all';
  /** Selector that all counted Pods match, if known: it avoids evaluating all other Pods. */
  readonly selector?: Selector;
  readonly matches: (pod: PodInfo) => boolean;
};

/** A term of existing Pods and the nodes of those Pods. */
export type CarriedTerm = { readonly term: AffinityTerm; readonly weight: number; readonly tally: Tally };

/** Role of a term in a Pod. */
export type TermRole = 'affinity' | 'antiAffinity' | 'preferredAffinity' | 'preferredAntiAffinity';
export const termRoles: readonly TermRole[] = [
  'affinity',
  'antiAffinity',
  'preferredAffinity',
  'preferredAntiAffinity',
];

/** All maintained counts. */
export type Tallies = {
  /**
   * Returns the counts of a query. A query is maintained after its first use, and evicted when it is the least recently
   * used.
   */
  of(query: PodQuery): Tally;
  /** Yields the terms of existing Pods, each once. */
  carried(role: TermRole): Iterable<CarriedTerm>;
  change(node: NodeInfo, pod: PodInfo, by: 1 | -1): void;
  relabel(name: string, before: Labels, after: Labels): void;
};

/** Maximum number of maintained queries; usually more than the number of workloads that roll out. */
const maxQueries = 512;

export function createTallies(nodes: ReadonlyMap<string, NodeInfo>): Tallies {
  const queries = new Map<string, KeptQuery>();
  // Queries by a label that all of their Pods have, so that a Pod is matched against few queries; queries without such
  // a label have the empty key.
  const byLabel = new Map<string, Set<KeptQuery>>();
  const carried = new Map<TermRole, Map<string, CarriedTerm & { readonly tally: OwnTally }>>();
  for (const role of termRoles) carried.set(role, new Map());
  const labelsOf = (name: string) => nodes.get(name)?.labels;

  const keep = (entry: KeptQuery) => {
    queries.set(entry.query.id, entry);
    const found = byLabel.get(entry.label);
    if (found) found.add(entry);
    else byLabel.set(entry.label, new Set([entry]));
  };
  const forget = (entry: KeptQuery) => {
    queries.delete(entry.query.id);
    const found = byLabel.get(entry.label);
    found?.delete(entry);
    if (found?.size === 0) byLabel.delete(entry.label);
  };
  const changeQueries = (label: string, node: NodeInfo, pod: PodInfo, by: 1 | -1) => {
    for (const { query, tally } of byLabel.get(label) ?? none) if (matchesQuery(query, pod)) tally.add(node, by);
  };

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
      const entry = found ?? { query, label: labelOf(query), tally: createTally(labelsOf) };
      // Moves the query to the end of the LRU order.
      if (found) forget(found);
      keep(entry);
      if (found) return found.tally;
      for (const node of nodes.values()) {
        for (const pod of node.pods.values()) if (matchesQuery(query, pod)) entry.tally.add(node, 1);
      }
      if (queries.size > maxQueries) forget(queries.values().next().value!);
      return entry.tally;
    },
    carried: (role) => carried.get(role)!.values(),
    change(node, pod, by) {
      changeQueries(anyLabel, node, pod, by);
      for (const key in pod.labels) changeQueries(`${key}=${pod.labels[key]}`, node, pod, by);
      for (const role of termRoles) for (const term of pod[role]) changeTerm(role, term, node, by);
    },
    relabel(name, before, after) {
      for (const { tally } of queries.values()) tally.relabel(name, before, after);
      for (const terms of carried.values()) for (const { tally } of terms.values()) tally.relabel(name, before, after);
    },
  };
}

type KeptQuery = { readonly query: PodQuery; readonly label: string; readonly tally: OwnTally };

const none: readonly KeptQuery[] = [];
const anyLabel = '';

/** Returns a label that all Pods of a query have. The last one by name is the revision label, if present. */
function labelOf({ selector }: PodQuery): string {
  const required = selector?.requirements.findLast(({ operator, values }) => {
    return operator === '=' || operator === '==' || (operator === 'in' && values.length === 1);
  });
  return required ? `${required.key}=${required.values[0]}` : anyLabel;
}

function matchesQuery({ namespaces, matches }: PodQuery, pod: PodInfo): boolean {
  return (namespaces === 'all' || namespaces.has(pod.namespace)) && matches(pod);
}
