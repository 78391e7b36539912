/** Whether the Pods of Kruise's workloads can be relied on: Kubernetes' notion, and Kruise's gate and states on top. */
import type { Pod } from '@kruise/api/core/pod';
import { inPlaceUpdateReadyCondition } from '@kruise/api/kruise/well-known';
import { findCondition } from '@kruise/machinery/conditions';
import { isPodReady, readySince, secondsUntilAvailable } from '@kruise/machinery/pods';
import type { Instant } from '@kruise/values/time';
import { lifecycleStateOf } from './lifecycle/lifecycle.ts';

/** Whether a Pod runs, is ready, and is not being updated in place. */
export function isRunningAndReady(pod: Pod): boolean {
  if (pod.status?.phase !== 'Running' || !isPodReady(pod)) return false;
  const gate = findCondition(pod.status.conditions, inPlaceUpdateReadyCondition);
  return gate === undefined || gate.status === 'True';
}

/** Whether a Pod has been ready for so long that it can be relied on, and waits in no hook. */
export function isAvailable(pod: Pod, minReadySeconds: number, now: Instant): boolean {
  const state = lifecycleStateOf(pod);
  return (state === undefined || state === 'Normal') && isServing(pod, minReadySeconds, now);
}

/** Whether a Pod has taken traffic for so long that it can be relied on, though nobody may have called it Normal yet. */
export function isServing(pod: Pod, minReadySeconds: number, now: Instant): boolean {
  if (!isRunningAndReady(pod)) return false;
  if (minReadySeconds <= 0) return true;
  const since = readySince(pod);
  return since !== undefined && since + minReadySeconds * 1000 < now;
}

/** In how many seconds the next Pod can be relied on, by time alone; undefined if none will. */
export function secondsUntilNextIsAvailable(
  pods: Iterable<Pod>,
  minReadySeconds: number,
  now: Instant,
): number | undefined {
  // A Pod counts from the moment after its time is over.
  return secondsUntilAvailable(pods, minReadySeconds, now - 1);
}
