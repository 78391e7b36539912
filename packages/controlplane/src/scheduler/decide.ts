/**
 * Scheduling algorithm: filters nodes until enough are feasible, scores them, and selects the best. Depends only on its
 * arguments; the caller executes the decision.
 */
import type { Random } from '@kruise/values/random';
import { randomInteger } from '@kruise/values/random';
import type { ClusterView } from './cluster/cluster.ts';
import type { NodeInfo } from './cluster/node-info.ts';
import type { PodInfo } from './cluster/pod-info.ts';
import { type Diagnosis, unexamined } from './diagnosis.ts';
import type { EquivalenceCache, NodeMemo } from './equivalence-cache.ts';
import { checkWithNominated, type Filters, type Nominations, prepareFilters } from './filter.ts';
import type { Rejection } from './plugin.ts';
import type { Profile } from './profile.ts';

export type Decision =
  | { readonly type: 'placed'; readonly node: NodeInfo }
  | { readonly type: 'rejected'; readonly diagnosis: Diagnosis; readonly filters: Filters }
  | { readonly type: 'no nodes' };

/** Nodes that pass all filters. */
export type Feasible = {
  readonly type: 'feasible';
  readonly nodes: readonly NodeInfo[];
  /** Rejections of the other evaluated nodes. */
  readonly diagnosis: Diagnosis;
  readonly filters: Filters;
  readonly memo: NodeMemo | undefined;
};

/** Inputs of a decision besides the Pod and its profile. */
export type SchedulingState = {
  readonly cluster: ClusterView;
  readonly nominations: Nominations;
  readonly random: Random;
  /** Memoized results of equivalent Pods; disabled if omitted. */
  readonly memory?: EquivalenceCache;
  /** Index of the node at which the search starts, so that all nodes are evaluated in turn. */
  readonly start: number;
};

/** A decision, and the start of the next search. */
export type Outcome = { readonly decision: Decision; readonly nextStart: number };

export function decide(profile: Profile, pod: PodInfo, state: SchedulingState): Outcome {
  const { found, nextStart } = findFeasible(profile, pod, state);
  if (found.type !== 'feasible') return { decision: found, nextStart };
  return { decision: { type: 'placed', node: chooseNode(profile, pod, found, state) }, nextStart };
}

/** Finds the nodes that pass all filters. */
export function findFeasible(
  profile: Profile,
  pod: PodInfo,
  state: SchedulingState,
): { readonly found: Feasible | Exclude<Decision, { type: 'placed' }>; readonly nextStart: number } {
  const { cluster, nominations, start } = state;
  const nodeCount = cluster.nodes.length;
  if (nodeCount === 0) return { found: { type: 'no nodes' }, nextStart: start };

  const memo = state.memory?.of(profile, pod);
  const { filters, rejection, nodeNames, narrowedBy } = prepareFilters(profile.filters, pod, cluster, memo);
  if (rejection) {
    // A plugin that rejects every node without preemption is reported alone.
    const reportedPlugins = rejection.plugin && !rejection.isPreemptable ? [] : narrowedBy;
    const plugins = new Set([...reportedPlugins, rejection.plugin].filter((name) => name !== ''));
    const preFilterMessage = rejection.reasons.join(', ');
    const diagnosis = { nodeCount, rejections: new Map(), absent: rejection, preFilterMessage, plugins };
    return { found: { type: 'rejected', diagnosis, filters }, nextStart: start };
  }

  const rejections = new Map<string, Rejection>();
  const check = (node: NodeInfo): boolean => {
    const against = checkWithNominated(filters, pod, node, nominations);
    if (against) rejections.set(node.name, against);
    return !against;
  };
  const absent = nodeNames ? excludedByName(narrowedBy) : unexamined;
  const foundOn = (nodes: readonly NodeInfo[]): Feasible | Exclude<Decision, { type: 'placed' }> => {
    const plugins = new Set([...narrowedBy, ...Array.from(rejections.values(), ({ plugin }) => plugin)]);
    const diagnosis = { nodeCount, rejections, absent, plugins };
    if (nodes.length === 0) return { type: 'rejected', diagnosis, filters };
    return { type: 'feasible', nodes, diagnosis, filters, memo };
  };

  // Victims were evicted from the nominated node, so it is most likely the only feasible one.
  const nominated = cluster.node(pod.pod.status?.nominatedNodeName ?? '');
  if (nominated && check(nominated)) return { found: foundOn([nominated]), nextStart: start };

  const candidates = nodeNames ? [...nodeNames].flatMap((name) => cluster.node(name) ?? []) : cluster.nodes;
  const nodes = search(candidates, start, feasibleNodesToFind(profile, candidates.length), check);
  return { found: foundOn(nodes), nextStart: (start + nodes.length + rejections.size) % nodeCount };
}

