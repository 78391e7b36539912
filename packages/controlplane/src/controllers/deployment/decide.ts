/**
 * Deployment reconciler: replaces Pods when the template changes, with one ReplicaSet per template; the new one scales
 * up while the old ones scale down. All progress is read from the ReplicaSets.
 */
import type { Deployment, DeploymentCondition, DeploymentStatus } from '@kruise/api/apps/deployment';
import type { ReplicaSet } from '@kruise/api/apps/replicaset';
import type { Pod } from '@kruise/api/core/pod';
import { type Action, create, parallel, remove, type Step, update, withOutcomeEvents } from '@kruise/client/actions';
import { claimActions } from '@kruise/client/adoption';
import type { Decision } from '@kruise/client/controller';
import { isNamespaceTerminating, type Outcome } from '@kruise/client/execute';
import { claimsOf } from '@kruise/machinery/claims';
import { isSame } from '@kruise/machinery/json-value';
import { selectorOf } from '@kruise/machinery/label-selector';
import { isPodFinished } from '@kruise/machinery/pods';
import { errorText } from '@kruise/values/error-text';
import type { Instant } from '@kruise/values/time';
import { earliestRequeue } from '@kruise/workload-kit/earliest-requeue';
import { recordSelectingAll } from '@kruise/workload-kit/pod-control';
import {
  activeOf,
  allOf,
  isRolling,
  type ReplicaSets,
  type Resize,
  replicasOf,
  sortByTemplate,
  sumOfStatus,
  totalOf,
} from '@kruise/workload-kit/replica-sets';
import {
  atRevision,
  compareRevisions,
  desiredNewSet,
  nextRevision,
  replicaSetFor,
  resized,
  rollbackOf,
} from './revisions.ts';
import { rollBack } from './rollback.ts';
import { rollingStep, roomForNewSet, type WithNewSet } from './rollout.ts';
import { isScaled, scaleSets } from './scaling.ts';
import {
  countsOf,
  isComplete,
  rolloutStatus,
  secondsUntilDeadline,
  withCreatedSet,
  withCreateFailure,
  withFoundSet,
  withPause,
} from './status.ts';

export type Observed = {
  readonly deployment: Deployment;
  /** ReplicaSets that the Deployment controls or may adopt. */
  readonly candidates: readonly ReplicaSet[];
  /** Returns the ReplicaSet with a name in the namespace, regardless of its owner. */
  readonly findReplicaSet: (name: string) => ReplicaSet | undefined;
  /** Returns the Pods of a ReplicaSet. */
  readonly podsOf: (set: ReplicaSet) => readonly Pod[];
};

type Decided = Decision<DeploymentStatus | undefined>;

export function decide(observed: Observed, now: Instant): Decided {
  const { deployment, candidates } = observed;
  const { spec, metadata } = deployment;
  if (isSame(spec?.selector, {})) return refuseToSelectAll(deployment);

  const selector = selectorOf(spec?.selector);
  const claims = claimsOf(deployment, candidates, (set) => selector.matches(set.metadata.labels));
  const sets = sortByTemplate(deployment, claims.claimed);
  if (metadata.deletionTimestamp != null) {
    return { actions: [], status: countsOf(deployment, sets, deployment.status?.conditions ?? [], now) };
  }
  const { actions, ...rest } = chooseStep(observed, deriveState(deployment, sets, now), now);
  return { actions: [...claimActions(deployment, claims), ...actions], ...rest };
}

function refuseToSelectAll(deployment: Deployment): Decided {
  const { generation } = deployment.metadata;
  return {
    actions: [recordSelectingAll(deployment, 'deployment')],
    status: { ...deployment.status, ...(generation === undefined ? {} : { observedGeneration: generation }) },
  };
}

function chooseStep(observed: Observed, state: State, now: Instant): Decided {
  const { deployment, sets } = state;
  if (deployment.spec?.paused) return scale(state, now);
  if (rollbackOf(deployment) !== undefined) {
    const created = withNewSet(observed, state, now);
    return { actions: [...writes(created, []), ...rollBack(deployment, allOf(created.sets), created.sets.newSet)] };
  }
  if (isScaled(deployment, sets)) return scale(state, now);
  return isRolling(deployment) ? roll(observed, state, now) : recreate(observed, state, now);
}

