/** Replacing Pods of former templates, or changing them in place (daemonset.md §5.7). */
import type { Pod } from '@kruise/api/core/pod';
import { type NodeState, statesOf } from '@kruise/controlplane/controllers/daemonset/rolling-update';
import { updateBudget } from '@kruise/controlplane/controllers/daemonset/situation';
import { selectorOf } from '@kruise/machinery/label-selector';
import { compareStrings } from '@kruise/values/go-syntax';
import { isHeldBack } from './in-place.ts';
import { partitionOf } from './numbers.ts';
import { isAvailable, isPreDeleting, type Situation } from './situation.ts';

/** Old Pods that are to make room for new ones, and nodes that are to have a new one beside the old. */
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

/** The nodes whose Pods may be updated: those done or begun first, then those that are chosen, as far as the partition. */
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
 * How many of the nodes that are not to be updated are to have a Pod, and have none that serves. OpenKruise does not count
 * them (daemonset.md §5.7), and takes another down beside them.
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
 * Old Pods that are not available go in any case, others as long as enough nodes are served: also without those, which
 * OpenKruise does not count (daemonset.md §5.7), and so takes as many more down.
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

/** Starts new Pods beside old ones, and stops an old one when the new one is available. */
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
      // No new Pod could start on a node that old ones are merely left on.
      if (fitting.has(name)) (isAvailable(oldPod, situation) ? candidates : starts).push(name);
    } else if (isAvailable(newPod, situation) && !isPreDeleting(newPod)) stops.push(oldPod);
    else surging++;
  }
  const room = Math.max(0, maxSurge - surging);
  return { replaced: [], starts: [...starts, ...candidates.slice(0, room)], stops };
}
