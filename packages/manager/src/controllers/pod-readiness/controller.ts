/** Says of every new Pod with the `KruisePodReady` gate that, as far as Kruise is concerned, it is ready. */
import { type Pod, pod } from '@kruise/api/core/pod';
import { appsGroup, inPlaceUpdateReadyCondition, kruisePodReadyCondition } from '@kruise/api/kruise/well-known';
import { isBeingDeleted } from '@kruise/client/actions';
import { type Decision, defineController } from '@kruise/client/controller';
import { findCondition } from '@kruise/machinery/conditions';
import { controllerOf } from '@kruise/machinery/owner-references';
import { groupOf } from '@kruise/schema/kind';
import { formatTime, type Instant, parseTime } from '@kruise/values/time';
import { hasReadinessGate, writeConditions } from '../../readiness/pod-readiness.ts';

export const podReadinessController = defineController({
  name: 'pod-readiness-controller',
  component: 'pod-readiness-controller',
  for: pod,
  wakes: ({ type, object }) => type !== 'deleted' && lacksCondition(object),
  // Enough to be there before kubelets are: what they say of a Pod then says at once that it is ready.
  workers: 64,
  observe: (caches, key) => caches.of(pod).get(key),
  decide,
});

function lacksCondition(found: Pod): boolean {
  return (
    hasReadinessGate(found, kruisePodReadyCondition) &&
    findCondition(found.status?.conditions, kruisePodReadyCondition) === undefined
  );
}

/**
 * Whether a Pod waits for the first word of its workload of Kruise's on updates in place, which is the same for all that
 * have just been made: said here, it saves each of them a write, and the kubelet's answer to that.
 */
function isNewOfKruise(found: Pod): boolean {
  return (
    groupOf(controllerOf(found)?.apiVersion ?? '') === appsGroup &&
    hasReadinessGate(found, inPlaceUpdateReadyCondition) &&
    findCondition(found.status?.conditions, inPlaceUpdateReadyCondition) === undefined
  );
}

/** How long a new Pod is given to find a node. */
const schedulingMs = 2000;

function ageMsOf({ metadata }: Pod, now: Instant): number {
  return metadata.creationTimestamp ? now - parseTime(metadata.creationTimestamp) : Number.POSITIVE_INFINITY;
}

export function decide(found: Pod, now: Instant): Decision<Pod['status']> {
  if (isBeingDeleted(found) || !lacksCondition(found)) return { actions: [] };
  const isNew = isNewOfKruise(found);
  // The scheduler is about to write it: until then nobody needs the word, and afterwards nobody is in the way.
  if (isNew && !found.spec?.nodeName && ageMsOf(found, now) < schedulingMs) {
    return { actions: [], requeueAfterSeconds: schedulingMs / 1000 };
  }
  const types = isNew ? [kruisePodReadyCondition, inPlaceUpdateReadyCondition] : [kruisePodReadyCondition];
  const conditions = types.map((type) => ({ type, status: 'True', lastTransitionTime: formatTime(now) }) as const);
  // Its workload may have begun an update meanwhile. Otherwise any version will do: of a thousand Pods that start at once
  // kubelets write all the while.
  return { actions: [writeConditions(found, conditions, { atVersion: isNew })] };
}
