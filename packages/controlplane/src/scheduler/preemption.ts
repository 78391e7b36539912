/**
 * Selects preemption victims. On each node that would be feasible without lower-priority Pods, the fewest victims are
 * selected; of all such nodes, the one with the least disruption wins.
 */
import type { Pod } from '@kruise/api/core/pod';
import type { PodDisruptionBudget } from '@kruise/api/policy/poddisruptionbudget';
import { selectorOf } from '@kruise/machinery/label-selector';
import { type Random, randomInteger } from '@kruise/values/random';
import { type Instant, parseTime } from '@kruise/values/time';
import type { ClusterView } from './cluster/cluster.ts';
import { addPod, copyNodeInfo, hasLowerPriorityPods, type NodeInfo, removePod } from './cluster/node-info.ts';
import type { PodInfo } from './cluster/pod-info.ts';
import { type Diagnosis, messageOf, rejectionOf } from './diagnosis.ts';
import { checkWithNominated, type Filters, type Nominations } from './filter.ts';
import type { Rejection } from './plugin.ts';

/** A node and its victims, in descending order of priority. */
export type Candidate = {
  readonly node: string;
  readonly victims: readonly PodInfo[];
  /** Number of victims whose disruption budget would be violated. */
  readonly violations: number;
};

export type Preemption =
  | { readonly type: 'found'; readonly candidates: readonly Candidate[] }
  | {
      readonly type: 'none';
      readonly message: string;
      /** The Pod keeps its nominated node, if it has one. */
      readonly keepsNomination: boolean;
    };

export type PreemptionArgs = {
  /** Number of candidate nodes to find: a percentage of the nodes, but at least an absolute number. */
  readonly minCandidateNodesPercentage?: number;
  readonly minCandidateNodesAbsolute?: number;
};

export type PreemptionState = {
  readonly cluster: ClusterView;
  readonly nominations: Nominations;
  readonly budgets: readonly PodDisruptionBudget[];
  readonly random: Random;
  readonly now: Instant;
};

const plugin = 'DefaultPreemption';
const noVictims: Rejection = {
  plugin,
  isPreemptable: false,
  reasons: ['No preemption victims found for incoming pod'],
};
const notHelpful: Rejection = { plugin, isPreemptable: false, reasons: ['Preemption is not helpful for scheduling'] };

/** Finds preemption candidates for a Pod that fits on no node. */
export function findPreemption(
  pod: PodInfo,
  diagnosis: Diagnosis,
  filters: Filters,
  state: PreemptionState,
  args: PreemptionArgs = {},
): Preemption {
  const { cluster, random } = state;
  const ineligibility = ineligibilityOf(pod, diagnosis, cluster);
  if (ineligibility) return { type: 'none', message: ineligibility, keepsNomination: true };

  const nodes = cluster.nodes.filter(({ name }) => rejectionOf(diagnosis, name).isPreemptable);
  const wanted = candidatesWanted(nodes.length, args);
  const rejections = new Map<string, Rejection>();
  const harmless: Candidate[] = [];
  const violating: Candidate[] = [];
  const start = nodes.length === 0 ? 0 : randomInteger(random, nodes.length);
  for (let index = 0; index < nodes.length; index++) {
    const node = nodes[(start + index) % nodes.length]!;
    const candidate = selectVictims(pod, node, filters, state);
    if ('reasons' in candidate) rejections.set(node.name, candidate);
    else (candidate.violations === 0 ? harmless : violating).push(candidate);
    if (harmless.length > 0 && harmless.length + violating.length >= wanted) break;
  }

  const candidates = [...harmless, ...violating];
  if (candidates.length === 0) {
    const failedDiagnosis = {
      nodeCount: cluster.nodes.length,
      rejections,
      absent: notHelpful,
      plugins: new Set<string>(),
    };
    return { type: 'none', message: messageOf(failedDiagnosis), keepsNomination: false };
  }
  return { type: 'found', candidates };
}

