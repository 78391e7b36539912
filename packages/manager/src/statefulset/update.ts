/** Rolling update of a StatefulSet. */
import type { Pod } from '@kruise/api/core/pod';
import { type Action, isBeingDeleted } from '@kruise/client/actions';
import { nameOfRevision } from '@kruise/machinery/controller-revision';
import { earliestRequeue } from '@kruise/workload-kit/earliest-requeue';
import { ordinalOf } from '@kruise/workload-kit/statefulset/identity';
import { attemptUpdate } from '../workload/inplace/attempt.ts';
import { updateObstacle } from '../workload/inplace/completion.ts';
import type { PodUpdatePolicy } from '../workload/inplace/permission.ts';
import type { UpdateSpec } from '../workload/inplace/state.ts';
import { updateSpecOf } from '../workload/inplace/update-spec.ts';
import { lifecycleStateOf } from '../workload/lifecycle/lifecycle.ts';
import { isSpecifiedDelete } from '../workload/specified-delete.ts';
import { byPriority } from '../workload/update-order/priority.ts';
import { maxUnavailableOf, partitionOf } from './numbers.ts';
import { replicasOf } from './ordinals.ts';
import { areClaimsCompatible, areClaimsDone, areClaimsReady, resizeClaims, resizesClaims } from './resize.ts';
import { isUpdatedForScaling, newPod } from './revisions.ts';
import { deletePod, isBeingRemoved } from './slots.ts';
import { isAvailable, isHealthy, type Slot, type State } from './state.ts';

export type Rollout = {
  readonly actions: readonly Action[];
  /** Pods that are about to leave their current revision. */
  readonly outgoing: ReadonlySet<Pod>;
  readonly requeueAfterSeconds?: number;
  /** Reason why Pods cannot be updated for a while: the API server refused the write. */
  readonly fault?: string;
};

export const nothingToUpdate: Rollout = { actions: [], outgoing: new Set() };

/** Deletes Pods with the specified-delete label, then updates other Pods, within maxUnavailable. */
export function rollOut(state: State): Rollout {
  const { set, slots } = state;
  const limit = maxUnavailableOf(set);
  const unavailable = new Set(slots.filter((slot) => isDown(state, slot)));
  const mayDisrupt = (slot: Slot) => unavailable.size < limit || unavailable.has(slot);
  const actions: Action[] = [];
  const outgoing = new Set<Pod>();
  const seconds: (number | undefined)[] = [];
  let fault: string | undefined;

  const chosen = new Set<Slot>();
  for (const slot of slots.toReversed()) {
    if (slot.isMissing || !isSpecifiedDelete(slot.pod) || !mayDisrupt(slot)) continue;
    chosen.add(slot);
    unavailable.add(slot);
    if (isBeingRemoved(slot.pod)) continue;
    const deletion = deletePod(state, slot.pod);
    actions.push(...deletion);
    if (isDeletion(deletion)) outgoing.add(slot.pod);
  }

  for (const slot of drainedFirst(candidates(state))) {
    const task = taskFor(state, slot);
    if (task === 'none') continue;
    // In order: no Pod is skipped.
    if (!mayDisrupt(slot)) break;
    if (task === 'resize') {
      const resizing = resizeClaims(state, slot);
      actions.push(...resizing.actions);
      if (resizing.fault !== undefined) break;
    }
    const isWaiting = task === 'resize' || task === 'wait';
    if (!isWaiting && (chosen.has(slot) || isBeingRemoved(slot.pod))) continue;
    const refusal = isWaiting ? undefined : refusalFault(state, slot.pod);
    if (refusal !== undefined) {
      fault ??= refusal;
      if (isUnordered(state)) continue;
      break;
    }
    unavailable.add(slot);
    if (isWaiting) continue;
    const step = updatePod(state, slot.pod);
    if (step.fault !== undefined) break;
    actions.push(...step.actions);
    if (step.leavesRevision) outgoing.add(slot.pod);
    seconds.push(step.requeueAfterSeconds);
  }
  return {
    actions,
    outgoing,
    ...earliestRequeue(...seconds),
    ...(fault === undefined ? {} : { fault }),
  };
}

function isUnordered({ set }: State): boolean {
  return set.spec.updateStrategy?.rollingUpdate?.unorderedUpdate !== undefined;
}

/**
 * Continues the update of drained Pods while no other update may start. With ordered Pod management the drained Pods
 * themselves block everything: they are unavailable as long as a hook blocks them. In OpenKruise they block the update
 * forever.
 */
export function resume(state: State): Rollout {
  const drainedSlots = candidates(state).filter((slot) => isPreparingUpdate(slot) && !isBeingDeleted(slot.pod));
  const drained = drainedSlots
    .filter((slot) => taskFor(state, slot) === 'update' && refusalFault(state, slot.pod) === undefined)
    .map(({ pod }) => pod);
  const steps = drained.map((pod) => updatePod(state, pod));
  return {
    actions: steps.flatMap(({ actions }) => actions),
    outgoing: new Set(drained.filter((_, index) => steps[index]!.leavesRevision)),
    ...earliestRequeue(...steps.map(({ requeueAfterSeconds }) => requeueAfterSeconds)),
  };
}

