/** Pod readiness controller: sets the `KruisePodReady` condition of every new Pod with that readiness gate. */
import { type Pod, pod } from '@kruise/api/core/pod';
import { appsGroup, inPlaceUpdateReadyCondition, kruisePodReadyCondition } from '@kruise/api/kruise/well-known';
import { isBeingDeleted } from '@kruise/client/actions';
import { type Decision, defineController } from '@kruise/client/controller';
import { controllerOf } from '@kruise/machinery/owner-references';
import { groupOf } from '@kruise/schema/kind';
import { type Instant, parseTime } from '@kruise/values/time';
import { lifecycleStateOf } from '../lifecycle/lifecycle.ts';
import { areGatesUninitialized, isGateUninitialized, openGates } from './pod-readiness.ts';

export const podReadinessController = defineController({
  name: 'pod-readiness-controller',
  component: 'pod-readiness-controller',
  for: pod,
  predicate: ({ type, object }) => type !== 'deleted' && isGateUninitialized(object),
  // Enough workers to be faster than the kubelets: their first status update then reports the Pod as ready at once.
  workers: 64,
  observe: (caches, key) => caches.of(pod).get(key),
  decide,
});

/**
 * Reports whether a Pod waits for its OpenKruise workload to set the InPlaceUpdateReady condition. The first value is
 * the same for all new Pods: writing it here saves the workload a write for each Pod, and the kubelet's response to it.
 */
function isNewKruisePod(found: Pod): boolean {
  return areGatesUninitialized(found) && groupOf(controllerOf(found)?.apiVersion ?? '') === appsGroup;
}

/**
 * Time for a new Pod to be scheduled: the scheduler is about to write the Pod, and the condition has no use until then.
 */
const schedulingMs = 2000;
/** Time for a CloneSet to set the condition itself, together with the lifecycle state. */
const workloadMs = 10_000;

function waitLimitMs(found: Pod): number {
  if (!found.spec?.nodeName) return schedulingMs;
  return lifecycleStateOf(found) === 'PreparingNormal' ? workloadMs : 0;
}

/** Returns the age of a Pod by the local clock, which may be behind. */
function ageMsOf({ metadata }: Pod, now: Instant): number {
  return metadata.creationTimestamp ? Math.abs(now - parseTime(metadata.creationTimestamp)) : Number.POSITIVE_INFINITY;
}

export function decide(found: Pod, now: Instant): Decision<Pod['status']> {
  if (isBeingDeleted(found) || !isGateUninitialized(found)) return { actions: [] };
  if (!isNewKruisePod(found)) {
    // No resourceVersion: while a thousand Pods start at once, kubelets write all the time.
    return { actions: [openGates(found, [kruisePodReadyCondition], now)] };
  }
  const waitMs = waitLimitMs(found) - ageMsOf(found, now);
  if (waitMs > 0) return { actions: [], requeueAfterSeconds: waitMs / 1000 };
  // The workload may have started an update since the last read, so a concurrent write must result in a conflict.
  return {
    actions: [openGates(found, [kruisePodReadyCondition, inPlaceUpdateReadyCondition], now, { atVersion: true })],
  };
}