/** Returns why the Pod must not preempt others. */
function ineligibilityOf(pod: PodInfo, diagnosis: Diagnosis, cluster: ClusterView): string | undefined {
  if (pod.spec.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  const nominated = pod.pod.status?.nominatedNodeName;
  if (!nominated || !rejectionOf(diagnosis, nominated).isPreemptable) return undefined;
  for (const other of cluster.node(nominated)?.pods.values() ?? []) {
    if (other.priority < pod.priority && isBeingPreempted(other.pod)) {
      return 'not eligible due to a terminating pod on the nominated node.';
    }
  }
  return undefined;
}

function isBeingPreempted({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp == null) return false;
  const target = status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  return target?.status === 'True' && target.reason === 'PreemptionByScheduler';
}

function candidatesWanted(nodeCount: number, args: PreemptionArgs): number {
  const { minCandidateNodesPercentage = 10, minCandidateNodesAbsolute = 100 } = args;
  const part = Math.trunc((nodeCount * minCandidateNodesPercentage) / 100);
  return Math.min(Math.max(part, minCandidateNodesAbsolute), nodeCount);
}

/** Selects the victims on a node, or returns why preemption does not help. */
function selectVictims(
  pod: PodInfo,
  node: NodeInfo,
  filters: Filters,
  { nominations, budgets, now }: PreemptionState,
): Candidate | Rejection {
  if (!hasLowerPriorityPods(node, pod.priority)) return noVictims;
  const lowerPriorityPods = [...node.pods.values()].filter(({ priority }) => priority < pod.priority);
  const tried = copyNodeInfo(node);
  const forked = filters.fork();
  const leave = (other: PodInfo) => {
    removePod(tried, other.uid);
    forked.change(other, tried, -1);
  };
  const stay = (other: PodInfo) => {
    addPod(tried, other);
    forked.change(other, tried, 1);
  };
  const check = () => checkWithNominated(forked, pod, tried, nominations);

  for (const each of lowerPriorityPods) leave(each);
  const rejection = check();
  if (rejection) return rejection;

  // Pods are reprieved in descending order of importance.
  const byImportance = lowerPriorityPods.toSorted((a, b) => compareImportance(a, b, now));
  const { violating, harmless } = splitByBudgets(byImportance, budgets);
  const isVictim = (other: PodInfo): boolean => {
    stay(other);
    if (!check()) return false;
    leave(other);
    return true;
  };
  const violated = violating.filter(isVictim);
  const victims = [...violated, ...harmless.filter(isVictim)].sort((a, b) => compareImportance(a, b, now));
  if (victims.length === 0)
    return { ...noVictims, reasons: [`expected at least one victim pod on node "${node.name}"`] };
  return { node: node.name, victims, violations: violated.length };
}

/**
 * Splits Pods into those whose eviction would violate a disruption budget, after the ones before them, and the others.
 */
function splitByBudgets(pods: readonly PodInfo[], budgets: readonly PodDisruptionBudget[]) {
  const left = budgets.map((budget) => ({
    budget,
    selector: selectorOf(budget.spec?.selector),
    allowed: budget.status?.disruptionsAllowed ?? 0,
  }));
  const violating: PodInfo[] = [];
  const harmless: PodInfo[] = [];
  for (const pod of pods) {
    let isViolated = false;
    const isLabelled = Object.keys(pod.labels ?? {}).length > 0;
    for (const each of isLabelled ? left : []) {
      const { metadata, status } = each.budget;
      if (metadata.namespace !== pod.namespace) continue;
      if (each.selector.requirements.length === 0 || !each.selector.matches(pod.labels)) continue;
      // The Pod is already being disrupted and counted.
      if (status?.disruptedPods && pod.name in status.disruptedPods) continue;
      each.allowed--;
      if (each.allowed < 0) isViolated = true;
    }
    (isViolated ? violating : harmless).push(pod);
  }
  return { violating, harmless };
}

function compareImportance(a: PodInfo, b: PodInfo, now: Instant): number {
  return b.priority - a.priority || startOf(a, now) - startOf(b, now);
}

/** Returns the start time of a Pod. A Pod that has not started counts as the latest. */
function startOf({ pod }: PodInfo, now: Instant): Instant {
  return pod.status?.startTime ? parseTime(pod.status.startTime) : now;
}

/** A priority is a signed 32-bit number; with the offset, fewer victims always have a lower sum. */
const priorityOffset = 2 ** 31;

/** Returns the candidate with the least disruption: each criterion breaks the ties of the ones before. */
export function selectCandidate(candidates: readonly Candidate[], now: Instant): Candidate {
  const measures: readonly ((candidate: Candidate) => number)[] = [
    ({ violations }) => violations,
    ({ victims }) => victims[0]!.priority,
    ({ victims }) => victims.reduce((sum, { priority }) => sum + priority + priorityOffset, 0),
    ({ victims }) => victims.length,
    // Prefers the latest start time, which loses the least work.
    ({ victims }) => {
      const [{ priority }] = victims as readonly [PodInfo];
      const starts = victims.filter((each) => each.priority === priority).map((each) => startOf(each, now));
      return -Math.min(...starts);
    },
  ];
  let left = candidates;
  for (const measure of measures) {
    if (left.length === 1) break;
    const values = left.map(measure);
    const least = Math.min(...values);
    left = left.filter((_, index) => values[index] === least);
  }
  return left[0]!;
}
