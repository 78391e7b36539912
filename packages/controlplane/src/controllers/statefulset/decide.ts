/**
 * StatefulSet reconciler: maintains Pods with ordinals. With OrderedReady, one step is taken at a time and each Pod
 * waits for its predecessors: a Pod is created when all lower ordinals are available, and deleted when all higher ones
 * are gone. Scaling takes precedence over updates; an update deletes Pods from the highest ordinal down, and they are
 * recreated at the update revision. With Parallel, Pods are created and scaled in all at once, but still updated one by
 * one.
 */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { StatefulSet, StatefulSetStatus } from '@kruise/api/apps/statefulset';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import { type Action, isBeingDeleted, parallelByKind } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { nameOfRevision, podTemplateOf, revisionLabelOf } from '@kruise/machinery/controller-revision';
import { isPodAvailable, isPodFinished, isPodRunningAndReady, secondsUntilAvailable } from '@kruise/machinery/pods';
import type { Instant } from '@kruise/values/time';
import type { DerivedState } from '@kruise/workload-kit/derived-state';
import { earliestRequeue } from '@kruise/workload-kit/earliest-requeue';
import { reconcileIntervalFor, shortLivedPodIntervalFor } from '@kruise/workload-kit/reconcile-interval';
import { type ClaimedMembers, claimMembers, pruneRevisionHistory } from '@kruise/workload-kit/statefulset/history';
import { memberOf, ordinalOf, ordinalsOf } from '@kruise/workload-kit/statefulset/identity';
import {
  creation,
  type Member,
  type MemberStep,
  provisionPvcs,
  removal,
  repair,
  updateCondemnedOwners,
} from '@kruise/workload-kit/statefulset/member-steps';
import { statusOf } from './status.ts';

export type Observed = {
  readonly set: StatefulSet;
  /** Pods of the set, and orphans. */
  readonly pods: readonly Pod[];
  /** Revisions of the set, and orphans. */
  readonly revisions: readonly ControllerRevision[];
  /** Return the object with a name in the namespace, regardless of its owner. */
  readonly findRevision: (name: string) => ControllerRevision | undefined;
  readonly findClaim: (name: string) => PersistentVolumeClaim | undefined;
  readonly findPod: (name: string) => Pod | undefined;
};

export function decide(observed: Observed, now: Instant): Decision<StatefulSetStatus> {
  const { set } = observed;
  const { state, upkeep, collisionCount } = deriveState(observed, now);
  const { actions, updateVictim } = isBeingDeleted(set) ? nothing : planActions(state);
  return {
    actions: [...upkeep, ...parallelByKind(actions), ...pruneRevisionHistory(set, state)],
    status: statusOf({ ...state, collisionCount: collisionCount ?? 0, updateVictim }, now),
    ...earliestRequeue(secondsUntilAvailable(state.pods, set.spec?.minReadySeconds ?? 0, now)),
    minIntervalMs: minIntervalAfter(state, actions),
  };
}

function minIntervalAfter({ wanted, condemned, now }: State, actions: readonly Action[]): number {
  const present = wanted.flatMap(({ pod }) => pod ?? []);
  const intervalMs = actions.length > 0 ? 0 : reconcileIntervalFor(wanted.length + condemned.length);
  return Math.max(intervalMs, shortLivedPodIntervalFor(present, now));
}

/** Desired ordinals with their Pods, and Pods with other ordinals. */
type OrdinalState = {
  /** In ascending order. */
  readonly wanted: readonly { readonly ordinal: number; readonly pod: Pod | undefined }[];
  /** In descending order. */
  readonly condemned: readonly Member[];
};

/** State of one StatefulSet reconcile. */
type State = Pick<Observed, 'set' | 'findClaim' | 'findPod'> &
  ClaimedMembers &
  OrdinalState & { readonly now: Instant };

function deriveState(observed: Observed, now: Instant): DerivedState<State> {
  const { set, findClaim, findPod } = observed;
  const { state, ...rest } = claimMembers(set, observed);
  return { ...rest, state: { set, findClaim, findPod, now, ...state, ...deriveOrdinalState(observed, state.pods) } };
}

function deriveOrdinalState({ set, findClaim }: Observed, pods: readonly Pod[]): OrdinalState {
  const { start, count } = ordinalsOf(set);
  const present: (Pod | undefined)[] = Array.from({ length: count });
  const condemned: Member[] = [];
  for (const pod of pods) {
    // Only members are adopted.
    const ordinal = ordinalOf(set, pod)!;
    if (ordinal >= start && ordinal < start + count) present[ordinal - start] = pod;
    else condemned.push({ set, pod, ordinal, isCondemned: true, findClaim });
  }
  return {
    wanted: present.map((pod, index) => ({ ordinal: start + index, pod })),
    condemned: condemned.sort((a, b) => b.ordinal - a.ordinal),
  };
}

/** Actions, and the Pod that is deleted for an update. */
type UpdatePlan = { readonly actions: readonly Action[]; readonly updateVictim?: Pod | undefined };

const nothing: UpdatePlan = { actions: [] };

