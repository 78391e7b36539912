/**
 * PodTopologySpread plugin: spreads Pods over topology domains (zones, nodes, or any other node label): strictly with
 * DoNotSchedule, otherwise by score. Pods of Services and workloads are spread by default constraints.
 */
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type { TopologySpreadConstraint } from '@kruise/api/core/pod-spec';
import { isSame } from '@kruise/machinery/json-value';
import {
  compile,
  type Labels,
  nothing,
  type Requirement,
  type Selector,
  selectorOf,
} from '@kruise/machinery/label-selector';
import { type NodePredicate, requiredNodes } from '@kruise/machinery/node-affinity';
import { controllerOf } from '@kruise/machinery/owner-references';
import { findUntolerated, forbiddingEffects } from '@kruise/machinery/tolerations';
import type { ClusterView } from '../cluster/cluster.ts';
import type { Lookup, WorkloadKind } from '../cluster/lookup.ts';
import type { NodeInfo } from '../cluster/node-info.ts';
import type { PodInfo } from '../cluster/pod-info.ts';
import type { PodQuery, Tally } from '../cluster/tally.ts';
import type { ClusterEvent } from '../events.ts';
import { type ForkableFilter, maxNodeScore, type NodeScorer, type Plugin, type Rejection } from '../plugin.ts';

const name = 'PodTopologySpread';
const hostname = 'kubernetes.io/hostname';
const reason = "node(s) didn't match pod topology spread constraints";
const skewTooLarge: Rejection = { plugin: name, isPreemptable: true, reasons: [reason] };
const unlabelled: Rejection = { plugin: name, isPreemptable: false, reasons: [`${reason} (missing required label)`] };

export type PodTopologySpreadArgs = {
  /** Constraints of Pods without their own, if `defaultingType` is `List`. */
  readonly defaultConstraints?: readonly TopologySpreadConstraint[];
  readonly defaultingType?: 'System' | 'List';
};

const systemDefaults: readonly TopologySpreadConstraint[] = [
  { topologyKey: hostname, whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 3 },
  { topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 5 },
];

export function podTopologySpread(lookup: Lookup, args: PodTopologySpreadArgs = {}): Plugin {
  const isSystemDefaulted = (args.defaultingType ?? 'System') === 'System';
  const defaults = isSystemDefaulted ? systemDefaults : (args.defaultConstraints ?? []);

  const constraintsOf = (
    pod: PodInfo,
    action: TopologySpreadConstraint['whenUnsatisfiable'],
  ): readonly Constraint[] => {
    const own = pod.spec.topologySpreadConstraints;
    const wanted = (own?.length ? own : defaults).filter(({ whenUnsatisfiable }) => whenUnsatisfiable === action);
    if (wanted.length === 0) return none;
    if (own?.length) return wanted.map((each) => constraintOf(each, pod.labels));
    const selector = defaultSelector(pod, lookup);
    return selector ? wanted.map((each) => ({ ...constraintOf(each, pod.labels), selector })) : none;
  };

  return {
    name,
    filter(pod, cluster) {
      const constraints = constraintsOf(pod, 'DoNotSchedule');
      return constraints.length === 0 ? undefined : { filter: createFilter(pod, constraints, cluster) };
    },
    score(pod, cluster, nodes) {
      const constraints = constraintsOf(pod, 'ScheduleAnyway');
      // With the system defaults, a node without a zone label is not excluded.
      const needsAllKeys = Boolean(pod.spec.topologySpreadConstraints?.length) || !isSystemDefaulted;
      return constraints.length === 0 ? undefined : createScorer(pod, constraints, cluster, nodes, needsAllKeys);
    },
    events: [
      {
        resource: 'Pod',
        actions: ['Add', 'Delete', 'UpdatePodLabel', 'UpdatePodToleration'],
        helps: (pod, event) => podQueueingHint(pod, event as ClusterEvent<Pod>, constraintsOf(pod, 'DoNotSchedule')),
      },
      {
        resource: 'Node',
        actions: ['Add', 'Delete', 'UpdateNodeLabel', 'UpdateNodeTaint'],
        helps: (pod, event) => nodeQueueingHint(event as ClusterEvent<Node>, constraintsOf(pod, 'DoNotSchedule')),
      },
    ],
  };
}

