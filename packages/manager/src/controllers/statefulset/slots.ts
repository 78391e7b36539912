/** Seeing to the numbers that are wanted, and to the Pods that have others (statefulset.md §5.5 to §5.7). */
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

/** Some of the work; where it is blocked, what comes next has to wait. */
export type Part = {
  readonly actions: readonly Action[];
  readonly isBlocked: boolean;
  /** Why a Pod cannot be made. */
  readonly fault?: string;
};

/**
 * Sees to the numbers from the lowest up. In order, the first one whose Pod is not available stops everything. At once,
 * all are seen to, or as many as may be unavailable while scaling out; updates go on in any case.
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
  // It comes back once it is gone, however it ended.
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

/** Makes a Pod, after the claims it is to use. It waits for claims that are on their way out, and for its name. */
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
 * Gives a Pod back what makes it a member, and its claims the owners they are to have. A volume cannot be added to a Pod
 * that is there: one that lacks a claim gets it when it is replaced (statefulset.md §5.5 tries, and comes to nothing else).
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
 * Those of Pods that waited for their end and are let go. They were unavailable all along, so that nobody has to wait
 * before they are deleted; in order, the update that had them wait would not come to them again (statefulset.md §7.3).
 */
export function releasedOf({ set }: Situation, pods: readonly Pod[]): readonly Pod[] {
  const hook = set.spec.lifecycle?.preDelete;
  return pods.filter((pod) => isWaitingToGo(pod) && !isHooked(hook, pod) && !isBeingDeleted(pod));
}

function isWaitingToGo(pod: Pod): boolean {
  return lifecycleStateOf(pod) === 'PreparingDelete';
}

/** Whether a Pod is about to be deleted, or is held before it, and so past being changed. */
export function isLeaving(pod: Pod): boolean {
  return isBeingDeleted(pod) || isWaitingToGo(pod);
}

/** Deletes a Pod; one that a hook holds is told that it is about to be deleted instead. */
export function deletePod({ set, now }: Situation, pod: Pod): readonly Action[] {
  const hook = set.spec.lifecycle?.preDelete;
  if (!isHooked(hook, pod)) return [removal(set, pod)];
  return changeState(pod, { to: 'PreparingDelete', markNotReady: hook?.markPodNotReady }, now);
}

/** Deletes Pods that are not wanted any more: in order one at a time, and none while another is not fit to stay. */
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
    // A Pod that is held already does not hold up those below it.
    if (deletion.length > 0) return { actions: [...owners, ...deletion], isBlocked: true };
  }
  return { actions: owners, isBlocked: false };
}