/** State of one Deployment reconcile. */
type State = {
  readonly deployment: Deployment;
  /** ReplicaSets of the Deployment. The new one has its desired metadata and template, but not yet its desired size. */
  readonly sets: ReplicaSets;
  /** The new ReplicaSet as it is in the cluster; undefined if it does not exist. */
  readonly present: ReplicaSet | undefined;
  readonly conditions: readonly DeploymentCondition[];
  /** Number of hash collisions of the new ReplicaSet's name. */
  readonly collisionCount: number | undefined;
};

function deriveState(deployment: Deployment, sets: ReplicaSets, now: Instant): State {
  const { newSet: present, oldSets } = sets;
  const newSet = present && desiredNewSet(deployment, present, nextRevision(oldSets));
  const conditions = withPause(deployment, now);
  return {
    deployment,
    sets: { newSet, oldSets },
    present,
    conditions: newSet ? withFoundSet(deployment, conditions, newSet.metadata.name ?? '', now) : conditions,
    collisionCount: deployment.status?.collisionCount,
  };
}

/** Returns the state with a new ReplicaSet, which is created if it does not exist. */
function withNewSet({ findReplicaSet }: Observed, state: State, now: Instant): State & { readonly sets: WithNewSet } {
  const { deployment, sets } = state;
  const { newSet, oldSets } = sets;
  if (newSet) return { ...state, sets: { newSet, oldSets } };
  const parts = { revision: nextRevision(oldSets), replicas: roomForNewSet(deployment, 0, totalOf(oldSets)) };
  for (let { collisionCount } = state; ; collisionCount = (collisionCount ?? 0) + 1) {
    const created = replicaSetFor(deployment, { ...parts, collisionCount });
    const name = created.metadata.name ?? '';
    // A ReplicaSet with this name and the same template would already have been found, so this one is a hash collision.
    if (findReplicaSet(name)) continue;
    const conditions = withCreatedSet(deployment, state.conditions, name, now);
    return { ...state, sets: { newSet: created, oldSets }, conditions, collisionCount };
  }
}

function scale(state: State, now: Instant): Decided {
  const { deployment, sets, conditions } = state;
  const isIdle = deployment.spec?.paused && rollbackOf(deployment) === undefined;
  return withStatus(
    state,
    [...writes(state, scaleSets(deployment, sets)), ...(isIdle ? pruneRevisionHistory(deployment, sets.oldSets) : [])],
    countsOf(deployment, sets, conditions, now),
    now,
  );
}

function roll(observed: Observed, state: State, now: Instant): Decided {
  const created = withNewSet(observed, state, now);
  return rollout(created, rollingStep(created.deployment, created.sets), now);
}

/** Recreate strategy: deletes all old Pods before new ones are created. */
function recreate(observed: Observed, state: State, now: Instant): Decided {
  const { deployment, sets } = state;
  const stopped = activeOf(sets.oldSets).map((set) => ({ set, replicas: 0 }));
  if (stopped.length > 0) return rollout(state, stopped, now);
  if (hasPods(sets.oldSets, observed)) return reportRollout(state, writes(state, []), now);
  const created = withNewSet(observed, state, now);
  const { newSet } = created.sets;
  const replicas = replicasOf(deployment);
  return rollout(created, replicasOf(newSet) === replicas ? [] : [{ set: newSet, replicas }], now);
}

/**
 * Reports whether ReplicaSets have Pods by status or in the cache. Terminating Pods count: two versions must not run at
 * the same time.
 */
function hasPods(sets: readonly ReplicaSet[], { podsOf }: Observed): boolean {
  return sumOfStatus(sets, 'replicas') > 0 || sets.some((set) => podsOf(set).some((pod) => !isPodFinished(pod)));
}

/** Executes one step of a rollout. Without further steps, old ReplicaSets are cleaned up. */
function rollout(state: State, step: readonly Resize[], now: Instant): Decided {
  const { deployment, sets } = state;
  const isOver = step.length === 0 && isComplete(deployment, deployment.status);
  return reportRollout(
    state,
    [...writes(state, step), ...(isOver ? pruneRevisionHistory(deployment, sets.oldSets) : [])],
    now,
  );
}

/** Executes actions, reports the progress of the rollout, and requeues at the progress deadline. */
function reportRollout(state: State, actions: readonly Step[], now: Instant): Decided {
  const { deployment, sets, conditions } = state;
  const status = rolloutStatus(deployment, sets, conditions, now);
  return {
    ...withStatus(state, actions, status, now),
    ...earliestRequeue(secondsUntilDeadline(deployment, status, now)),
  };
}