type Constraint = {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly selector: Selector;
  readonly minDomains: number;
  /** Nodes that the Pod does not select, or does not tolerate, are not counted. */
  readonly honorsAffinity: boolean;
  readonly honorsTaints: boolean;
};

const none: readonly Constraint[] = [];

function constraintOf(constraint: TopologySpreadConstraint, labels: Labels): Constraint {
  const { maxSkew, topologyKey, labelSelector, matchLabelKeys, minDomains } = constraint;
  return {
    maxSkew,
    topologyKey,
    selector: narrowed(selectorOf(labelSelector), matchLabelKeys ?? [], labels),
    minDomains: minDomains ?? 1,
    honorsAffinity: (constraint.nodeAffinityPolicy ?? 'Honor') === 'Honor',
    honorsTaints: constraint.nodeTaintsPolicy === 'Honor',
  };
}

/** Restricts a selector to Pods with the same values of these labels as the Pod. */
function narrowed(selector: Selector, keys: readonly string[], labels: Labels): Selector {
  if (selector === nothing) return selector;
  const shared = keys.flatMap((key) => (labels?.[key] === undefined ? [] : equal(key, labels[key])));
  return shared.length === 0 ? selector : compile([...shared, ...selector.requirements]);
}

function equal(key: string, value: string): Requirement {
  return { key, operator: '=', values: [value] };
}

const workloads: ReadonlyMap<string, WorkloadKind> = new Map([
  ['v1/ReplicationController', 'ReplicationController'],
  ['apps/v1/ReplicaSet', 'ReplicaSet'],
  ['apps/v1/StatefulSet', 'StatefulSet'],
]);

/** Returns the selector of the Services and the workload of a Pod; undefined without any. */
function defaultSelector(pod: PodInfo, lookup: Lookup): Selector | undefined {
  const labels = new Map<string, string>();
  for (const { spec } of lookup.services(pod.namespace)) {
    const selected = Object.entries(spec?.selector ?? {});
    if (!spec?.selector || !selected.every(([key, value]) => pod.labels?.[key] === value)) continue;
    for (const [key, value] of selected) labels.set(key, value);
  }
  const requirements = Array.from(labels, ([key, value]) => equal(key, value));
  const owner = controllerOf(pod.pod);
  const kind = owner && workloads.get(`${owner.apiVersion}/${owner.kind}`);
  const selected = kind && lookup.workloadSelector(kind, `${pod.namespace}/${owner.name}`);
  if (selected) requirements.push(...selectorOf(selected).requirements);
  return requirements.length === 0 ? undefined : compile(requirements);
}

/** Returns the query for the counted Pods. An empty selector counts none, although it would select all. */
function queryOf({ selector }: Constraint, { namespace }: PodInfo): PodQuery {
  const isCounting = selector.requirements.length > 0;
  return {
    id: `spread|${namespace}|${isCounting ? selector.text : ''}`,
    namespaces: new Set([namespace]),
    selector,
    matches: isCounting ? ({ isTerminating, labels }) => !isTerminating && selector.matches(labels) : () => false,
  };
}

/** Returns a predicate for the nodes that count for a constraint, besides their labels; undefined if all do. */
function inclusion(pod: PodInfo, constraint: Constraint, isSelected: NodePredicate | undefined) {
  const honorsAffinity = constraint.honorsAffinity && isSelected !== undefined;
  if (!honorsAffinity && !constraint.honorsTaints) return undefined;
  return ({ node, taints }: NodeInfo): boolean => {
    if (!node || (honorsAffinity && !isSelected(node))) return false;
    return !constraint.honorsTaints || !findUntolerated(taints, pod.spec.tolerations, forbiddingEffects);
  };
}

function hasAllKeys(constraints: readonly Constraint[], labels: Labels): boolean {
  return constraints.every(({ topologyKey }) => labels?.[topologyKey] !== undefined);
}

/** Reports whether every node has the topology key of every constraint. */
function isLabelledThroughout(constraints: readonly Constraint[], cluster: ClusterView): boolean {
  const count = cluster.nodes.length;
  return constraints.every(({ topologyKey }) => {
    let nodes = 0;
    for (const each of cluster.domains(topologyKey).values()) nodes += each;
    return nodes === count;
  });
}