/** Selects the best feasible node; `bonus` contains the scores of extenders. */
export function chooseNode(
  profile: Profile,
  pod: PodInfo,
  { nodes, memo }: Feasible,
  { cluster, random }: SchedulingState,
  bonus?: ReadonlyMap<string, number>,
): NodeInfo {
  const [only, second] = nodes;
  if (only && !second) return only;
  const scores = scoreNodes(profile, pod, cluster, nodes, memo);
  if (bonus) for (const [index, { name }] of nodes.entries()) scores[index]! += bonus.get(name) ?? 0;
  return nodes[pickBest(scores, random)]!;
}

function excludedByName(plugins: readonly string[]): Rejection {
  const reason = `node(s) didn't satisfy plugin(s) [${[...plugins].sort().join(' ')}]`;
  return { plugin: '', isPreemptable: false, reasons: [reason] };
}

/** Returns the feasible nodes, starting at `start` with wrap-around, until enough are found. */
function search(
  nodes: readonly NodeInfo[],
  start: number,
  wanted: number,
  check: (node: NodeInfo) => boolean,
): readonly NodeInfo[] {
  const feasible: NodeInfo[] = [];
  const count = nodes.length;
  for (let index = 0; index < count && feasible.length < wanted; index++) {
    const node = nodes[(start + index) % count]!;
    if (check(node)) feasible.push(node);
  }
  return feasible;
}

/** Minimum number of feasible nodes to find; smaller clusters are searched completely. */
const minFeasibleNodes = 100;
const smallestPercentage = 5;

/** Returns the number of feasible nodes to find. */
export function feasibleNodesToFind({ percentageOfNodesToScore, scorers }: Profile, nodeCount: number): number {
  if (scorers.length === 0) return 1;
  if (nodeCount < minFeasibleNodes) return nodeCount;
  const adaptive = Math.max(50 - Math.trunc(nodeCount / 125), smallestPercentage);
  const percentage = percentageOfNodesToScore || adaptive;
  return Math.max(Math.trunc((nodeCount * percentage) / 100), minFeasibleNodes);
}

/** Returns the index of a random one of the highest scores. */
function pickBest(scores: Float64Array, random: Random): number {
  let best = 0;
  let ties = 1;
  for (let index = 1; index < scores.length; index++) {
    if (scores[index]! > scores[best]!) {
      best = index;
      ties = 1;
    } else if (scores[index] === scores[best] && randomInteger(random, ++ties) === 0) {
      best = index;
    }
  }
  return best;
}

/** Returns the weighted sum of all scores, in the order of the nodes. */
function scoreNodes(
  { scorers }: Profile,
  pod: PodInfo,
  cluster: ClusterView,
  nodes: readonly NodeInfo[],
  memo: NodeMemo | undefined,
): Float64Array {
  const count = nodes.length;
  const totals = new Float64Array(count);
  const scores = new Float64Array(count);
  const known = memo && nodes.map(memo.on);
  for (const [place, { plugin, weight }] of scorers.entries()) {
    const scorer = plugin.score?.(pod, cluster, nodes);
    if (!scorer) continue;
    if (known && plugin.isLocal) {
      for (let index = 0; index < count; index++) {
        scores[index] = known[index]!.scores[place] ??= scorer.score(nodes[index]!);
      }
    } else {
      for (let index = 0; index < count; index++) scores[index] = scorer.score(nodes[index]!);
    }
    scorer.normalize?.(scores);
    for (let index = 0; index < count; index++) totals[index]! += weight * scores[index]!;
  }
  return totals;
}
