/** Rolling update of a DaemonSet: replaces Pods at old revisions within maxSurge and maxUnavailable. */
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import { isPodAvailable } from '@kruise/machinery/pods';
import type { PodChanges } from './placement.ts';
import { type State, updateBudget } from './state.ts';

/**
 * Returns the next step of the rolling update, once every node has its Pod. Without surge, the step only deletes old
 * Pods, and the placement step creates the new ones.
 */
export function rollingUpdateStep(state: State): PodChanges {
  const wanted = state.nodes.filter((node) => state.placement(node).shouldRun);
  const { maxSurge, maxUnavailable } = updateBudget(state.set, wanted.length);
  const states = statesOf(state, wanted);
  return maxSurge === 0 ? replace(state, states, maxUnavailable) : surge(state, states, { maxSurge, wanted });
}

/** Pods of a node at the update revision and at old revisions; a node with several of either is not settled yet. */
export type NodeState = {
  readonly name: string;
  readonly newPod?: Pod | undefined;
  readonly oldPod?: Pod | undefined;
  readonly hasSurplus: boolean;
};

/** Returns the state of every node that has Pods or should have one. */
export function statesOf(
  { byNode, isUpdated }: Pick<State, 'byNode' | 'isUpdated'>,
  wanted: readonly Node[],
): readonly NodeState[] {
  const names = new Set([...byNode.keys(), ...wanted.map(({ metadata }) => metadata.name ?? '')]);
  return [...names].map((name) => {
    const staying = (byNode.get(name) ?? []).filter(({ metadata }) => metadata.deletionTimestamp == null);
    const [newPod, secondNew] = staying.filter(isUpdated);
    const [oldPod, secondOld] = staying.filter((pod) => !isUpdated(pod));
    return { name, newPod, oldPod, hasSurplus: secondNew !== undefined || secondOld !== undefined };
  });
}

/** Deletes old Pods: unavailable ones always, available ones within maxUnavailable. */
function replace({ minReadySeconds, now }: State, states: readonly NodeState[], maxUnavailable: number): PodChanges {
  const isAvailable = (pod: Pod) => isPodAvailable(pod, minReadySeconds, now);
  const broken: Pod[] = [];
  const candidates: Pod[] = [];
  let unavailable = 0;
  for (const { newPod, oldPod, hasSurplus } of states) {
    const isSettled = !hasSurplus && (newPod === undefined) !== (oldPod === undefined);
    if (isSettled && oldPod && !isAvailable(oldPod)) broken.push(oldPod);
    if (!isSettled || !isAvailable(newPod ?? oldPod!)) unavailable++;
    else if (oldPod) candidates.push(oldPod);
  }
  const room = Math.max(0, maxUnavailable - unavailable);
  return { nodesNeedingPods: [], podsToDelete: [...broken, ...candidates.slice(0, room)] };
}

/** Creates new Pods beside old ones, and deletes an old Pod when the new one is available. */
function surge(
  { minReadySeconds, now }: State,
  states: readonly NodeState[],
  { maxSurge, wanted }: { readonly maxSurge: number; readonly wanted: readonly Node[] },
): PodChanges {
  const isAvailable = (pod: Pod) => isPodAvailable(pod, minReadySeconds, now);
  const fitting = new Set(wanted.map(({ metadata }) => metadata.name));
  const starts: string[] = [];
  const candidates: string[] = [];
  const stops: Pod[] = [];
  const leftBehind: Pod[] = [];
  let surging = 0;
  let available = 0;
  for (const { name, newPod, oldPod, hasSurplus } of states) {
    if (hasSurplus) {
      surging++;
      continue;
    }
    const serving = oldPod ?? newPod;
    if (serving && isAvailable(serving)) available++;
    if (!oldPod) continue;
    if (newPod) {
      if (isAvailable(newPod)) stops.push(oldPod);
      else surging++;
    } else if (fitting.has(name)) {
      (isAvailable(oldPod) ? candidates : starts).push(name);
    } else {
      (isAvailable(oldPod) ? leftBehind : stops).push(oldPod);
    }
  }
  // With surge, availability must not drop: a Pod on a node that should not run it any more is deleted only when
  // another Pod replaces it.
  const spare = Math.max(0, available - wanted.length);
  return {
    nodesNeedingPods: [...starts, ...candidates.slice(0, Math.max(0, maxSurge - surging))],
    podsToDelete: [...stops, ...leftBehind.slice(0, spare)],
  };
}
