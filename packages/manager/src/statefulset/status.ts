/** StatefulSet status. */
import type { Pod } from '@kruise/api/core/pod';
import type { StatefulSetStatus } from '@kruise/api/kruise/statefulset';
import { isBeingDeleted } from '@kruise/client/actions';
import { findCondition } from '@kruise/machinery/conditions';
import { nameOfRevision } from '@kruise/machinery/controller-revision';
import { formatLabelSelector } from '@kruise/machinery/label-selector';
import { isPodRunningAndReady } from '@kruise/machinery/pods';
import { formatTime, type Instant } from '@kruise/values/time';
import { presentCount } from '../workload/present-count.ts';
import { volumeClaimsOf } from './resize.ts';
import { isAvailable, type State } from './state.ts';

/** Counts the Pods, and determines the current revision: the update revision, once every Pod is updated and ready. */
export function statusOf(
  state: State,
  { collisionCount, outgoing }: { readonly collisionCount: number; readonly outgoing: ReadonlySet<Pod> },
): StatefulSetStatus {
  const { set, pods, slots, current, update, revisionLabels } = state;
  const { metadata, spec } = set;
  const made = pods.filter(({ status }) => Boolean(status?.phase));
  const ready = pods.filter(isPodRunningAndReady);
  const staying = made.filter((pod) => !isBeingDeleted(pod) && !outgoing.has(pod));
  const isAt = (revision: typeof update) => (pod: Pod) => revisionLabels.isAt(pod, nameOfRevision(revision));
  const updatedReady = ready.filter(isAt(update));
  const available = (pod: Pod) => isAvailable(pod, state);
  const updatedReplicas = staying.filter(isAt(update)).length;
  const isComplete =
    spec.updateStrategy?.type === 'RollingUpdate' && updatedReplicas === made.length && ready.length === made.length;
  const volumeClaims = volumeClaimsOf(state, slots);
  return {
    ...(metadata.generation ? { observedGeneration: metadata.generation } : {}),
    replicas: made.length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter(available).length,
    currentReplicas: isComplete ? updatedReplicas : staying.filter(isAt(current)).length,
    updatedReplicas,
    ...presentCount('updatedReadyReplicas', updatedReady.length),
    ...presentCount('updatedAvailableReplicas', updatedReady.filter(available).length),
    currentRevision: nameOfRevision(isComplete ? update : current),
    updateRevision: nameOfRevision(update),
    collisionCount,
    labelSelector: formatLabelSelector(spec.selector),
    ...(volumeClaims.length > 0 ? { volumeClaims } : {}),
  };
}

/**
 * Sets a condition for a Pod that could not be created or updated. The condition lasts as long as the failure and keeps
 * its first transition time.
 */
export function withFailure(
  status: StatefulSetStatus,
  { type, error, verb }: { readonly type: string; readonly error: string; readonly verb: string },
  former: StatefulSetStatus | undefined,
  now: Instant,
): StatefulSetStatus {
  if (findCondition(status.conditions, type)) return status;
  const lastTransitionTime = findCondition(former?.conditions, type)?.lastTransitionTime ?? formatTime(now);
  const message = `StatefulPodControl failed to ${verb} Pod error: ${error}`;
  const condition = { type, status: 'True' as const, lastTransitionTime, message };
  return { ...status, conditions: [...(status.conditions ?? []), condition] };
}
