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
import { type Action, isBeingDeleted, remove } from '@kruise/client/actions';
import { claimActions } from '@kruise/client/adoption';
import type { Decision } from '@kruise/client/controller';
import { claimsOf } from '@kruise/machinery/claims';
import { outdatedRevisions, planRevision, podTemplateOf } from '@kruise/machinery/controller-revision';
import { selectorOf } from '@kruise/machinery/label-selector';
import { isPodAvailable, isPodFinished, secondsUntilAvailable } from '@kruise/machinery/pods';
import type { Instant } from '@kruise/values/time';
import { restAfterShortLives, restBetweenLooks } from '../pace.ts';
import { contentOf, revisionActions } from './history.ts';
import { memberOf, ordinalOf, ordinalsOf } from './identity.ts';
import { condemnation, correction, creation, type Member, provision, removal, type Step } from './member-steps.ts';
import { isRunningAndReady, revisionOf, statusOf } from './status.ts';

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
  const selector = selectorOf(set.spec?.selector);
  const matches = ({ metadata }: Pod | ControllerRevision) => selector.matches(metadata.labels);
  const pods = claimsOf(set, observed.pods, (pod) => ordinalOf(set, pod) !== undefined && matches(pod));
  // A revision whose labels were removed is ignored, not released.
  const history = { ...claimsOf(set, observed.revisions, matches), released: [] };

  const plan = planRevision(set, {
    history: history.claimed,
    content: contentOf(set),
    collisionCount: set.status?.collisionCount,
    find: observed.findRevision,
  });
  const current = history.claimed.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? plan.update;
  const world: World = { ...observed, ...censusOf(observed, pods.claimed), current, update: plan.update, now };
  const { actions, outgoing } = isBeingDeleted(set) ? nothing : workOn(world);

  const requeueAfterSeconds = secondsUntilAvailable(pods.claimed, set.spec?.minReadySeconds ?? 0, now);
  return {
    actions: [
      ...claimActions(set, history),
      ...claimActions(set, pods),
      ...revisionActions(plan),
      ...actions,
      ...truncation(world, history.claimed, pods.claimed),
    ],
    status: statusOf({ ...world, pods: pods.claimed, collisionCount: plan.collisionCount, outgoing }, now),
    ...(requeueAfterSeconds === undefined ? {} : { requeueAfterSeconds }),
    minIntervalMs: restAfter(world, actions),
  };
}

function restAfter({ wanted, condemned, now }: World, actions: readonly Action[]): number {
  const present = wanted.flatMap(({ pod }) => pod ?? []);
  const restMs = actions.length > 0 ? 0 : restBetweenLooks(wanted.length + condemned.length);
  return Math.max(restMs, restAfterShortLives(present, now));
}

/** Deletes revisions that neither the set nor a Pod uses, above the revision history limit. */
function truncation(
  { set, current, update }: World,
  history: readonly ControllerRevision[],
  pods: readonly Pod[],
): readonly Action[] {
  const inUse = new Set([current.metadata.name ?? '', update.metadata.name ?? '', ...pods.map(revisionOf)]);
  return outdatedRevisions(history, { inUse, limit: set.spec?.revisionHistoryLimit ?? 10 }).map(remove);
}

/** Desired ordinals with their Pods, and Pods with other ordinals. */
type Census = {
  /** In ascending order. */
  readonly wanted: readonly { readonly ordinal: number; readonly pod: Pod | undefined }[];
  /** In descending order. */
  readonly condemned: readonly Member[];
};

type World = Observed &
  Census & { readonly current: ControllerRevision; readonly update: ControllerRevision; readonly now: Instant };