function planActions(state: State): UpdatePlan {
  const isOrdered = state.set.spec?.podManagementPolicy !== 'Parallel';
  const maintenance = isOrdered ? maintainInOrder(state) : maintainInParallel(state);
  if (maintenance.isBlocked) return { actions: maintenance.actions };
  const condemned = state.condemned.flatMap(updateCondemnedOwners);
  const scaleIn = isOrdered ? scaleInByOne(state) : scaleInAtOnce(state);
  const actions = [...maintenance.actions, ...condemned, ...scaleIn.actions];
  const updateVictim = scaleIn.isBlocked ? undefined : nextToUpdate(state);
  return updateVictim ? { actions: [...actions, removal(state.set, updateVictim)], updateVictim } : { actions };
}

/** Some of the actions; a blocked part stops the following ones. */
type PartialPlan = { readonly actions: readonly Action[]; readonly isBlocked: boolean };

/** OrderedReady: processes the Pods in ascending order, as long as their predecessors are available. */
function maintainInOrder(state: State): PartialPlan {
  const actions: Action[] = [];
  for (const { ordinal, pod } of state.wanted) {
    const isSettled = pod !== undefined && isHealthy(pod) && isAvailable(state, pod);
    const step = isSettled ? repair(memberAt(state, ordinal, pod)) : repairMember(state, ordinal, pod);
    actions.push(...step.claims, ...step.pod);
    if (!isSettled) return { actions, isBlocked: true };
  }
  return { actions, isBlocked: false };
}

/** Parallel: processes all Pods independently. */
function maintainInParallel(state: State): PartialPlan {
  const steps = state.wanted.map(({ ordinal, pod }) => {
    if (pod === undefined || isPodFinished(pod) || isPending(pod)) return repairMember(state, ordinal, pod);
    return repair(memberAt(state, ordinal, pod));
  });
  // All PVCs come first, so that `parallelByKind` can group the creations of PVCs and those of Pods.
  return { actions: [...steps.flatMap(({ claims }) => claims), ...steps.flatMap(({ pod }) => pod)], isBlocked: false };
}

/** Returns the step for an ordinal whose Pod does not exist, is finished, or is pending. */
function repairMember(state: State, ordinal: number, pod: Pod | undefined): MemberStep {
  if (pod === undefined) return createMember(state, ordinal);
  // A finished Pod is deleted and then recreated.
  if (isPodFinished(pod)) return { claims: [], pod: isBeingDeleted(pod) ? [] : [removal(state.set, pod)] };
  return { claims: isPending(pod) ? provisionPvcs(memberAt(state, ordinal, pod)) : [], pod: [] };
}

function createMember(state: State, ordinal: number): MemberStep {
  const pod = newPod(state, ordinal);
  // A Pod with the same name that does not belong to the set must be deleted first.
  const isTaken = state.findPod(pod.metadata.name ?? '') !== undefined;
  return isTaken ? { claims: [], pod: [] } : creation(memberAt(state, ordinal, pod));
}

function memberAt({ set, findClaim }: State, ordinal: number, pod: Pod): Member {
  return { set, pod, ordinal, isCondemned: false, findClaim };
}

/**
 * Returns the Pod of an ordinal at its revision: the current revision below the partition or before the update reaches
 * it.
 */
function newPod({ set, current, update }: State, ordinal: number): Pod {
  const { updateStrategy, template = {} } = set.spec ?? {};
  const { type, rollingUpdate } = updateStrategy ?? {};
  const notReached = type === 'RollingUpdate' ? (set.status?.currentReplicas ?? 0) : 0;
  const kept = rollingUpdate ? (rollingUpdate.partition ?? 0) : notReached;
  const revision = ordinal < ordinalsOf(set).start + kept ? current : update;
  return memberOf(set, ordinal, podTemplateOf(revision) ?? template, nameOfRevision(revision));
}

/** Deletes the Pod with the highest ordinal if all others are healthy, or if it is the first unhealthy one. */
function scaleInByOne(state: State): PartialPlan {
  const next = state.condemned[0];
  if (!next) return { actions: [], isBlocked: false };
  const firstUnhealthy = state.condemned.findLast(({ pod }) => !isHealthy(pod));
  const isReadyToDelete = isPodRunningAndReady(next.pod) && isAvailable(state, next.pod);
  const mayDelete = !isBeingDeleted(next.pod) && (isReadyToDelete || next === firstUnhealthy);
  return { actions: mayDelete ? [removal(state.set, next.pod)] : [], isBlocked: true };
}

function scaleInAtOnce({ set, condemned }: State): PartialPlan {
  const actions = condemned.filter(({ pod }) => !isBeingDeleted(pod)).map(({ pod }) => removal(set, pod));
  return { actions, isBlocked: false };
}

/** Returns the next Pod to delete for an update; undefined while a Pod above it is not healthy again. */
function nextToUpdate({ set, wanted, update }: State): Pod | undefined {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {};
  if (type === 'OnDelete') return undefined;
  for (const { pod } of wanted.slice(rollingUpdate?.partition ?? 0).reverse()) {
    if (pod === undefined || isPodFinished(pod) || isBeingDeleted(pod)) return undefined;
    if (revisionLabelOf(pod) !== nameOfRevision(update)) return pod;
    if (!isPodRunningAndReady(pod)) return undefined;
  }
  return undefined;
}

function isHealthy(pod: Pod): boolean {
  return isPodRunningAndReady(pod) && !isBeingDeleted(pod);
}

function isAvailable({ set, now }: State, pod: Pod): boolean {
  return isPodAvailable(pod, set.spec?.minReadySeconds ?? 0, now);
}

function isPending({ status }: Pod): boolean {
  return status?.phase === 'Pending';
}