/** Number of Pods in each counted domain. */
type DomainCounts = { readonly counts: ReadonlyMap<string, number>; readonly domainCount: number; least: number };

function createFilter(pod: PodInfo, constraints: readonly Constraint[], cluster: ClusterView): ForkableFilter {
  const isSelected = requiredNodes(pod.spec);
  const included = constraints.map((constraint) => inclusion(pod, constraint, isSelected));
  const isWhole = included.every((each) => each === undefined) && isLabelledThroughout(constraints, cluster);
  const domains = constraints.map((constraint, index): DomainCounts => {
    const tally = cluster.tallies.of(queryOf(constraint, pod));
    return isWhole
      ? wholeCounts(tally, cluster.domains(constraint.topologyKey), constraint.topologyKey)
      : partialCounts(tally, constraint.topologyKey, cluster.nodes, (node) => {
          return hasAllKeys(constraints, node.labels) && (included[index]?.(node) ?? true);
        });
  });
  return filterOf(pod, constraints, included, domains);
}

/** Counts if all nodes are included: the sums are already aggregated. */
function wholeCounts(tally: Tally, domains: ReadonlyMap<string, number>, topologyKey: string): DomainCounts {
  const counts = tally.byDomain(topologyKey);
  // A domain without an entry has no Pods.
  return { counts, domainCount: domains.size, least: counts.size < domains.size ? 0 : leastOf(counts) };
}

function partialCounts(
  tally: Tally,
  topologyKey: string,
  nodes: readonly NodeInfo[],
  isIncluded: (node: NodeInfo) => boolean,
): DomainCounts {
  const counts = new Map<string, number>();
  for (const node of nodes) {
    if (!isIncluded(node)) continue;
    const domain = node.labels[topologyKey]!;
    counts.set(domain, (counts.get(domain) ?? 0) + (tally.byNode.get(node.name) ?? 0));
  }
  return { counts, domainCount: counts.size, least: leastOf(counts) };
}

function leastOf(counts: ReadonlyMap<string, number>): number {
  let least = Number.POSITIVE_INFINITY;
  for (const count of counts.values()) if (count < least) least = count;
  return least;
}

function filterOf(
  pod: PodInfo,
  constraints: readonly Constraint[],
  included: readonly (((node: NodeInfo) => boolean) | undefined)[],
  domains: readonly DomainCounts[],
): ForkableFilter {
  const own = constraints.map(({ selector }) => (selector.matches(pod.labels) ? 1 : 0));
  return {
    check({ labels }) {
      for (let index = 0; index < constraints.length; index++) {
        const { topologyKey, maxSkew, minDomains } = constraints[index]!;
        const { counts, domainCount, least } = domains[index]!;
        const domain = labels[topologyKey];
        if (domain === undefined) return unlabelled;
        const fewest = domainCount < minDomains ? 0 : least;
        if ((counts.get(domain) ?? 0) + own[index]! - fewest > maxSkew) return skewTooLarge;
      }
      return undefined;
    },
    fork() {
      const copies = domains.map((each) => ({ ...each, counts: new Map(each.counts) }));
      return {
        ...filterOf(pod, constraints, included, copies),
        change(changed, node, by) {
          if (changed.namespace !== pod.namespace || !hasAllKeys(constraints, node.labels)) return;
          for (const [index, { topologyKey, selector }] of constraints.entries()) {
            if (!selector.matches(changed.labels) || included[index]?.(node) === false) continue;
            const copy = copies[index]!;
            const domain = node.labels[topologyKey]!;
            copy.counts.set(domain, (copy.counts.get(domain) ?? 0) + by);
            copy.least = copy.counts.size < copy.domainCount ? 0 : leastOf(copy.counts);
          }
        },
      };
    },
  };
}