function censusOf({ set, findClaim }: Observed, pods: readonly Pod[]): Census {
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
type Work = { readonly actions: readonly Action[]; readonly outgoing?: Pod | undefined };

const nothing: Work = { actions: [] };

function workOn(world: World): Work {
  const isOrdered = world.set.spec?.podManagementPolicy !== 'Parallel';
  const upkeep = isOrdered ? keepInOrder(world) : keepAtOnce(world);
  if (upkeep.isBlocked) return { actions: upkeep.actions };
  const condemned = world.condemned.flatMap(condemnation);
  const reduction = isOrdered ? scaleInByOne(world) : scaleInAtOnce(world);
  const actions = [...upkeep.actions, ...condemned, ...reduction.actions];
  const outgoing = reduction.isBlocked ? undefined : nextToUpdate(world);
  return outgoing ? { actions: [...actions, removal(world.set, outgoing)], outgoing } : { actions };
}

/** Some of the actions; a blocked part stops the following ones. */
type Part = { readonly actions: readonly Action[]; readonly isBlocked: boolean };

/** OrderedReady: processes the Pods in ascending order, as long as their predecessors are available. */
function keepInOrder(world: World): Part {
  const actions: Action[] = [];
  for (const { ordinal, pod } of world.wanted) {
    const isSettled = pod !== undefined && isHealthy(pod) && isAvailable(world, pod);
    const step = isSettled ? correction(memberAt(world, ordinal, pod)) : bringAbout(world, ordinal, pod);
    actions.push(...step.claims, ...step.pod);
    if (!isSettled) return { actions, isBlocked: true };
  }
  return { actions, isBlocked: false };
}

/** Parallel: processes all Pods independently. */
function keepAtOnce(world: World): Part {
  const steps = world.wanted.map(({ ordinal, pod }) => {
    if (pod === undefined || isPodFinished(pod) || isPending(pod)) return bringAbout(world, ordinal, pod);
    return correction(memberAt(world, ordinal, pod));
  });
  // Adjacent actions of the same kind are executed concurrently.
  return { actions: [...steps.flatMap(({ claims }) => claims), ...steps.flatMap(({ pod }) => pod)], isBlocked: false };
}

/** Returns the step for an ordinal whose Pod does not exist, is finished, or is pending. */
function bringAbout(world: World, ordinal: number, pod: Pod | undefined): Step {
  if (pod === undefined) return engage(world, ordinal);
  // A finished Pod is deleted and then recreated.
  if (isPodFinished(pod)) return { claims: [], pod: isBeingDeleted(pod) ? [] : [removal(world.set, pod)] };
  return { claims: isPending(pod) ? provision(memberAt(world, ordinal, pod)) : [], pod: [] };
}

function engage(world: World, ordinal: number): Step {
  const pod = newPod(world, ordinal);
  // A Pod with the same name that does not belong to the set must be deleted first.
  const isTaken = world.findPod(pod.metadata.name ?? '') !== undefined;
  return isTaken ? { claims: [], pod: [] } : creation(memberAt(world, ordinal, pod));
}

function memberAt({ set, findClaim }: World, ordinal: number, pod: Pod): Member {
  return { set, pod, ordinal, isCondemned: false, findClaim };
}

/**
 * Returns the Pod of an ordinal at its revision: the current revision below the partition or before the update reaches
 * it.
 */
function newPod({ set, current, update }: World, ordinal: number): Pod {
  const { updateStrategy, template = {} } = set.spec ?? {};
  const { type, rollingUpdate } = updateStrategy ?? {};
  const notReached = type === 'RollingUpdate' ? (set.status?.currentReplicas ?? 0) : 0;
  const kept = rollingUpdate ? (rollingUpdate.partition ?? 0) : notReached;
  const revision = ordinal < ordinalsOf(set).start + kept ? current : update;
  return memberOf(set, ordinal, podTemplateOf(revision) ?? template, revision.metadata.name ?? '');
}

/** Deletes the Pod with the highest ordinal if all others are healthy, or if it is the first unhealthy one. */
function scaleInByOne(world: World): Part {
  const next = world.condemned[0];
  if (!next) return { actions: [], isBlocked: false };
  const firstUnhealthy = world.condemned.findLast(({ pod }) => !isHealthy(pod));
  const isFit = isRunningAndReady(next.pod) && isAvailable(world, next.pod);
  const mayGo = !isBeingDeleted(next.pod) && (isFit || next === firstUnhealthy);
  return { actions: mayGo ? [removal(world.set, next.pod)] : [], isBlocked: true };
}

function scaleInAtOnce({ set, condemned }: World): Part {
  const actions = condemned.filter(({ pod }) => !isBeingDeleted(pod)).map(({ pod }) => removal(set, pod));
  return { actions, isBlocked: false };
}

/** Returns the next Pod to delete for an update; undefined while a Pod above it is not healthy again. */
function nextToUpdate({ set, wanted, update }: World): Pod | undefined {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {};
  if (type === 'OnDelete') return undefined;
  for (const { pod } of wanted.slice(rollingUpdate?.partition ?? 0).reverse()) {
    if (pod === undefined || isPodFinished(pod) || isBeingDeleted(pod)) return undefined;
    if (revisionOf(pod) !== update.metadata.name) return pod;
    if (!isRunningAndReady(pod)) return undefined;
  }
  return undefined;
}

function isHealthy(pod: Pod): boolean {
  return isRunningAndReady(pod) && !isBeingDeleted(pod);
}

function isAvailable({ set, now }: World, pod: Pod): boolean {
  return isPodAvailable(pod, set.spec?.minReadySeconds ?? 0, now);
}

function isPending({ status }: Pod): boolean {
  return status?.phase === 'Pending';
}
