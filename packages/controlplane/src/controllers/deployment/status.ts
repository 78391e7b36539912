/** Deployment status: replica counts and progress conditions. */
import type { Deployment, DeploymentCondition, DeploymentStatus } from '@kruise/api/apps/deployment';
import { findCondition, withoutCondition } from '@kruise/machinery/conditions';
import { formatTime, type Instant, parseTime } from '@kruise/values/time';
import { allOf, budgetOf, type ReplicaSets, replicasOf, sumOfStatus, totalOf } from '@kruise/workload-kit/replica-sets';

type Conditions = readonly DeploymentCondition[];
type Progress = { readonly status: 'True' | 'False' | 'Unknown'; readonly reason: string; readonly message: string };

const forever = 2 ** 31 - 1;

/** Reports whether the Deployment has a progress deadline. */
export function hasDeadline({ spec }: Deployment): boolean {
  return spec?.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== forever;
}

/** Returns the replica counts and the Available condition; other conditions are unchanged. */
export function countsOf(
  deployment: Deployment,
  sets: ReplicaSets,
  conditions: Conditions,
  now: Instant,
): DeploymentStatus {
  const all = allOf(sets);
  const availableReplicas = sumOfStatus(all, 'availableReplicas');
  const isAvailable = availableReplicas >= replicasOf(deployment) - budgetOf(deployment).maxUnavailable;
  const { collisionCount } = deployment.status ?? {};
  const { generation } = deployment.metadata;
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    replicas: sumOfStatus(all, 'replicas'),
    updatedReplicas: sumOfStatus(sets.newSet ? [sets.newSet] : [], 'replicas'),
    readyReplicas: sumOfStatus(all, 'readyReplicas'),
    availableReplicas,
    // More Pods than desired can be available while some are about to be deleted.
    unavailableReplicas: Math.max(0, totalOf(all) - availableReplicas),
    conditions: withCondition(conditions, isAvailable ? enoughAvailable : tooFewAvailable, now),
    ...(collisionCount === undefined ? {} : { collisionCount }),
  };
}

const enoughAvailable = {
  type: 'Available',
  status: 'True',
  reason: 'MinimumReplicasAvailable',
  message: 'Deployment has minimum availability.',
};
const tooFewAvailable = {
  type: 'Available',
  status: 'False',
  reason: 'MinimumReplicasUnavailable',
  message: 'Deployment does not have minimum availability.',
};

/** Returns the replica counts and the Progressing and ReplicaFailure conditions. */
export function rolloutStatus(
  deployment: Deployment,
  sets: ReplicaSets,
  conditions: Conditions,
  now: Instant,
): DeploymentStatus {
  const counts = countsOf(deployment, sets, conditions, now);
  const progressing = withProgress(deployment, sets, counts, now);
  return { ...counts, conditions: withFailure(sets, progressing, now) };
}

function withProgress(
  deployment: Deployment,
  { newSet }: ReplicaSets,
  status: DeploymentStatus,
  now: Instant,
): Conditions {
  const conditions = status.conditions ?? [];
  if (!hasDeadline(deployment)) return withoutCondition(conditions, 'Progressing');
  const current = findCondition(conditions, 'Progressing');
  // No rollout is in progress, so the deadline does not apply.
  if (status.replicas === status.updatedReplicas && current?.reason === 'NewReplicaSetAvailable') return conditions;

  const subject = newSet ? `ReplicaSet "${newSet.metadata.name}"` : `Deployment "${deployment.metadata.name}"`;
  if (isComplete(deployment, status)) {
    return withCondition(
      conditions,
      progress('True', 'NewReplicaSetAvailable', `${subject} has successfully progressed.`),
      now,
    );
  }
  if (hasProgressed(deployment.status ?? {}, status)) {
    // The condition is rewritten even without other changes, because the deadline starts at its update time.
    const condition = progress('True', 'ReplicaSetUpdated', `${subject} is progressing.`);
    const lastTransitionTime = current?.status === 'True' ? current.lastTransitionTime : formatTime(now);
    const others = withoutCondition(conditions, 'Progressing');
    return [
      ...others,
      { ...condition, lastUpdateTime: formatTime(now), ...(lastTransitionTime ? { lastTransitionTime } : {}) },
    ];
  }
  if (isTimedOut(deployment, current, now)) {
    return withCondition(
      conditions,
      progress('False', 'ProgressDeadlineExceeded', `${subject} has timed out progressing.`),
      now,
    );
  }
  return conditions;
}

function progress(status: Progress['status'], reason: string, message: string) {
  return { type: 'Progressing', status, reason, message };
}

/** Reports whether all Pods are updated and available, and no old Pods are left. */
export function isComplete(deployment: Deployment, status: DeploymentStatus | undefined): boolean {
  const replicas = replicasOf(deployment);
  return (
    (status?.updatedReplicas ?? 0) === replicas &&
    (status?.replicas ?? 0) === replicas &&
    (status?.availableReplicas ?? 0) === replicas &&
    Number(status?.observedGeneration ?? 0) >= Number(deployment.metadata.generation ?? 0)
  );
}

