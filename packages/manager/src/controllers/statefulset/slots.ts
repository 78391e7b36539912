/**
 * StatefulSet Pods by ordinal: creates and corrects Pods with desired ordinals, and deletes Pods with other ordinals.
 */
import type { Pod } from '@kruise/api/core/pod';
import { type Action, announced, create, isBeingDeleted, record, update } from '@kruise/client/actions';
import { hasIdentity, withIdentity } from '@kruise/controlplane/controllers/statefulset/identity';
import {
  missingClaims,
  podEvents,
  presentClaims,
  removal,
} from '@kruise/controlplane/controllers/statefulset/member-steps';
import { isPodFinished } from '@kruise/machinery/pods';
import { changeState, isHooked, lifecycleStateOf } from '../../lifecycle/lifecycle.ts';
import { isLeftBehind, type Member, ownerUpdates } from './claims.ts';
import { scaleBudgetOf } from './numbers.ts';
import { isAvailable, isHealthy, isOrdered, isRunningAndReady, type Situation, type Slot } from './situation.ts';

/** Actions of one phase; where the phase is blocked, the next phase waits. */
export type Part = {
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
export function keepSlots(situation: Situation, refresh: (pod: Pod) => readonly Action[]): Part {
  const ordered = isOrdered(situation.set);
  const budget = ordered ? Number.POSITIVE_INFINITY : scaleBudgetOf(situation.set);
  const actions: Action[] = [];
  let unavailable = 0;
  for (const slot of situation.slots) {
    const settled = isSettled(situation, slot);
    const step = stepFor(situation, slot, refresh);
    actions.push(...step.actions);
    if (step.fault !== undefined) return { actions, isBlocked: true, fault: step.fault };
    if (settled) continue;
    if (ordered) return { actions, isBlocked: true };
    if (++unavailable >= budget) break;
  }
  return { actions, isBlocked: false };
}

function isSettled(situation: Situation, { pod, isNew }: Slot): boolean {
  return !isNew && !isBeingDeleted(pod) && isAvailable(pod, situation);
}

type Step = { readonly actions: readonly Action[]; readonly fault?: string };

function stepFor(situation: Situation, slot: Slot, refresh: (pod: Pod) => readonly Action[]): Step {
  const { set } = situation;
  const { pod, isNew } = slot;
  if (isNew) return creation(situation, slot);
  // A finished Pod is recreated after its deletion, whether it succeeded or failed.
  if (isPodFinished(pod)) return { actions: isLeaving(pod) ? [] : deletePod(situation, pod) };
  const member = memberAt(situation, slot);
  const provision = pod.status?.phase === 'Pending' ? [...missingClaims(member), ...ownerUpdates(member)] : [];
  const mayCorrect = !isOrdered(set) || isSettled(situation, slot);
  const mayRefresh = !isOrdered(set) || !isBeingDeleted(pod);
  return {
    actions: [
      ...provision,
      ...(mayRefresh ? refresh(pod) : []),
      ...(mayCorrect && provision.length === 0 ? correction(member, situation) : []),
    ],
  };
}

function memberAt({ set, settings, findClaim }: Situation, { ordinal, pod }: Pick<Slot, 'ordinal' | 'pod'>): Member {
  return { set, pod, ordinal, isCondemned: false, findClaim, gates: settings.gates };
}

/** Creates a Pod after its PVCs. The creation waits for terminating PVCs, and for a Pod of the same name to be gone. */
function creation(situation: Situation, slot: Slot): Step {
  const { set, findPod } = situation;
  const { pod } = slot;
  const member = memberAt(situation, slot);
  const present = presentClaims(member);
  const isTaken = findPod(pod.metadata.name ?? '') !== undefined;
  if (isTaken || present.some((claim) => isLeftBehind(claim, member))) return { actions: [] };
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
  return { actions: [...claims, ...ownerUpdates(member), announced(create(pod), events)] };
}

/**
 * Restores the identity of a Pod and the owner references of its PVCs. A volume cannot be added to an existing Pod: a
 * missing volume is added when the Pod is recreated. OpenKruise attempts the update, which the API server refuses.
 */
function correction(member: Member, { settings }: Situation): readonly Action[] {
  const { set, ordinal, pod } = member;
  const owners = ownerUpdates(member);
  const events = podEvents(set, 'update', pod);
  if (hasIdentity(pod))
    return owners.length > 0 ? [...owners, record({ about: set, type: 'Normal', ...events.done })] : [];
  const corrected = withIdentity(pod, ordinal, { isIndexed: settings.gates.PodIndexLabel });
  return [...owners, announced(update(corrected), events)];
}

/**
 * Returns the Pods that a preDelete hook has released. These Pods were unavailable all along, so that their deletion
 * has to wait for no other Pod. With ordered Pod management, the update that drained them would not reach them again.
 */
export function releasedOf({ set }: Situation, pods: readonly Pod[]): readonly Pod[] {
  const hook = set.spec.lifecycle?.preDelete;
  return pods.filter((pod) => isWaitingToGo(pod) && !isHooked(hook, pod) && !isBeingDeleted(pod));
}

function isWaitingToGo(pod: Pod): boolean {
  return lifecycleStateOf(pod) === 'PreparingDelete';
}

/** Reports whether a Pod is terminating, or waits in the preDelete hook, and cannot be changed any more. */
export function isLeaving(pod: Pod): boolean {
  return isBeingDeleted(pod) || isWaitingToGo(pod);
}

/** Deletes a Pod. A Pod with a preDelete hook moves to PreparingDelete instead. */
export function deletePod({ set, now }: Situation, pod: Pod): readonly Action[] {
  const hook = set.spec.lifecycle?.preDelete;
  if (!isHooked(hook, pod)) return [removal(set, pod)];
  return changeState(pod, { to: 'PreparingDelete', markNotReady: hook?.markPodNotReady }, now);
}

/**
 * Deletes Pods with ordinals that are not desired any more: with ordered Pod management one at a time, and none while
 * another such Pod is unhealthy.
 */
export function scaleIn(situation: Situation): Part {
  const { set, condemned, settings, findClaim } = situation;
  const owners = condemned.flatMap(({ pod, ordinal }) =>
    ownerUpdates({ set, pod, ordinal, isCondemned: true, findClaim, gates: settings.gates }),
  );
  const released = releasedOf(
    situation,
    condemned.map(({ pod }) => pod),
  ).flatMap((pod) => deletePod(situation, pod));
  if (!isOrdered(set)) {
    const leaving = condemned.filter(({ pod }) => !isLeaving(pod));
    const deletions = leaving.flatMap(({ pod }) => deletePod(situation, pod));
    return { actions: [...owners, ...released, ...deletions], isBlocked: false };
  }
  if (released.length > 0) return { actions: [...owners, ...released], isBlocked: true };
  const firstUnhealthy = condemned.findLast(({ pod }) => !isHealthy(pod));
  for (const member of condemned) {
    const { pod } = member;
    const isFit = isRunningAndReady(pod) && isAvailable(pod, situation);
    if (isBeingDeleted(pod) || (!isFit && member !== firstUnhealthy)) return { actions: owners, isBlocked: true };
    const deletion = deletePod(situation, pod);
    // A Pod that a hook already blocks does not block the Pods with lower ordinals.
    if (deletion.length > 0) return { actions: [...owners, ...deletion], isBlocked: true };
  }
  return { actions: owners, isBlocked: false };
}
