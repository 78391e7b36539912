/** Next step of a rollout: new sizes of the ReplicaSets. */
import type { Deployment } from '@kruise/api/apps/deployment';
import type { ReplicaSet } from '@kruise/api/apps/replicaset';
import {
  activeOf,
  allOf,
  type Budget,
  budgetOf,
  isRolling,
  lastingAvailableOf,
  type Resize,
  replicasOf,
  totalOf,
} from '@kruise/workload-kit/replica-sets';

/** ReplicaSets of a Deployment whose new ReplicaSet exists. */
export type WithNewSet = { readonly newSet: ReplicaSet; readonly oldSets: readonly ReplicaSet[] };

/** Returns the size to which the new ReplicaSet may scale up beside the others. */
export function roomForNewSet(deployment: Deployment, newSetReplicas: number, total: number): number {
  const replicas = replicasOf(deployment);
  if (!isRolling(deployment)) return replicas;
  const room = replicas + budgetOf(deployment).maxSurge - total;
  return room <= 0 ? newSetReplicas : Math.min(newSetReplicas + room, replicas);
}

/**
 * Returns one step of a rolling update: the new ReplicaSet scales up as far as allowed, otherwise old ones scale down.
 */
export function rollingStep(deployment: Deployment, sets: WithNewSet): readonly Resize[] {
  const { newSet } = sets;
  const replicas = replicasOf(deployment);
  const size = replicasOf(newSet);
  const wanted = size > replicas ? replicas : roomForNewSet(deployment, size, totalOf(allOf(sets)));
  if (size !== replicas && wanted !== size) return [{ set: newSet, replicas: wanted }];
  return shrinkOldSets(deployment, sets, budgetOf(deployment));
}

/**
 * Scales down old ReplicaSets. Unavailable Pods go first: they serve no traffic and may block the rollout. Unavailable
 * new Pods count against the budget, so that no extra old Pod is deleted for them.
 */
function shrinkOldSets(deployment: Deployment, sets: WithNewSet, { maxUnavailable }: Budget): readonly Resize[] {
  const { newSet } = sets;
  const oldSets = activeOf(sets.oldSets);
  const minAvailable = replicasOf(deployment) - maxUnavailable;
  const newUnavailable = replicasOf(newSet) - lastingAvailableOf([newSet]);
  const maxDown = totalOf(allOf(sets)) - minAvailable - newUnavailable;
  if (oldSets.length === 0 || maxDown <= 0) return [];

  let unhealthy = maxDown;
  const sizes = oldSets.map((set) => {
    const removed = Math.min(unhealthy, replicasOf(set) - lastingAvailableOf([set]));
    unhealthy -= removed;
    return replicasOf(set) - removed;
  });
  let surplus = Math.max(0, lastingAvailableOf(allOf(sets)) - minAvailable);
  return oldSets
    .map((set, index) => {
      const healthy = sizes[index]!;
      const removed = Math.min(surplus, healthy);
      surplus -= removed;
      return { set, replicas: healthy - removed };
    })
    .filter(({ set, replicas }) => replicas !== replicasOf(set));
}
