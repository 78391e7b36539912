/**
 * Availability of the Pods of Kruise's workloads: Kubernetes' definition, plus Kruise's readiness gate and lifecycle
 * states.
 */
import type { Pod } from '@kruise/api/core/pod';
import { inPlaceUpdateReadyCondition } from '@kruise/api/kruise/well-known';
import { findCondition } from '@kruise/machinery/conditions';
import { isPodRunningAndReady, readySince, secondsUntilAvailable } from '@kruise/machinery/pods';
import type { Instant } from '@kruise/values/time';
import { lifecycleStateOf } from './lifecycle/lifecycle.ts';

/** Reports whether a Pod is running and ready, and is not being updated in place. */
export function isRunningAndReady(pod: Pod): boolean {
  if (!isPodRunningAndReady(pod)) return false;
  const gate = findCondition(pod.status?.conditions, inPlaceUpdateReadyCondition);
  return gate === undefined || gate.status === 'True';
}

/** Reports whether a Pod has been ready for minReadySeconds, and waits in no hook. */
export function isAvailable(pod: Pod, minReadySeconds: number, now: Instant): boolean {
  const state = lifecycleStateOf(pod);
  return (state === undefined || state === 'Normal') && isServing(pod, minReadySeconds, now);
}

/** Reports whether a Pod has been ready for minReadySeconds, even if its lifecycle state is not Normal yet. */
export function isServing(pod: Pod, minReadySeconds: number, now: Instant): boolean {
  if (!isRunningAndReady(pod)) return false;
  if (minReadySeconds <= 0) return true;
  const since = readySince(pod);
  return since !== undefined && since + minReadySeconds * 1000 < now;
}

/** Returns the seconds until time alone makes the next Pod available; undefined if no Pod will be. */
export function secondsUntilNextIsAvailable(
  pods: Iterable<Pod>,
  minReadySeconds: number,
  now: Instant,
): number | undefined {
  // A Pod counts from the moment after its minReadySeconds have passed.
  return secondsUntilAvailable(pods, minReadySeconds, now - 1);
}
