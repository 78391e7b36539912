/**
 * Lifecycle states of Pods of Kruise workloads, and the hooks at which Pods wait for another controller. A hook
 * consists of labels and finalizers. Before an update or deletion, a hook on the Pod blocks it. After creation or
 * update, the Pod waits until it has the hook.
 */
import type { Pod } from '@kruise/api/core/pod';
import type { LifecycleHook } from '@kruise/api/kruise/lifecycle';
import {
  kruisePodReadyCondition,
  type LifecycleState,
  lifecycleStateLabel,
  lifecycleTimestampAnnotation,
} from '@kruise/api/kruise/well-known';
import type { PatchAction } from '@kruise/client/actions';
import { isConditionFalse } from '@kruise/machinery/conditions';
import { formatTime, type Instant } from '@kruise/values/time';
import { patchPod } from '../patch-pod.ts';
import { holdNotReady, releaseNotReady } from '../readiness/pod-readiness.ts';

/** Returns the lifecycle state of a Pod; undefined if it has none. */
export function lifecycleStateOf({ metadata }: Pod): LifecycleState | undefined {
  return metadata.labels?.[lifecycleStateLabel] as LifecycleState | undefined;
}

/** Returns the metadata of a Pod in a state. */
export function stateMetadata(state: LifecycleState, now: Instant) {
  return {
    labels: { [lifecycleStateLabel]: state },
    annotations: { [lifecycleTimestampAnnotation]: formatTime(now) },
  };
}

/** Reports whether a Pod has any part of a hook, and must wait before it is updated or deleted. */
export function isHooked(hook: LifecycleHook | undefined, { metadata }: Pod): boolean {
  if (!hook) return false;
  return (
    (hook.finalizersHandler ?? []).some((finalizer) => metadata.finalizers?.includes(finalizer)) ||
    Object.entries(hook.labelsHandler ?? {}).some(([key, value]) => metadata.labels?.[key] === value)
  );
}

/** Reports whether a Pod has all parts of a hook, and need not wait after it was created or updated. */
export function isAllHooked(hook: LifecycleHook | undefined, { metadata }: Pod): boolean {
  if (!hook) return false;
  return (
    (hook.finalizersHandler ?? []).every((finalizer) => metadata.finalizers?.includes(finalizer)) &&
    Object.entries(hook.labelsHandler ?? {}).every(([key, value]) => metadata.labels?.[key] === value)
  );
}

/** A transition of the lifecycle state. */
export type StateChange = {
  readonly to: LifecycleState;
  /** The hook of the state makes the Pod not ready. */
  readonly markNotReady?: boolean | undefined;
  /** Restores the hook on the Pod, so that it blocks again. */
  readonly restoring?: LifecycleHook;
};

/** Returns the writes that bring a Pod into a state; none if it is in the state already. */
export function changeState(
  pod: Pod,
  { to, markNotReady = false, restoring }: StateChange,
  now: Instant,
): PatchAction[] {
  const readiness = markNotReady ? readinessActions(pod, to, now) : [];
  const marks = lifecycleStateOf(pod) === to ? undefined : stateMetadata(to, now);
  if (!marks) return readiness;
  const { metadata } = pod;
  const missing = (restoring?.finalizersHandler ?? []).filter((each) => !metadata.finalizers?.includes(each));
  const changed: Pod = {
    ...pod,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...restoring?.labelsHandler, ...marks.labels },
      annotations: { ...metadata.annotations, ...marks.annotations },
      ...(missing.length > 0 ? { finalizers: [...(metadata.finalizers ?? []), ...missing] } : {}),
    },
  };
  return [...readiness, patchPod(pod, changed)];
}

const holder = 'Lifecycle';
const beforeDeletion = { userAgent: holder, key: 'preDeleteHook' };
const beforeUpdate = { userAgent: holder, key: 'preUpdateHook' };

/**
 * A Pod that waits for its deletion or update is not ready. After its update, or when the update is no longer needed,
 * it becomes ready again.
 */
function readinessActions(pod: Pod, state: LifecycleState, now: Instant): PatchAction[] {
  switch (state) {
    case 'PreparingDelete':
      return holdNotReady(pod, beforeDeletion, now);
    case 'PreparingUpdate':
      return holdNotReady(pod, beforeUpdate, now);
    case 'Updated':
    case 'Normal':
      return releaseNotReady(pod, beforeUpdate, now);
    default:
      return [];
  }
}

/**
 * Removes stale NotReady keys from a Pod that waits in no hook: the controller that set one may have been killed before
 * it removed the key.
 */
export function removeStaleHolds(pod: Pod, now: Instant): PatchAction[] {
  if (!isConditionFalse(pod.status?.conditions, kruisePodReadyCondition)) return [];
  // Each write has the observed resourceVersion as its precondition, so only one is possible at a time.
  return [beforeDeletion, beforeUpdate].flatMap((key) => releaseNotReady(pod, key, now)).slice(0, 1);
}
