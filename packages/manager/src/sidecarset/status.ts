import type { Pod } from '@kruise/api/core/pod';
import type { SidecarSet, SidecarSetStatus } from '@kruise/api/kruise/sidecarset';
import type { RevisionPlan } from '@kruise/machinery/controller-revision';
import { isUpdated } from './marks.ts';
import { isConsistent, isReady } from './pod-state.ts';

/** Counts the Pods with sidecars of the SidecarSet. */
export function statusOf(
  sidecarSet: SidecarSet,
  pods: readonly Pod[],
  { update, collisionCount }: RevisionPlan,
): SidecarSetStatus {
  const ready = pods.filter((pod) => isConsistent(pod, sidecarSet) && isReady(pod, sidecarSet));
  const isUpdatedPod = (pod: Pod) => isUpdated(pod, sidecarSet);
  const updatedReadyPods = ready.filter(isUpdatedPod).length;
  return {
    observedGeneration: sidecarSet.metadata.generation ?? 0,
    matchedPods: pods.length,
    updatedPods: pods.filter(isUpdatedPod).length,
    readyPods: ready.length,
    ...(updatedReadyPods > 0 ? { updatedReadyPods } : {}),
    latestRevision: update.metadata.name ?? '',
    collisionCount,
  };
}
