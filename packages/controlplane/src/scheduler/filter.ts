/** All filters of a profile together, for one Pod. */
import type { ClusterView } from './cluster/cluster.ts';
import { copyNodeInfo, type NodeInfo, putPod } from './cluster/node-info.ts';
import type { PodInfo } from './cluster/pod-info.ts';
import type { Recollection } from './memory.ts';
import type { ChangeableFilter, NodeFilter, Plugin, Rejection } from './plugin.ts';

/** Judges nodes by every filter, in turn, until one is against it. */
export type Filters = {
  check(node: NodeInfo): Rejection | undefined;
  /** The same filters, which can be told of Pods that come and go. */
  fork(): ChangeableFilters;
};
export type ChangeableFilters = Filters & { change(pod: PodInfo, node: NodeInfo, by: 1 | -1): void };

export type Preparation = {
  readonly filters: Filters;
  /** What speaks against all nodes, if anything does. */
  readonly rejection: Rejection | undefined;
  /** The only nodes that can do, and the plugins that say so. */
  readonly nodeNames: ReadonlySet<string> | undefined;
  readonly narrowedBy: readonly string[];
};

/** Has every plugin look at the Pod, until one is against it for good. */
export function prepareFilters(
  plugins: readonly Plugin[],
  pod: PodInfo,
  cluster: ClusterView,
  recollection?: Recollection,
): Preparation {
  const filters: NodeFilter[] = [];
  // Those that judge a node by itself come first; what they say together is remembered.
  let localCount = 0;
  const narrowedBy: string[] = [];
  let nodeNames: ReadonlySet<string> | undefined;
  let rejection: Rejection | undefined;
  for (const { name, isLocal, filter } of plugins) {
    const prepared = filter?.(pod, cluster);
    if (!prepared) continue;
    if ('rejection' in prepared) {
      rejection = prepared.rejection;
      // Where preempting others may help, the other filters are needed to find out whom.
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
    // No plugin of its own is blamed; those that named nodes are.
    rejection = { plugin: '', isPreemptable: false, reasons: [`node(s) didn't satisfy ${named}`] };
    break;
  }
  const all = together(filters);
  const remembering = recollection && remembered(filters.slice(0, localCount), filters.slice(localCount), recollection);
  return { filters: { ...all, ...(remembering ? { check: remembering } : {}) }, rejection, nodeNames, narrowedBy };
}

/** Asks the first filters only where it is not known what they say. */
function remembered(first: readonly NodeFilter[], others: readonly NodeFilter[], { on }: Recollection) {
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

/** The Pods that are to come to a node once others have made room for them. */
export type Nominations = { onNode(name: string): readonly PodInfo[] };

/**
 * Judges a node also as if the Pods of no less importance were on it that are to come: the Pod must not take the place
 * that was made for them, and must not rely on their coming either.
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
    const crowded = copyNodeInfo(node);
    const forked = filters.fork();
    for (const each of coming) {
      putPod(crowded, each);
      forked.change(each, crowded, 1);
    }
    const rejection = forked.check(crowded);
    if (rejection) return rejection;
  }
  return filters.check(node);
}

function isAhead(other: PodInfo, pod: PodInfo): boolean {
  return other.priority >= pod.priority && other.uid !== pod.uid;
}
