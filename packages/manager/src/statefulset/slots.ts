/**
 * StatefulSet Pods by ordinal: creates and corrects Pods with desired ordinals, and deletes Pods with other ordinals.
 */
import type { Pod } from '@kruise/api/core/pod';
import { type Action, create, isBeingDeleted, record, update, withOutcomeEvents } from '@kruise/client/actions';
import { isPodFinished, isPodRunningAndReady } from '@kruise/machinery/pods';
import { hasIdentity, withIdentity } from '@kruise/workload-kit/statefulset/identity';
import { missingClaims, podEvents, presentClaims, removal } from '@kruise/workload-kit/statefulset/member-steps';
import { changeState, isHooked, lifecycleStateOf } from '../workload/lifecycle/lifecycle.ts';
import { scaleBudgetOf } from './numbers.ts';
import { isAvailable, isHealthy, isOrdered, type Slot, type State } from './state.ts';
import { isOwnedByFormerPod, type Member, ownerUpdates } from './volume-claims.ts';

/** Actions of one phase; where the phase is blocked, the next phase waits. */
export type Phase = {
  readonly actions: readonly Action[];
  readonly isBlocked: boolean;
  /** Reason why a Pod cannot be created. */
  readonly fault?: string;
};

/**
 * Handles the desired ordinals from the lowest up. With ordered Pod management the first unavailable Pod blocks
 * everything else. In parallel mode all ordinals are handled, or as many as scaleStrategy.maxUnavailable allows, and
 * updates continue in any case.
 */
export function reconcileSlots(state: State, refresh: (pod: Pod) => readonly Action[]): Phase {
  const ordered = isOrdered(state.set);
  const budget = ordered ? Number.POSITIVE_INFINITY : scaleBudgetOf(state.set);
  const actions: Action[] = [];
  let unavailable = 0;
  for (const slot of state.slots) {
    const settled = isSettled(state, slot);
    const step = stepFor(state, slot, refresh);
    actions.push(...step.actions);
    if (step.fault !== undefined) return { actions, isBlocked: true, fault: step.fault };
    if (settled) continue;
    if (ordered) return { actions, isBlocked: true };
    if (++unavailable >= budget) break;
  }
  return { actions, isBlocked: false };
}

function isSettled(state: State, { pod, isMissing }: Slot): boolean {
  return !isMissing && !isBeingDeleted(pod) && isAvailable(pod, state);
}

type Step = { readonly actions: readonly Action[]; readonly fault?: string };

function stepFor(state: State, slot: Slot, refresh: (pod: Pod) => readonly Action[]): Step {
  const { set } = state;
  const { pod, isMissing } = slot;
  if (isMissing) return creation(state, slot);
  // A finished Pod is recreated after its deletion, whether it succeeded or failed.
  if (isPodFinished(pod)) return { actions: isBeingRemoved(pod) ? [] : deletePod(state, pod) };
  const member = memberAt(state, slot);
  const provision = pod.status?.phase === 'Pending' ? [...missingClaims(member), ...ownerUpdates(member)] : [];
  const canCorrect = !isOrdered(set) || isSettled(state, slot);
  const canRefresh = !isOrdered(set) || !isBeingDeleted(pod);
  return {
    actions: [
      ...provision,
      ...(canRefresh ? refresh(pod) : []),
      ...(canCorrect && provision.length === 0 ? correction(member, state) : []),
    ],
  };
}

function memberAt({ set, settings, findClaim }: State, { ordinal, pod }: Pick<Slot, 'ordinal' | 'pod'>): Member {
  return { set, pod, ordinal, isCondemned: false, findClaim, gates: settings.gates };
}

