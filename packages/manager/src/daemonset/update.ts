/** Rolling update of a DaemonSet: recreates outdated Pods or updates them in place. */
import type { Pod } from '@kruise/api/core/pod';
import { selectorOf } from '@kruise/machinery/label-selector';
import { compareStrings } from '@kruise/values/go-syntax';
import { type NodeState, statesOf } from '@kruise/workload-kit/daemonset/rolling-update';
import { updateBudget } from '@kruise/workload-kit/daemonset/state';
import { isUpdateRefused } from './in-place.ts';
import { partitionOf } from './numbers.ts';
import { isAvailable, isPreDeleting, type State } from './state.ts';

/** Outdated Pods to replace, nodes that get a surge Pod beside the old Pod, and Pods to delete. */
export type UpdateStep = {
  readonly replaced: readonly Pod[];
  readonly starts: readonly string[];
  readonly stops: readonly Pod[];
};

export function updateStep(state: State): UpdateStep {
  const { set, nodes, placement } = state;
  const wanted = nodes.filter((node) => placement(node).shouldRun).length;
  const { maxSurge, maxUnavailable } = updateBudget(set, wanted);
  const { due, others } = nodesToUpdate(state);
  if (maxSurge > 0) return surge(state, due, maxSurge);
  return replace(state, due, maxUnavailable - countUnavailable(state, others));
}

type NodeSelection = { readonly due: readonly NodeState[]; readonly others: readonly NodeState[] };

/**
 * Returns the nodes whose Pods may be updated, within the partition: updated and updating nodes first, then nodes that
 * the selector matches.
 */
function nodesToUpdate(state: State): NodeSelection {
  const { set, nodes, placement, settings } = state;
  const byName = new Map(nodes.map((node) => [node.metadata.name ?? '', node]));
  const wanted = nodes.filter((node) => placement(node).shouldRun);
  const eligible = settings.gates.DaemonSetPruneIneligibleNodes
    ? new Set(wanted.map(({ metadata }) => metadata.name ?? ''))
    : byName;
  const states = statesOf(state, wanted)
    .filter(({ name }) => eligible.has(name))
    .sort((a, b) => compareStrings(b.name, a.name));
  const isUpdated = ({ newPod, hasSurplus }: NodeState) => hasSurplus || newPod !== undefined;
  const isUpdating = (state: NodeState) => !isUpdated(state) && !isStaying(state.oldPod);
  const rest = states.filter((state) => !isUpdated(state) && !isUpdating(state));
  const { selector: chosen } = set.spec.updateStrategy?.rollingUpdate ?? {};
  const selector = chosen && selectorOf(chosen);
  const next = selector ? rest.filter(({ name }) => selector.matches(byName.get(name)?.metadata.labels)) : rest;
  const limit = Math.max(0, states.length - partitionOf(set));
  const due = [...states.filter(isUpdated), ...states.filter(isUpdating), ...next].slice(0, limit);
  const isDue = new Set(due);
  return { due, others: states.filter((state) => !isDue.has(state)) };
}

/**
 * Counts the nodes outside of the update that need a Pod and have no available Pod. OpenKruise does not count these
 * nodes and disrupts another node in addition.
 */
function countUnavailable(state: State, states: readonly NodeState[]): number {
  const { nodes, placement } = state;
  const fitting = new Set(nodes.filter((node) => placement(node).shouldRun).map(({ metadata }) => metadata.name));
  const isServing = (pod: Pod | undefined) => isStaying(pod) && isAvailable(pod, state);
  return states.filter(({ name, newPod, oldPod }) => fitting.has(name) && !isServing(newPod) && !isServing(oldPod))
    .length;
}

function isStaying(pod: Pod | undefined): pod is Pod {
  return pod !== undefined && !isPreDeleting(pod);
}

/**
 * Unavailable old Pods are replaced in any case, others as long as enough nodes have an available Pod. The unavailable
 * old Pods count: OpenKruise does not count them and disrupts as many more nodes.
 */
function replace(state: State, states: readonly NodeState[], maxUnavailable: number): UpdateStep {
  const broken: Pod[] = [];
  const candidates: Pod[] = [];
  let unavailable = 0;
  for (const { newPod, oldPod, hasSurplus } of states) {
    if (oldPod && !newPod && isUpdateRefused(state, oldPod)) unavailable += Number(!isAvailable(oldPod, state));
    else if (hasSurplus || isStaying(oldPod) === isStaying(newPod)) unavailable++;
    else if (newPod) unavailable += Number(!isAvailable(newPod, state)) + Number(isPreDeleting(newPod));
    else if (!isAvailable(oldPod!, state)) broken.push(oldPod!);
    else candidates.push(oldPod!);
  }
  const room = Math.max(0, maxUnavailable - unavailable - broken.length);
  return { replaced: [...broken, ...candidates.slice(0, room)], starts: [], stops: [] };
}

/** Creates surge Pods beside old Pods, and deletes an old Pod when its replacement is available. */
function surge(state: State, states: readonly NodeState[], maxSurge: number): UpdateStep {
  const { nodes, placement } = state;
  const fitting = new Set(nodes.filter((node) => placement(node).shouldRun).map(({ metadata }) => metadata.name));
  const starts: string[] = [];
  const candidates: string[] = [];
  const stops: Pod[] = [];
  let surging = 0;
  for (const { name, newPod, oldPod, hasSurplus } of states) {
    if (hasSurplus) surging++;
    else if (!isStaying(oldPod)) continue;
    else if (!newPod) {
      // No new Pod can start on a node that only tolerates its existing Pods.
      if (fitting.has(name)) (isAvailable(oldPod, state) ? candidates : starts).push(name);
    } else if (isAvailable(newPod, state) && !isPreDeleting(newPod)) stops.push(oldPod);
    else surging++;
  }
  const room = Math.max(0, maxSurge - surging);
  return { replaced: [], starts: [...starts, ...candidates.slice(0, room)], stops };
}
