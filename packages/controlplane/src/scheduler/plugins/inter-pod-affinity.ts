/** InterPodAffinity plugin: required and preferred (anti-)affinity of the Pod, and of existing Pods towards it. */
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import { everything, type Labels } from '@kruise/machinery/label-selector';
import type { ClusterView } from '../cluster/cluster.ts';
import type { Lookup } from '../cluster/lookup.ts';
import { count, type NodeInfo } from '../cluster/node-info.ts';
import { type AffinityTerm, matchesTerm, type PodInfo, podInfoOf } from '../cluster/pod-info.ts';
import type { PodQuery } from '../cluster/tally.ts';
import type { ClusterEvent } from '../events.ts';
import { type ForkableFilter, maxNodeScore, type NodeScorer, type Plugin, type Rejection } from '../plugin.ts';

const name = 'InterPodAffinity';
const notNear: Rejection = {
  plugin: name,
  isPreemptable: false,
  reasons: ["node(s) didn't match pod affinity rules"],
};
const tooNear: Rejection = {
  plugin: name,
  isPreemptable: true,
  reasons: ["node(s) didn't match pod anti-affinity rules"],
};
const avoided: Rejection = {
  plugin: name,
  isPreemptable: true,
  reasons: ["node(s) didn't satisfy existing pods anti-affinity rules"],
};

export type InterPodAffinityArgs = {
  /** Weight of required affinity terms of existing Pods that match the Pod. */
  readonly hardPodAffinityWeight?: number;
  /** Pods without preferred terms ignore those of existing Pods. */
  readonly ignorePreferredTermsOfExistingPods?: boolean;
};

export function interPodAffinity(lookup: Lookup, args: InterPodAffinityArgs = {}): Plugin {
  const { hardPodAffinityWeight = 1, ignorePreferredTermsOfExistingPods = false } = args;
  return {
    name,
    filter(pod, cluster) {
      if (pod.fault !== undefined) {
        return { rejection: { plugin: name, isPreemptable: false, reasons: [`parsing pod: ${pod.fault}`] } };
      }
      const filter = createFilter(pod, cluster, lookup);
      return filter && { filter };
    },
    score(pod, cluster) {
      const hasPreference = pod.preferredAffinity.length > 0 || pod.preferredAntiAffinity.length > 0;
      if (ignorePreferredTermsOfExistingPods && !hasPreference) return undefined;
      return createScorer(pod, cluster, lookup, hardPodAffinityWeight);
    },
    events: [
      {
        resource: 'Pod',
        actions: ['Add', 'Delete', 'UpdatePodLabel'],
        helps: (pod, event) => podQueueingHint(pod, event as ClusterEvent<Pod>, lookup),
      },
      {
        resource: 'Node',
        actions: ['Add', 'UpdateNodeLabel'],
        helps: (pod, event) => nodeQueueingHint(pod, event as ClusterEvent<Node>),
      },
    ],
  };
}

/** A term with resolved namespaces. */
type Resolved = { readonly topologyKey: string; readonly query: PodQuery };

function resolve(term: AffinityTerm, lookup: Lookup): Resolved {
  const { namespaceSelector, selector, topologyKey } = term;
  let namespaces: PodQuery['namespaces'] = term.namespaces;
  if (namespaceSelector === everything) {
    namespaces = 'all';
  } else if (namespaceSelector.requirements.length > 0) {
    const selected = lookup.namespaces().filter(({ metadata }) => namespaceSelector.matches(metadata.labels));
    namespaces = new Set([...term.namespaces, ...selected.map(({ metadata }) => metadata.name ?? '')]);
  }
  const named = namespaces === 'all' ? '*' : [...namespaces].sort().join();
  const id = `affinity|${named}|${selector.requirements.length === 0 ? selector.matches({}) : selector.text}`;
  return { topologyKey, query: { id, namespaces, selector, matches: ({ labels }) => selector.matches(labels) } };
}

function isAskedFor({ namespaces, matches }: PodQuery, pod: PodInfo): boolean {
  return (namespaces === 'all' || namespaces.has(pod.namespace)) && matches(pod);
}

/** Returns the query for the Pods that match all terms. */
function queryOfAll(terms: readonly Resolved[]): PodQuery {
  const selector = terms[0]?.query.selector;
  return {
    ...(selector ? { selector } : {}),
    id: terms.map(({ query }) => query.id).join('&'),
    namespaces: 'all',
    matches: (pod) => terms.every(({ query }) => isAskedFor(query, pod)),
  };
}

/** Number of Pods in the domains of nodes, with simulated changes. */
type Counts = {
  readonly topologyKeys: ReadonlySet<string>;
  on(node: NodeInfo, topologyKey: string): number;
  isEmpty(): boolean;
  add(node: NodeInfo, topologyKey: string, by: number): void;
  fork(): Counts;
};

