/**
 * Scaling while several ReplicaSets have Pods (kcm.md §2.5): each grows or shrinks by its share, so that scaling does not
 * carry a rollout forward that may yet turn out to be a mistake.
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
  reported,
  totalOf,
} from './replica-sets.ts';
import { desiredReplicasOf, maxReplicasOf } from './revisions.ts';

/** Whether the Deployment has been scaled since its ReplicaSets were last told of its size. */
export function isScaled(deployment: Deployment, sets: ReplicaSets): boolean {
  const replicas = replicasOf(deployment);
  return activeOf(allOf(sets)).some((set) => (desiredReplicasOf(set) ?? replicas) !== replicas);
}

/**
 * The sizes ReplicaSets are to have. One that keeps its size is named too where it is to be told of the whole: until all
 * have been told, the rollout does not go on.
 *
 * A paused Recreate Deployment with several active ReplicaSets is left alone, as upstream does: controllers that take
 * over such a Deployment, as kruise-rollout's does, detect scaling by the annotations of its ReplicaSets.
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

/** The only ReplicaSet that has Pods, or the latest if none has. */
function onlyActiveOrLatest(sets: ReplicaSets): ReplicaSet | undefined {
  const [first, second] = activeOf(allOf(sets));
  if (second) return undefined;
  return first ?? sets.newSet ?? sets.oldSets.at(-1);
}

/** Whether the new ReplicaSet has taken over, by what it is to have, was told, and has. */
function isSaturated(deployment: Deployment, newSet: ReplicaSet): boolean {
  const replicas = replicasOf(deployment);
  return (
    replicasOf(newSet) === replicas &&
    desiredReplicasOf(newSet) === replicas &&
    reported([newSet], 'availableReplicas') === replicas
  );
}

function shares(deployment: Deployment, active: readonly ReplicaSet[]): readonly Resize[] {
  const replicas = replicasOf(deployment);
  const allowed = replicas > 0 ? replicas + budgetOf(deployment).maxSurge : 0;
  const toAdd = allowed - totalOf(active);
  // The largest come first; of two of one size the newer grows, and the older shrinks.
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

/** By how much a ReplicaSet is to change for its part of the whole to stay what it was. */
function shareOf(deployment: Deployment, set: ReplicaSet, allowed: number): number {
  const size = replicasOf(set);
  if (allowed === 0) return -size;
  const before = maxReplicasOf(set) || (deployment.status?.replicas ?? 0);
  return before === 0 ? 0 : Math.round((size * allowed) / before) - size;
}
