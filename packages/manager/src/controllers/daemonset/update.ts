/** Rolling update of a DaemonSet: recreates outdated Pods or updates them in place. */
import type { Pod } from '@kruise/api/core/pod';
import { type NodeState, statesOf } from '@kruise/controlplane/controllers/daemonset/rolling-update';
import { updateBudget } from '@kruise/controlplane/controllers/daemonset/situation';
import { selectorOf } from '@kruise/machinery/label-selector';
import { compareStrings } from '@kruise/values/go-syntax';
import { isHeldBack } from './in-place.ts';
import { partitionOf } from './numbers.ts';
import { isAvailable, isPreDeleting, type Situation } from './situation.ts';

/** Outdated Pods to replace, nodes that get a surge Pod beside the old Pod, and Pods to delete. */
export type UpdateStep = {
  readonly replaced: readonly Pod[];
  readonly starts: readonly string[];
  readonly stops: readonly Pod[];
};

export function updateStep(situation: Situation): UpdateStep {
  const { set, nodes, placement } = situation;
  const wanted = nodes.filter((node) => placement(node).shouldRun).length;
  const { maxSurge, maxUnavailable } = updateBudget(set, wanted);
  const { due, others } = nodesToUpdate(situation);
  if (maxSurge > 0) return surge(situation, due, maxSurge);
  return replace(situation, due, maxUnavailable - unserved(situation, others));
}

type Choice = { readonly due: readonly NodeState[]; readonly others: readonly NodeState[] };

/**
 * Returns the nodes whose Pods may be updated, within the partition: updated and updating nodes first, then nodes that
 * the selector matches.
 */
function nodesToUpdate(situation: Situation): Choice {
  const { set, nodes, placement, settings } = situation;
  const byName = new Map(nodes.map((node) => [node.metadata.name ?? '', node]));
  const wanted = nodes.filter((node) => placement(node).shouldRun);
  const eligible = settings.gates.DaemonSetPruneIneligibleNodes
    ? new Set(wanted.map(({ metadata }) => metadata.name ?? ''))
    : byName;
  const states = statesOf(situation, wanted)
    .filter(({ name }) => eligible.has(name))
    .sort((a, b) => compareStrings(b.name, a.name));
  const isUpdated = ({ newPod, isCrowded }: NodeState) => isCrowded || newPod !== undefined;
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
function unserved(situation: Situation, states: readonly NodeState[]): number {
  const { nodes, placement } = situation;
  const fitting = new Set(nodes.filter((node) => placement(node).shouldRun).map(({ metadata }) => metadata.name));
  const isServing = (pod: Pod | undefined) => isStaying(pod) && isAvailable(pod, situation);
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
function replace(situation: Situation, states: readonly NodeState[], maxUnavailable: number): UpdateStep {
  const broken: Pod[] = [];
  const candidates: Pod[] = [];
  let unavailable = 0;
  for (const { newPod, oldPod, isCrowded } of states) {
    if (oldPod && !newPod && isHeldBack(situation, oldPod)) unavailable += Number(!isAvailable(oldPod, situation));
    else if (isCrowded || isStaying(oldPod) === isStaying(newPod)) unavailable++;
    else if (newPod) unavailable += Number(!isAvailable(newPod, situation)) + Number(isPreDeleting(newPod));
    else if (!isAvailable(oldPod!, situation)) broken.push(oldPod!);
    else candidates.push(oldPod!);
  }
  const room = Math.max(0, maxUnavailable - unavailable - broken.length);
  return { replaced: [...broken, ...candidates.slice(0, room)], starts: [], stops: [] };
}

/** Creates surge Pods beside old Pods, and deletes an old Pod when its replacement is available. */
function surge(situation: Situation, states: readonly NodeState[], maxSurge: number): UpdateStep {
  const { nodes, placement } = situation;
  const fitting = new Set(nodes.filter((node) => placement(node).shouldRun).map(({ metadata }) => metadata.name));
  const starts: string[] = [];
  const candidates: string[] = [];
  const stops: Pod[] = [];
  let surging = 0;
  for (const { name, newPod, oldPod, isCrowded } of states) {
    if (isCrowded) surging++;
    else if (!isStaying(oldPod)) continue;
    else if (!newPod) {
      // No new Pod can start on a node that only tolerates its existing Pods.
      if (fitting.has(name)) (isAvailable(oldPod, situation) ? candidates : starts).push(name);
    } else if (isAvailable(newPod, situation) && !isPreDeleting(newPod)) stops.push(oldPod);
    else surging++;
  }
  const room = Math.max(0, maxSurge - surging);
  return { replaced: [], starts: [...starts, ...candidates.slice(0, room)], stops };
}
