/**
 * Proportional scaling while several ReplicaSets have Pods: each scales by its share, so that scaling does not advance
 * a rollout that may turn out to be a mistake.
 */
import type { Deployment } from '@kruise/api/apps/deployment';
import type { ReplicaSet } from '@kruise/api/apps/replicaset';
import {
  activeOf,
  allOf,
  budgetOf,
  compareAges,
  isRolling,
  type ReplicaSets,
  type Resize,
  replicasOf,
  sumOfStatus,
  totalOf,
} from '@kruise/workload-kit/replica-sets';
import { desiredReplicasOf, maxReplicasOf } from './revisions.ts';

/** Reports whether the Deployment was scaled since the size annotations of its ReplicaSets were written. */
export function isScaled(deployment: Deployment, sets: ReplicaSets): boolean {
  const replicas = replicasOf(deployment);
  return activeOf(allOf(sets)).some((set) => (desiredReplicasOf(set) ?? replicas) !== replicas);
}

/**
 * Returns the new sizes of the ReplicaSets. A ReplicaSet that keeps its size is included if its size annotations are
 * stale: until all annotations are up to date, the rollout does not continue.
 *
 * A paused Recreate Deployment with several active ReplicaSets is left unchanged, as upstream does: controllers that
 * take over such a Deployment, such as kruise-rollout, detect scaling by the annotations of its ReplicaSets.
 */
export function scaleSets(deployment: Deployment, sets: ReplicaSets): readonly Resize[] {
  const replicas = replicasOf(deployment);
  const only = onlyActiveOrLatest(sets);
  if (only) return replicasOf(only) === replicas && !isScaled(deployment, sets) ? [] : [{ set: only, replicas }];
  if (sets.newSet && isSaturated(deployment, sets.newSet)) {
    return activeOf(sets.oldSets).map((set) => ({ set, replicas: 0 }));
  }
  const active = activeOf(allOf(sets));
  if (isRolling(deployment)) return shares(deployment, active);
  return deployment.spec?.paused ? [] : active.map((set) => ({ set, replicas: replicasOf(set) }));
}

/** Returns the only active ReplicaSet, or the latest one if none is active. */
function onlyActiveOrLatest(sets: ReplicaSets): ReplicaSet | undefined {
  const [first, second] = activeOf(allOf(sets));
  if (second) return undefined;
  return first ?? sets.newSet ?? sets.oldSets.at(-1);
}

/**
 * Reports whether the new ReplicaSet is saturated: its spec, its size annotation and its available replicas equal the
 * desired replicas.
 */
function isSaturated(deployment: Deployment, newSet: ReplicaSet): boolean {
  const replicas = replicasOf(deployment);
  return (
    replicasOf(newSet) === replicas &&
    desiredReplicasOf(newSet) === replicas &&
    sumOfStatus([newSet], 'availableReplicas') === replicas
  );
}

function shares(deployment: Deployment, active: readonly ReplicaSet[]): readonly Resize[] {
  const replicas = replicasOf(deployment);
  const allowed = replicas > 0 ? replicas + budgetOf(deployment).maxSurge : 0;
  const toAdd = allowed - totalOf(active);
  // The largest come first; of two with the same size, the newer one scales up and the older one scales down.
  const sorted = active.toSorted(
    (a, b) => replicasOf(b) - replicasOf(a) || (toAdd > 0 ? compareAges(b, a) : compareAges(a, b)),
  );
  let left = toAdd;
  const resizes = sorted.map((set) => {
    const share = left === 0 ? 0 : shareOf(deployment, set, allowed);
    const added = toAdd > 0 ? Math.min(share, left) : Math.max(share, left);
    left -= added;
    return { set, replicas: replicasOf(set) + added };
  });
  const [first, ...others] = resizes;
  return first ? [{ ...first, replicas: Math.max(0, first.replicas + left) }, ...others] : [];
}

/** Returns the change in size that keeps a ReplicaSet's share of the whole. */
function shareOf(deployment: Deployment, set: ReplicaSet, allowed: number): number {
  const size = replicasOf(set);
  if (allowed === 0) return -size;
  const before = maxReplicasOf(set) || (deployment.status?.replicas ?? 0);
  return before === 0 ? 0 : Math.round((size * allowed) / before) - size;
}
