/**
 * First readiness of a Pod: the first values of its readiness gates `KruisePodReady` and `InPlaceUpdateReady`, and the
 * controller that sets them. Both start as True. Until they are set, the kubelet reports the Pod as not ready.
 *
 * | Pod | set to True | by |
 * | --- | --- | --- |
 * | of no Kruise workload, or without the gate `InPlaceUpdateReady` | `KruisePodReady` | pod-readiness, at once |
 * | of a Kruise workload, not scheduled | both | pod-readiness, 2 s after its creation |
 * | scheduled, in lifecycle state PreparingNormal | both, with the next state | CloneSet, at once; pod-readiness after 10 s |
 * | scheduled, in another state | both | pod-readiness, at once |
 *
 * The in-place update of a workload sets what is still missing when it examines the Pod (`endInPlaceUpdate`).
 */
import type { Pod } from '@kruise/api/core/pod';
import { appsGroup, inPlaceUpdateReadyCondition, kruisePodReadyCondition } from '@kruise/api/kruise/well-known';
import { isBeingDeleted } from '@kruise/client/actions';
import { controllerOf } from '@kruise/machinery/owner-references';
import { groupOf } from '@kruise/schema/kind';
import { lifecycleStateOf } from '../lifecycle/lifecycle.ts';
import { areGatesUninitialized, isGateUninitialized } from './pod-readiness.ts';

export type FirstReadiness = {
  /** Readiness gates to set to True. */
  readonly gates: readonly string[];
  /** Controller that sets them at once; undefined while the Pod is not scheduled. */
  readonly writer: 'pod-readiness' | 'cloneset' | undefined;
  /** Age of the Pod at which pod-readiness sets them in any case. */
  readonly waitMs: number;
};

/**
 * Time for a newly created Pod to be scheduled: the scheduler is about to write the Pod, and the conditions have no use
 * until then.
 */
const schedulingMs = 2000;
/** Time for a CloneSet to set the conditions itself, together with the lifecycle state. */
const workloadMs = 10_000;

/** Returns the first readiness of a Pod; undefined if it is already set, or if the Pod has no gate or is terminating. */
export function firstReadinessOf(pod: Pod): FirstReadiness | undefined {
  if (isBeingDeleted(pod) || !isGateUninitialized(pod)) return undefined;
  if (!areGatesUninitialized(pod) || groupOf(controllerOf(pod)?.apiVersion ?? '') !== appsGroup) {
    return { gates: [kruisePodReadyCondition], writer: 'pod-readiness', waitMs: 0 };
  }
  // The first value is the same for all Pods of Kruise workloads. Setting both gates at once saves the workload a write
  // for each Pod, and the kubelet's response to it.
  const gates = [kruisePodReadyCondition, inPlaceUpdateReadyCondition];
  if (!isScheduled(pod)) return { gates, writer: undefined, waitMs: schedulingMs };
  return isNewlyCreated(pod)
    ? { gates, writer: 'cloneset', waitMs: workloadMs }
    : { gates, writer: 'pod-readiness', waitMs: 0 };
}

/** Reports whether a Pod still gets its first readiness together with its first lifecycle state. */
export function isNewlyCreated(pod: Pod): boolean {
  return lifecycleStateOf(pod) === 'PreparingNormal' && areGatesUninitialized(pod);
}

/** Reports whether a Pod has a node. Older schedulers take a Pod for another one when its labels change before. */
export function isScheduled({ spec }: Pod): boolean {
  return Boolean(spec?.nodeName);
}
