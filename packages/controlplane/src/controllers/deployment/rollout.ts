/** The next step of a rollout: which ReplicaSets grow or shrink (kcm.md §2.3, §2.4). */
import type { Deployment } from '@kruise/api/apps/deployment';
import type { ReplicaSet } from '@kruise/api/apps/replicaset';
import {
  activeOf,
  allOf,
  type Budget,
  budgetOf,
  isRolling,
  lastingOf,
  type Resize,
  replicasOf,
  totalOf,
} from './replica-sets.ts';

/** The ReplicaSets of a Deployment that has one of its template. */
export type WithNewSet = { readonly newSet: ReplicaSet; readonly oldSets: readonly ReplicaSet[] };

/** The size the new ReplicaSet may have beside the others. */
export function roomForNewSet(deployment: Deployment, newSetReplicas: number, total: number): number {
  const replicas = replicasOf(deployment);
  if (!isRolling(deployment)) return replicas;
  const room = replicas + budgetOf(deployment).maxSurge - total;
  return room <= 0 ? newSetReplicas : Math.min(newSetReplicas + room, replicas);
}

/** One step of replacing Pods little by little: the new ReplicaSet grows as far as it may, else old ones shrink. */
export function rollingStep(deployment: Deployment, sets: WithNewSet): readonly Resize[] {
  const { newSet } = sets;
  const replicas = replicasOf(deployment);
  const size = replicasOf(newSet);
  const wanted = size > replicas ? replicas : roomForNewSet(deployment, size, totalOf(allOf(sets)));
  if (size !== replicas && wanted !== size) return [{ set: newSet, replicas: wanted }];
  return shrinkOldSets(deployment, sets, budgetOf(deployment));
}

/**
 * What old ReplicaSets can do without. Pods that are not available go first: they serve nobody, and may keep the
 * rollout from going on. A new Pod that is not available yet is not made up for by one more old Pod that goes.
 */
function shrinkOldSets(deployment: Deployment, sets: WithNewSet, { maxUnavailable }: Budget): readonly Resize[] {
  const { newSet } = sets;
  const oldSets = activeOf(sets.oldSets);
  const minAvailable = replicasOf(deployment) - maxUnavailable;
  const newUnavailable = replicasOf(newSet) - lastingOf([newSet]);
  const maxDown = totalOf(allOf(sets)) - minAvailable - newUnavailable;
  if (oldSets.length === 0 || maxDown <= 0) return [];

  let unhealthy = maxDown;
  const sizes = oldSets.map((set) => {
    const removed = Math.min(unhealthy, replicasOf(set) - lastingOf([set]));
    unhealthy -= removed;
    return replicasOf(set) - removed;
  });
  let surplus = Math.max(0, lastingOf(allOf(sets)) - minAvailable);
  return oldSets
    .map((set, index) => {
      const healthy = sizes[index]!;
      const removed = Math.min(surplus, healthy);
      surplus -= removed;
      return { set, replicas: healthy - removed };
    })
    .filter(({ set, replicas }) => replicas !== replicasOf(set));
}