function isDown(state: State, slot: Slot): boolean {
  const { pod } = slot;
  return (
    !isHealthy(pod) ||
    updateObstacle(pod, state.settings.gates) !== undefined ||
    !isAvailable(pod, state) ||
    (resizesClaims(state) && !areClaimsReady(state, slot))
  );
}

/** Returns the Pods that belong at the update revision, in update order. */
export function candidates(state: State): readonly Slot[] {
  const { set, slots } = state;
  const count = replicasOf(set) - partitionOf(set);
  if (count <= 0) return [];
  const descending = slots.toReversed();
  const { unorderedUpdate } = set.spec.updateStrategy?.rollingUpdate ?? {};
  if (!unorderedUpdate) return descending.slice(0, count);
  const isAhead = ({ pod }: Slot) => isBeingDeleted(pod) || isUpdatedForScaling(state, pod);
  const bySlot = new Map(descending.map((slot) => [slot.pod, slot]));
  const waiting = descending.filter((slot) => !isAhead(slot)).map(({ pod }) => pod);
  const ranked = byPriority(waiting, unorderedUpdate.priorityStrategy).map((pod) => bySlot.get(pod)!);
  return [...descending.filter(isAhead), ...ranked].slice(0, count);
}

/**
 * Moves drained Pods to the front. A newer template may have made earlier Pods outdated again, and the limit leaves no
 * room for them until the drained Pod is updated. In OpenKruise the drained Pod waits for them forever.
 */
function drainedFirst(slots: readonly Slot[]): readonly Slot[] {
  return [...slots.filter(isPreparingUpdate), ...slots.filter((slot) => !isPreparingUpdate(slot))];
}

function isPreparingUpdate({ pod }: Slot): boolean {
  return lifecycleStateOf(pod) === 'PreparingUpdate';
}

/** Returns the next task of an ordinal: expand PVCs, wait for the expansion, or update the Pod. */
function taskFor(state: State, slot: Slot): 'none' | 'resize' | 'wait' | 'update' {
  const { revisionLabels, update } = state;
  if (slot.isMissing) return 'none';
  const resizes = resizesClaims(state);
  if (resizes && !areClaimsCompatible(state, slot)) return 'resize';
  if (revisionLabels.isAt(slot.pod, nameOfRevision(update))) return 'none';
  return resizes && !areClaimsDone(state, slot) ? 'wait' : 'update';
}

type UpdateStep = {
  readonly actions: readonly Action[];
  /** Set where the Pod leaves its revision. */
  readonly leavesRevision: boolean;
  readonly requeueAfterSeconds?: number;
  /** Reason why this Pod, and the Pods after it, cannot be updated. */
  readonly fault?: string;
};

/** Returns the reason why a Pod can be neither updated nor recreated for a while: the API server refused both. */
export function refusalFault(state: State, pod: Pod): string | undefined {
  if (!state.permissions.hasRefusals()) return undefined;
  const { permissions, update } = state;
  const spec = updateSpecFor(state, pod);
  const way = spec ? permissions.updateTypeFor(pod, spec, policyOf(state)) : 'ReCreate';
  if (way === 'ReCreate') return permissions.recreationFault(nameOfRevision(update));
  return way === 'InPlace' ? undefined : way.fault;
}

function policyOf({ set }: State): PodUpdatePolicy {
  return set.spec.updateStrategy?.rollingUpdate?.podUpdatePolicy ?? 'ReCreate';
}

/** Returns the in-place update of a Pod; undefined if the Pod has to be recreated. */
function updateSpecFor(state: State, pod: Pod): UpdateSpec | undefined {
  const { set, settings, revisions, revisionLabels, update: to } = state;
  if (policyOf(state) === 'ReCreate') return undefined;
  const from = revisions.find((each) => revisionLabels.isAt(pod, nameOfRevision(each)));
  const { gracePeriodSeconds: graceSeconds = 0 } = set.spec.updateStrategy?.rollingUpdate?.inPlaceUpdateStrategy ?? {};
  return updateSpecOf(from, to, { gates: settings.gates, graceSeconds });
}

function updatePod(state: State, pod: Pod): UpdateStep {
  const { set, permissions, update: to, now } = state;
  const podUpdatePolicy = policyOf(state);
  if (podUpdatePolicy !== 'ReCreate') {
    const spec = updateSpecFor(state, pod);
    if (spec && permissions.updateTypeFor(pod, spec, podUpdatePolicy) === 'InPlace') {
      const hook = set.spec.lifecycle?.inPlaceUpdate;
      const attempt = { workload: set, to, spec, hook, marksEveryPod: false };
      return { ...attemptUpdate(pod, attempt, state, now), leavesRevision: true };
    }
    if (podUpdatePolicy === 'InPlaceOnly') {
      const fault = `find strategy is InPlaceOnly but Pod ${pod.metadata.name} can not update in-place`;
      return { actions: [], leavesRevision: false, fault };
    }
  }
  const recreation = {
    workload: set,
    revision: nameOfRevision(to),
    // Only Pods with an ordinal are updated.
    pod: () => newPod(state, ordinalOf(set, pod)!, to),
  };
  const deletion = permissions.beforeRecreation(deletePod(state, pod), recreation);
  return { actions: deletion, leavesRevision: isDeletion(deletion) };
}

function isDeletion(actions: readonly Action[]): boolean {
  return actions.some(({ type }) => type === 'remove');
}