/** Creates a Pod after its PVCs. The creation waits for terminating PVCs, and for a Pod of the same name to be gone. */
function creation(state: State, slot: Slot): Step {
  const { set, findPod } = state;
  const { pod } = slot;
  const member = memberAt(state, slot);
  const present = presentClaims(member);
  const isTaken = findPod(pod.metadata.name ?? '') !== undefined;
  if (isTaken || present.some((claim) => isOwnedByFormerPod(claim, member))) return { actions: [] };
  const claims = missingClaims(member);
  const events = podEvents(set, 'create', pod);
  const leaving = present.filter(isBeingDeleted).map(({ metadata }) => `pvc ${metadata.name} is to be deleted`);
  if (leaving.length > 0) {
    const fault = leaving.length === 1 ? leaving[0]! : `[${leaving.join(', ')}]`;
    const message = events.failed.message.replace('{error}', () => fault);
    return {
      actions: [...claims, record({ about: set, type: 'Warning', reason: events.failed.reason, message })],
      fault,
    };
  }
  return { actions: [...claims, ...ownerUpdates(member), withOutcomeEvents(create(pod), events)] };
}

/**
 * Restores the identity of a Pod and the owner references of its PVCs. A volume cannot be added to an existing Pod: a
 * missing volume is added when the Pod is recreated. OpenKruise attempts the update, which the API server refuses.
 */
function correction(member: Member, { settings }: State): readonly Action[] {
  const { set, ordinal, pod } = member;
  const owners = ownerUpdates(member);
  const events = podEvents(set, 'update', pod);
  if (hasIdentity(pod))
    return owners.length > 0 ? [...owners, record({ about: set, type: 'Normal', ...events.done })] : [];
  const corrected = withIdentity(pod, ordinal, { isIndexed: settings.gates.PodIndexLabel });
  return [...owners, withOutcomeEvents(update(corrected), events)];
}

/**
 * Returns the Pods that a preDelete hook has released. These Pods were unavailable all along, so that their deletion
 * has to wait for no other Pod. With ordered Pod management, the update that drained them would not reach them again.
 */
export function releasedPods({ set }: State, pods: readonly Pod[]): readonly Pod[] {
  const hook = set.spec.lifecycle?.preDelete;
  return pods.filter((pod) => isPreparingDelete(pod) && !isHooked(hook, pod) && !isBeingDeleted(pod));
}

function isPreparingDelete(pod: Pod): boolean {
  return lifecycleStateOf(pod) === 'PreparingDelete';
}

/** Reports whether a Pod is terminating, or waits in the preDelete hook, and cannot be changed any more. */
export function isBeingRemoved(pod: Pod): boolean {
  return isBeingDeleted(pod) || isPreparingDelete(pod);
}

/** Deletes a Pod. A Pod with a preDelete hook moves to PreparingDelete instead. */
export function deletePod({ set, now }: State, pod: Pod): readonly Action[] {
  const hook = set.spec.lifecycle?.preDelete;
  if (!isHooked(hook, pod)) return [removal(set, pod)];
  return changeState(pod, { to: 'PreparingDelete', markNotReady: hook?.markPodNotReady }, now);
}

/**
 * Deletes Pods with ordinals that are not desired any more: with ordered Pod management one at a time, and none while
 * another such Pod is unhealthy.
 */
export function scaleIn(state: State): Phase {
  const { set, condemned, settings, findClaim } = state;
  const owners = condemned.flatMap(({ pod, ordinal }) =>
    ownerUpdates({ set, pod, ordinal, isCondemned: true, findClaim, gates: settings.gates }),
  );
  const released = releasedPods(
    state,
    condemned.map(({ pod }) => pod),
  ).flatMap((pod) => deletePod(state, pod));
  if (!isOrdered(set)) {
    const leaving = condemned.filter(({ pod }) => !isBeingRemoved(pod));
    const deletions = leaving.flatMap(({ pod }) => deletePod(state, pod));
    return { actions: [...owners, ...released, ...deletions], isBlocked: false };
  }
  if (released.length > 0) return { actions: [...owners, ...released], isBlocked: true };
  const firstUnhealthy = condemned.findLast(({ pod }) => !isHealthy(pod));
  for (const member of condemned) {
    const { pod } = member;
    const isFit = isPodRunningAndReady(pod) && isAvailable(pod, state);
    if (isBeingDeleted(pod) || (!isFit && member !== firstUnhealthy)) return { actions: owners, isBlocked: true };
    const deletion = deletePod(state, pod);
    // A Pod that a hook already blocks does not block the Pods with lower ordinals.
    if (deletion.length > 0) return { actions: [...owners, ...deletion], isBlocked: true };
  }
  return { actions: owners, isBlocked: false };
}