function createScorer(
  pod: PodInfo,
  constraints: readonly Constraint[],
  cluster: ClusterView,
  nodes: readonly NodeInfo[],
  needsAllKeys: boolean,
): NodeScorer {
  const isSelected = requiredNodes(pod.spec);
  const isIgnored = (node: NodeInfo) => needsAllKeys && !hasAllKeys(constraints, node.labels);
  const ignored = nodes.map(isIgnored);
  const ignoredCount = ignored.filter(Boolean).length;
  const isWhole = !needsAllKeys || isLabelledThroughout(constraints, cluster);

  const parts = constraints.map((constraint) => {
    const { topologyKey, maxSkew } = constraint;
    const tally = cluster.tallies.of(queryOf(constraint, pod));
    if (topologyKey === hostname) {
      return { topologyKey, skew: maxSkew - 1, weight: weightFor(nodes.length - ignoredCount), countOn: byNode(tally) };
    }
    const domains = new Set<string>();
    for (const [index, { labels }] of nodes.entries()) if (!ignored[index]) domains.add(labels[topologyKey] ?? '');
    const isIncluded = inclusion(pod, constraint, isSelected);
    const counts =
      isWhole && !isIncluded
        ? tally.byDomain(topologyKey)
        : partialCounts(tally, topologyKey, cluster.nodes, (node) => {
            return node.labels[topologyKey] !== undefined && !isIgnored(node) && (isIncluded?.(node) ?? true);
          }).counts;
    const countOn = ({ labels }: NodeInfo) => counts.get(labels[topologyKey]!) ?? 0;
    return { topologyKey, skew: maxSkew - 1, weight: weightFor(domains.size), countOn };
  });

  return {
    score(node) {
      if (isIgnored(node)) return 0;
      let score = 0;
      for (const { topologyKey, skew, weight, countOn } of parts) {
        if (node.labels[topologyKey] !== undefined) score += countOn(node) * weight + skew;
      }
      return Math.round(score);
    },
    normalize(scores) {
      let least = Number.POSITIVE_INFINITY;
      let most = 0;
      for (let index = 0; index < scores.length; index++) {
        if (ignored[index]) continue;
        least = Math.min(least, scores[index]!);
        most = Math.max(most, scores[index]!);
      }
      for (let index = 0; index < scores.length; index++) {
        if (ignored[index]) scores[index] = 0;
        else if (most === 0) scores[index] = maxNodeScore;
        else scores[index] = Math.trunc((maxNodeScore * (most + least - scores[index]!)) / most);
      }
    },
  };
}

function byNode({ byNode: counts }: Tally) {
  return ({ name: node }: NodeInfo) => counts.get(node) ?? 0;
}

/**
 * Returns the weight of a constraint, which grows with the number of domains: with few domains, each has many Pods
 * anyway.
 */
function weightFor(domainCount: number): number {
  return Math.log(domainCount + 2);
}

function podQueueingHint(
  pod: PodInfo,
  { before, after }: ClusterEvent<Pod>,
  constraints: readonly Constraint[],
): boolean {
  const isInvolved = (other: Pod) =>
    other.metadata.uid === pod.uid || (Boolean(other.spec?.nodeName) && other.metadata.namespace === pod.namespace);
  if ((before && !isInvolved(before)) || (after && !isInvolved(after))) return false;
  const matches = ({ selector }: Constraint, { metadata }: Pod) => selector.matches(metadata.labels);
  if (before && after) {
    const hasNewToleration =
      after.metadata.uid === pod.uid && !isSame(before.spec?.tolerations, after.spec?.tolerations);
    if (hasNewToleration && constraints.some(({ honorsTaints }) => honorsTaints)) return true;
    return constraints.some((constraint) => matches(constraint, before) !== matches(constraint, after));
  }
  const changed = after ?? before;
  return changed !== undefined && constraints.some((constraint) => matches(constraint, changed));
}

function nodeQueueingHint({ before, after }: ClusterEvent<Node>, constraints: readonly Constraint[]): boolean {
  const counts = (node: Node | undefined) => node !== undefined && hasAllKeys(constraints, node.metadata.labels);
  if (counts(before) !== counts(after)) return true;
  if (!before || !after || !counts(after)) return false;
  const isMoved = constraints.some(
    ({ topologyKey }) => before.metadata.labels?.[topologyKey] !== after.metadata.labels?.[topologyKey],
  );
  return isMoved || !isSame(before.spec?.taints, after.spec?.taints);
}
