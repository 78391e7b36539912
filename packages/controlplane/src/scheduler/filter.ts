/** All filters of a profile for one Pod. */
import type { ClusterView } from './cluster/cluster.ts';
import { addPod, copyNodeInfo, type NodeInfo } from './cluster/node-info.ts';
import type { PodInfo } from './cluster/pod-info.ts';
import type { NodeMemo } from './equivalence-cache.ts';
import type { ChangeableFilter, NodeFilter, Plugin, Rejection } from './plugin.ts';

/** Evaluates all filters on a node until one rejects it. */
export type Filters = {
  check(node: NodeInfo): Rejection | undefined;
  /** Copies the filters for a simulation with added and removed Pods. */
  fork(): ChangeableFilters;
};
export type ChangeableFilters = Filters & { change(pod: PodInfo, node: NodeInfo, by: 1 | -1): void };

export type Preparation = {
  readonly filters: Filters;
  /** Rejection of all nodes, if any. */
  readonly rejection: Rejection | undefined;
  /** The only nodes to evaluate, and the plugins that restricted them. */
  readonly nodeNames: ReadonlySet<string> | undefined;
  readonly narrowedBy: readonly string[];
};

/** Runs all PreFilter plugins until one rejects the Pod. */
export function prepareFilters(
  plugins: readonly Plugin[],
  pod: PodInfo,
  cluster: ClusterView,
  memo?: NodeMemo,
): Preparation {
  const filters: NodeFilter[] = [];
  // Filters that depend on the node alone come first; their combined result is memoized.
  let localCount = 0;
  const narrowedBy: string[] = [];
  let nodeNames: ReadonlySet<string> | undefined;
  let rejection: Rejection | undefined;
  for (const { name, isLocal, filter } of plugins) {
    const prepared = filter?.(pod, cluster);
    if (!prepared) continue;
    if ('rejection' in prepared) {
      rejection = prepared.rejection;
      // If preemption may help, the remaining filters are needed to find victims.
      if (rejection.isPreemptable) continue;
      break;
    }
    filters.push(prepared.filter);
    if (isLocal && localCount === filters.length - 1) localCount++;
    if (!prepared.nodeNames) continue;
    narrowedBy.push(name);
    nodeNames = nodeNames ? nodeNames.intersection(prepared.nodeNames) : prepared.nodeNames;
    if (nodeNames.size > 0) continue;
    const plugins = [...narrowedBy].sort();
    const named = plugins.length === 1 ? `plugin ${plugins[0]}` : `plugin(s) [${plugins.join(' ')}] simultaneously`;
    // No single plugin is reported, but the plugins that restricted the nodes are.
    rejection = { plugin: '', isPreemptable: false, reasons: [`node(s) didn't satisfy ${named}`] };
    break;
  }
  const all = together(filters);
  const memoizedCheck = memo && memoizeFilters(filters.slice(0, localCount), filters.slice(localCount), memo);
  return { filters: { ...all, ...(memoizedCheck ? { check: memoizedCheck } : {}) }, rejection, nodeNames, narrowedBy };
}

/** Evaluates the first filters only if their result is not memoized. */
function memoizeFilters(first: readonly NodeFilter[], others: readonly NodeFilter[], { on }: NodeMemo) {
  const local = together(first);
  const rest = together(others);
  return (node: NodeInfo): Rejection | undefined => {
    const known = on(node);
    if (known.rejection === 'unknown') known.rejection = local.check(node);
    return known.rejection ?? rest.check(node);
  };
}

function together(filters: readonly NodeFilter[]): Filters {
  return {
    check(node) {
      for (const filter of filters) {
        const rejection = filter.check(node);
        if (rejection) return rejection;
      }
      return undefined;
    },
    fork() {
      const forks = filters.map((filter) => filter.fork?.() ?? filter);
      const changeable = forks.filter((fork): fork is ChangeableFilter => 'change' in fork);
      return {
        ...together(forks),
        change(pod, node, by) {
          for (const fork of changeable) fork.change(pod, node, by);
        },
      };
    },
  };
}

/** Pods that are nominated to a node. */
export type Nominations = { onNode(name: string): readonly PodInfo[] };

/**
 * Evaluates a node with and without its nominated Pods of equal or higher priority: the Pod must neither take their
 * place nor depend on them.
 */
export function checkWithNominated(
  filters: Filters,
  pod: PodInfo,
  node: NodeInfo,
  nominations: Nominations,
): Rejection | undefined {
  const nominated = nominations.onNode(node.name);
  const coming = nominated.length === 0 ? nominated : nominated.filter((each) => isAhead(each, pod));
  if (coming.length > 0) {
    const withNominated = copyNodeInfo(node);
    const forked = filters.fork();
    for (const each of coming) {
      addPod(withNominated, each);
      forked.change(each, withNominated, 1);
    }
    const rejection = forked.check(withNominated);
    if (rejection) return rejection;
  }
  return filters.check(node);
}

function isAhead(other: PodInfo, pod: PodInfo): boolean {
  return other.priority >= pod.priority && other.uid !== pod.uid;
}