function hasProgressed(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const oldPods = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus) => replicas - updatedReplicas;
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    oldPods(after) < oldPods(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

function isTimedOut(deployment: Deployment, current: DeploymentCondition | undefined, now: Instant): boolean {
  if (!current || current.reason === 'NewReplicaSetAvailable') return false;
  return current.reason === 'ProgressDeadlineExceeded' || deadlineOf(deployment, current) < now;
}

function deadlineOf({ spec }: Deployment, { lastUpdateTime }: DeploymentCondition): Instant {
  return (lastUpdateTime ? parseTime(lastUpdateTime) : 0) + (spec?.progressDeadlineSeconds ?? forever) * 1000;
}

/** Returns the seconds until the progress deadline is exceeded; undefined if the deadline does not apply. */
export function secondsUntilDeadline(
  deployment: Deployment,
  status: DeploymentStatus,
  now: Instant,
): number | undefined {
  const current = findCondition(status.conditions, 'Progressing');
  if (!hasDeadline(deployment) || !current || isComplete(deployment, status)) return undefined;
  if (current.reason === 'ProgressDeadlineExceeded' || current.reason === 'NewReplicaSetAvailable') return undefined;
  // Times have second precision; after one more second the deadline has certainly passed.
  return Math.max(0, (deadlineOf(deployment, current) - now) / 1000) + 1;
}

/** Copies the ReplicaFailure condition of the first ReplicaSet that has one, starting with the new ReplicaSet. */
function withFailure({ newSet, oldSets }: ReplicaSets, conditions: Conditions, now: Instant): Conditions {
  for (const set of newSet ? [newSet, ...oldSets] : oldSets) {
    const failure = findCondition(set.status?.conditions, 'ReplicaFailure');
    if (!failure) continue;
    const { lastTransitionTime } = failure;
    const times = lastTransitionTime ? { lastTransitionTime, lastUpdateTime: lastTransitionTime } : {};
    return withCondition(conditions, { ...failure, ...times }, now);
  }
  return withoutCondition(conditions, 'ReplicaFailure');
}

/** Sets the condition when the Deployment is paused or resumed; the deadline does not run while it is paused. */
export function withPause(deployment: Deployment, now: Instant): Conditions {
  const conditions = deployment.status?.conditions ?? [];
  const current = findCondition(conditions, 'Progressing');
  if (!hasDeadline(deployment) || current?.reason === 'ProgressDeadlineExceeded') return conditions;
  const isPaused = deployment.spec?.paused ?? false;
  if (isPaused === (current?.reason === 'DeploymentPaused')) return conditions;
  return withCondition(
    conditions,
    isPaused
      ? progress('Unknown', 'DeploymentPaused', 'Deployment is paused')
      : progress('Unknown', 'DeploymentResumed', 'Deployment is resumed'),
    now,
  );
}

/** Sets the condition after the new ReplicaSet was created. */
export function withCreatedSet(deployment: Deployment, conditions: Conditions, name: string, now: Instant): Conditions {
  if (!hasDeadline(deployment)) return conditions;
  return withCondition(conditions, progress('True', 'NewReplicaSetCreated', `Created new replica set "${name}"`), now);
}

/** Sets the condition after an existing new ReplicaSet was found, if there is no Progressing condition yet. */
export function withFoundSet(deployment: Deployment, conditions: Conditions, name: string, now: Instant): Conditions {
  if (!hasDeadline(deployment) || findCondition(conditions, 'Progressing')) return conditions;
  return withCondition(conditions, progress('True', 'FoundNewReplicaSet', `Found new replica set "${name}"`), now);
}

/** Sets the condition after the creation of the new ReplicaSet failed. */
export function withCreateFailure(
  deployment: Deployment,
  conditions: Conditions,
  message: string,
  now: Instant,
): Conditions {
  if (!hasDeadline(deployment)) return conditions;
  return withCondition(conditions, progress('False', 'ReplicaSetCreateError', message), now);
}

/**
 * Sets one condition. Unlike other kinds, a Deployment keeps the whole condition, including its message, while status
 * and reason stay the same, and conditions stay in the order in which they were written.
 */
function withCondition(conditions: Conditions, condition: DeploymentCondition, now: Instant): Conditions {
  const current = findCondition(conditions, condition.type);
  if (current?.status === condition.status && current.reason === condition.reason) return conditions;
  const times = { lastUpdateTime: formatTime(now), lastTransitionTime: formatTime(now) };
  const kept = current?.status === condition.status ? { lastTransitionTime: current.lastTransitionTime } : {};
  return [...withoutCondition(conditions, condition.type), { ...times, ...condition, ...kept } as DeploymentCondition];
}