type Domain = { readonly topologyKey: string; readonly counts: ReadonlyMap<string, number> };

function countsOf(
  domains: readonly Domain[],
  added: Map<string, number> = new Map(),
  topologyKeys: Set<string> = new Set(domains.map(({ topologyKey }) => topologyKey)),
): Counts {
  return {
    topologyKeys,
    on({ labels }, topologyKey) {
      const value = labels[topologyKey];
      if (value === undefined) return 0;
      let sum = added.size === 0 ? 0 : (added.get(`${topologyKey}\n${value}`) ?? 0);
      for (const domain of domains) if (domain.topologyKey === topologyKey) sum += domain.counts.get(value) ?? 0;
      return sum;
    },
    isEmpty() {
      let sum = 0;
      for (const { counts } of domains) for (const each of counts.values()) sum += each;
      for (const each of added.values()) sum += each;
      return sum === 0;
    },
    add({ labels }, topologyKey, by) {
      const value = labels[topologyKey];
      if (value === undefined) return;
      topologyKeys.add(topologyKey);
      count(added, `${topologyKey}\n${value}`, by);
    },
    fork: () => countsOf(domains, new Map(added), new Set(topologyKeys)),
  };
}

type State = {
  readonly pod: PodInfo;
  readonly namespaceLabels: Labels;
  readonly affinity: readonly Resolved[];
  readonly antiAffinity: readonly Resolved[];
  readonly near: Counts;
  readonly far: Counts;
  /** Domains of existing Pods with an anti-affinity towards the Pod. */
  readonly avoiding: Counts;
};

function createFilter(pod: PodInfo, cluster: ClusterView, lookup: Lookup): ForkableFilter | undefined {
  const { tallies } = cluster;
  const namespaceLabels = lookup.namespaceLabels(pod.namespace);
  const avoiding: Domain[] = [];
  for (const { term, tally } of tallies.carried('antiAffinity')) {
    if (!matchesTerm(term, pod, namespaceLabels)) continue;
    avoiding.push({ topologyKey: term.topologyKey, counts: tally.byDomain(term.topologyKey) });
  }
  if (avoiding.length === 0 && pod.affinity.length === 0 && pod.antiAffinity.length === 0) return undefined;

  const affinity = pod.affinity.map((term) => resolve(term, lookup));
  const antiAffinity = pod.antiAffinity.map((term) => resolve(term, lookup));
  const all = affinity.length === 0 ? undefined : tallies.of(queryOfAll(affinity));
  const near = affinity.map(({ topologyKey }) => ({ topologyKey, counts: all!.byDomain(topologyKey) }));
  const far = antiAffinity.map(({ topologyKey, query }) => {
    return { topologyKey, counts: tallies.of(query).byDomain(topologyKey) };
  });
  return filterOf({
    pod,
    namespaceLabels,
    affinity,
    antiAffinity,
    near: countsOf(near),
    far: countsOf(far),
    avoiding: countsOf(avoiding),
  });
}

function filterOf(state: State): ForkableFilter {
  const { pod, affinity, antiAffinity, near, far, avoiding } = state;
  // The first Pod of a group with affinity to itself has no other Pod to be near.
  const isFirst = affinity.length > 0 && near.isEmpty() && affinity.every(({ query }) => isAskedFor(query, pod));
  return {
    check(node) {
      for (const { topologyKey } of affinity) {
        if (node.labels[topologyKey] === undefined) return notNear;
        if (!isFirst && near.on(node, topologyKey) <= 0) return notNear;
      }
      if (antiAffinity.some(({ topologyKey }) => far.on(node, topologyKey) > 0)) return tooNear;
      for (const topologyKey of avoiding.topologyKeys) if (avoiding.on(node, topologyKey) > 0) return avoided;
      return undefined;
    },
    fork() {
      const forked = { ...state, near: near.fork(), far: far.fork(), avoiding: avoiding.fork() };
      const change = (changed: PodInfo, node: NodeInfo, by: 1 | -1) => {
        for (const term of changed.antiAffinity) {
          if (matchesTerm(term, pod, state.namespaceLabels)) forked.avoiding.add(node, term.topologyKey, by);
        }
        if (affinity.length > 0 && affinity.every(({ query }) => isAskedFor(query, changed))) {
          for (const { topologyKey } of affinity) forked.near.add(node, topologyKey, by);
        }
        for (const { topologyKey, query } of antiAffinity) {
          if (isAskedFor(query, changed)) forked.far.add(node, topologyKey, by);
        }
      };
      // The first-Pod rule depends on the counts, so it is evaluated on every call.
      return {
        check: (node) => filterOf(forked).check(node),
        fork: () => filterOf(forked).fork(),
        change,
      };
    },
  };
}