/** Returns the writes that bring ReplicaSets to their desired state: at most one write each. */
function writes({ deployment, sets, present }: State, resizes: readonly Resize[]): readonly Action[] {
  const { newSet } = sets;
  const isChanged = present !== undefined && newSet !== present && !resizes.some(({ set }) => set === newSet);
  return [
    ...(newSet && !present ? [creation(deployment, newSet)] : []),
    ...(newSet && isChanged ? [update(newSet)] : []),
    ...resizes.flatMap(({ set, replicas }) =>
      change(deployment, set === newSet ? (present ?? set) : set, set, replicas),
    ),
  ];
}

function creation(deployment: Deployment, newSet: ReplicaSet): Action {
  const name = newSet.metadata.name ?? '';
  const replicas = replicasOf(newSet);
  return withOutcomeEvents(create(newSet), {
    about: deployment,
    ...(replicas > 0 ? { done: scaled(name, 0, replicas) } : {}),
    failed: { reason: 'ReplicaSetCreateError', message: createFailureMessage(name, '{error}') },
  });
}

function createFailureMessage(name: string, why: string): string {
  return `Failed to create new replica set "${name}": ${why}`;
}

/** Updates a ReplicaSet to its desired state and size. */
function change(deployment: Deployment, present: ReplicaSet, wanted: ReplicaSet, replicas: number): readonly Action[] {
  const changed = resized(deployment, wanted, replicas);
  if (changed === present) return [];
  const before = replicasOf(present);
  if (before === replicas) return [update(changed)];
  return [
    withOutcomeEvents(update(changed), {
      about: deployment,
      done: scaled(changed.metadata.name ?? '', before, replicas),
    }),
  ];
}

function scaled(name: string, from: number, to: number) {
  const direction = from < to ? 'up' : 'down';
  return { reason: 'ScalingReplicaSet', message: `Scaled ${direction} replica set ${name} from ${from} to ${to}` };
}

/** Deletes the oldest ReplicaSets above the revision history limit, if they have no Pods. */
function pruneRevisionHistory({ spec }: Deployment, oldSets: readonly ReplicaSet[]): readonly Step[] {
  const limit = spec?.revisionHistoryLimit;
  if (limit === undefined || limit === 2 ** 31 - 1) return [];
  const alive = oldSets.filter(({ metadata }) => metadata.deletionTimestamp == null);
  const surplus = alive.toSorted(compareRevisions).slice(0, Math.max(0, alive.length - limit));
  return parallel(surplus.filter((set) => replicasOf(set) === 0 && isSettled(set)).map(remove));
}

/** Reports whether a ReplicaSet has no Pods and has observed its latest generation. */
function isSettled({ status, metadata }: ReplicaSet): boolean {
  const { replicas = 0, observedGeneration = 0 } = status ?? {};
  return replicas === 0 && Number(metadata.generation ?? 0) <= Number(observedGeneration);
}

/** Executes actions, sets the revision annotation of the Deployment, and reports the status. */
function withStatus(state: State, actions: readonly Step[], counts: DeploymentStatus, now: Instant): Decided {
  const { deployment, sets, collisionCount } = state;
  const status = { ...counts, ...(collisionCount === undefined ? {} : { collisionCount }) };
  const marked = sets.newSet ? atRevision(deployment, sets.newSet) : deployment;
  const report: Deployment = { ...marked, status };
  return {
    // Annotations are written with the status update, so they need no extra request.
    actions: marked === deployment ? actions : [...actions, { ...update(report), subresource: 'status' }],
    status: (outcome) => statusAfter(deployment, outcome, status, now),
  };
}

/** Returns the status for the outcome of the actions: after a failure the replica counts are not updated. */
function statusAfter(
  deployment: Deployment,
  { failures: [failure] }: Outcome,
  status: DeploymentStatus,
  now: Instant,
): DeploymentStatus | undefined {
  if (!failure) return status;
  const { action, error } = failure;
  if (action.type !== 'create' || isNamespaceTerminating(error)) return deployment.status;
  const message = createFailureMessage(action.object.metadata.name ?? '', errorText(error));
  // Starts from the conditions before the attempt, so that a repeated failure does not write the status again.
  return { ...deployment.status, conditions: withCreateFailure(deployment, withPause(deployment, now), message, now) };
}
