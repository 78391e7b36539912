/** Rolling update of a DaemonSet: replaces Pods at old revisions within maxSurge and maxUnavailable. */
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import { isPodAvailable } from '@kruise/machinery/pods';
import { type Situation, updateBudget } from './situation.ts';
import type { Chores } from './tend.ts';

/**
 * Returns the next step of the rolling update, once every node has its Pod. Without surge, the step only deletes old
 * Pods, and the placement step creates the new ones.
 */
export function updateStep(situation: Situation): Chores {
  const wanted = situation.nodes.filter((node) => situation.placement(node).shouldRun);
  const { maxSurge, maxUnavailable } = updateBudget(situation.set, wanted.length);
  const states = statesOf(situation, wanted);
  return maxSurge === 0 ? replace(situation, states, maxUnavailable) : surge(situation, states, { maxSurge, wanted });
}

/** Pods of a node at the update revision and at old revisions; a node with several of either is not settled yet. */
export type NodeState = {
  readonly name: string;
  readonly newPod?: Pod | undefined;
  readonly oldPod?: Pod | undefined;
  readonly isCrowded: boolean;
};

/** Returns the state of every node that has Pods or should have one. */
export function statesOf(
  { byNode, isUpdated }: Pick<Situation, 'byNode' | 'isUpdated'>,
  wanted: readonly Node[],
): readonly NodeState[] {
  const names = new Set([...byNode.keys(), ...wanted.map(({ metadata }) => metadata.name ?? '')]);
  return [...names].map((name) => {
    const staying = (byNode.get(name) ?? []).filter(({ metadata }) => metadata.deletionTimestamp == null);
    const [newPod, secondNew] = staying.filter(isUpdated);
    const [oldPod, secondOld] = staying.filter((pod) => !isUpdated(pod));
    return { name, newPod, oldPod, isCrowded: secondNew !== undefined || secondOld !== undefined };
  });
}

/** Deletes old Pods: unavailable ones always, available ones within maxUnavailable. */
function replace({ minReadySeconds, now }: Situation, states: readonly NodeState[], maxUnavailable: number): Chores {
  const isAvailable = (pod: Pod) => isPodAvailable(pod, minReadySeconds, now);
  const broken: Pod[] = [];
  const candidates: Pod[] = [];
  let unavailable = 0;
  for (const { newPod, oldPod, isCrowded } of states) {
    const isSettled = !isCrowded && (newPod === undefined) !== (oldPod === undefined);
    if (isSettled && oldPod && !isAvailable(oldPod)) broken.push(oldPod);
    if (!isSettled || !isAvailable(newPod ?? oldPod!)) unavailable++;
    else if (oldPod) candidates.push(oldPod);
  }
  const room = Math.max(0, maxUnavailable - unavailable);
  return { starts: [], stops: [...broken, ...candidates.slice(0, room)] };
}

/** Creates new Pods beside old ones, and deletes an old Pod when the new one is available. */
function surge(
  { minReadySeconds, now }: Situation,
  states: readonly NodeState[],
  { maxSurge, wanted }: { readonly maxSurge: number; readonly wanted: readonly Node[] },
): Chores {
  const isAvailable = (pod: Pod) => isPodAvailable(pod, minReadySeconds, now);
  const fitting = new Set(wanted.map(({ metadata }) => metadata.name));
  const starts: string[] = [];
  const candidates: string[] = [];
  const stops: Pod[] = [];
  const leftBehind: Pod[] = [];
  let surging = 0;
  let available = 0;
  for (const { name, newPod, oldPod, isCrowded } of states) {
    if (isCrowded) {
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
    starts: [...starts, ...candidates.slice(0, Math.max(0, maxSurge - surging))],
    stops: [...stops, ...leftBehind.slice(0, spare)],
  };
}