function createScorer(
  pod: PodInfo,
  { tallies }: ClusterView,
  lookup: Lookup,
  hardPodAffinityWeight: number,
): NodeScorer | undefined {
  const parts: (Domain & { readonly weight: number })[] = [];
  const add = (topologyKey: string, counts: ReadonlyMap<string, number>, weight: number) => {
    if (counts.size > 0 && weight !== 0) parts.push({ topologyKey, counts, weight });
  };
  for (const [terms, sign] of [
    [pod.preferredAffinity, 1],
    [pod.preferredAntiAffinity, -1],
  ] as const) {
    for (const term of terms) {
      const { topologyKey, query } = resolve(term, lookup);
      add(topologyKey, tallies.of(query).byDomain(topologyKey), sign * term.weight);
    }
  }
  const namespaceLabels = lookup.namespaceLabels(pod.namespace);
  const addCarried = (
    role: 'affinity' | 'preferredAffinity' | 'preferredAntiAffinity',
    weightOf: (weight: number) => number,
  ) => {
    for (const { term, weight, tally } of tallies.carried(role)) {
      if (matchesTerm(term, pod, namespaceLabels))
        add(term.topologyKey, tally.byDomain(term.topologyKey), weightOf(weight));
    }
  };
  addCarried('affinity', () => hardPodAffinityWeight);
  addCarried('preferredAffinity', (weight) => weight);
  addCarried('preferredAntiAffinity', (weight) => -weight);
  if (parts.length === 0) return undefined;

  return {
    score({ labels }) {
      let score = 0;
      for (const { topologyKey, counts, weight } of parts) {
        const value = labels[topologyKey];
        if (value !== undefined) score += weight * (counts.get(value) ?? 0);
      }
      return score;
    },
    normalize(scores) {
      let least = Number.POSITIVE_INFINITY;
      let most = Number.NEGATIVE_INFINITY;
      for (const score of scores) {
        least = Math.min(least, score);
        most = Math.max(most, score);
      }
      const range = most - least;
      for (let index = 0; index < scores.length; index++) {
        scores[index] = range === 0 ? 0 : Math.trunc(maxNodeScore * ((scores[index]! - least) / range));
      }
    },
  };
}

/**
 * Queueing hint for Pod events: a Pod with matching affinity was added, or one with matching anti-affinity, of either
 * side, was removed. kube-scheduler checks less in three ways and leaves Pods pending: it ignores the anti-affinity of
 * the other Pods and namespace labels, and of several anti-affinity terms it requires one Pod to match all.
 */
function podQueueingHint(pod: PodInfo, { before, after }: ClusterEvent<Pod>, lookup: Lookup): boolean {
  if ((before && !before.spec?.nodeName) || (after && !after.spec?.nodeName)) return false;
  const [was, is] = [before && podInfoOf(before), after && podInfoOf(after)];
  const isAbout = (term: AffinityTerm, other: PodInfo) =>
    matchesTerm(term, other, lookup.namespaceLabels(other.namespace));
  const isNear = (other: PodInfo | undefined) =>
    other !== undefined && pod.affinity.length > 0 && pod.affinity.every((term) => isAbout(term, other));
  const isKeptOff = (other: PodInfo | undefined, term: AffinityTerm) => other !== undefined && isAbout(term, other);
  const isLeftAlone = pod.antiAffinity.some((term) => isKeptOff(was, term) && !isKeptOff(is, term));
  const isForgiven = !is && (was?.antiAffinity.some((term) => isAbout(term, pod)) ?? false);
  return (!isNear(was) && isNear(is)) || isLeftAlone || isForgiven;
}

/**
 * Queueing hint for node events: the node is a new place for the Pod, without Pods that reject it, or it brings
 * matching Pods into a domain.
 */
function nodeQueueingHint({ affinity, antiAffinity }: PodInfo, { before, after }: ClusterEvent<Node>): boolean {
  const domainOf = (node: Node | undefined, { topologyKey }: AffinityTerm) => node?.metadata.labels?.[topologyKey];
  const comesNear = (term: AffinityTerm) =>
    domainOf(after, term) !== undefined && domainOf(before, term) !== domainOf(after, term);
  const goesFar = (term: AffinityTerm) =>
    before === undefined || (domainOf(before, term) !== undefined && domainOf(before, term) !== domainOf(after, term));
  const isPlace = affinity.every((term) => domainOf(after, term) !== undefined);
  return isPlace || affinity.some(comesNear) || antiAffinity.some(goesFar);
}
