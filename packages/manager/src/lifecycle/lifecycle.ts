/**
 * The states a Pod of a Kruise workload passes through, and the hooks at which it waits for somebody else
 * (inplace-update.md §11). A hook is labels and finalizers: what is on the Pod blocks what must not happen yet, and
 * what must be on the Pod lets happen what waits for it.
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

/** The state a Pod is in; none if nobody has put it into one. */
export function lifecycleStateOf({ metadata }: Pod): LifecycleState | undefined {
  return metadata.labels?.[lifecycleStateLabel] as LifecycleState | undefined;
}

/** What says that a Pod is in a state. */
export function stateMarks(state: LifecycleState, now: Instant) {
  return {
    labels: { [lifecycleStateLabel]: state },
    annotations: { [lifecycleTimestampAnnotation]: formatTime(now) },
  };
}

/** Whether a Pod carries anything of a hook, and so must wait before it is updated or deleted. */
export function isHooked(hook: LifecycleHook | undefined, { metadata }: Pod): boolean {
  if (!hook) return false;
  return (
    (hook.finalizersHandler ?? []).some((finalizer) => metadata.finalizers?.includes(finalizer)) ||
    Object.entries(hook.labelsHandler ?? {}).some(([key, value]) => metadata.labels?.[key] === value)
  );
}

/** Whether a Pod carries all of a hook, and so is done waiting after it was made or updated. */
export function isAllHooked(hook: LifecycleHook | undefined, { metadata }: Pod): boolean {
  if (!hook) return false;
  return (
    (hook.finalizersHandler ?? []).every((finalizer) => metadata.finalizers?.includes(finalizer)) &&
    Object.entries(hook.labelsHandler ?? {}).every(([key, value]) => metadata.labels?.[key] === value)
  );
}

/** How a Pod changes its state. */
export type StateChange = {
  readonly to: LifecycleState;
  /** Whether the hook that goes with the state makes the Pod not ready. */
  readonly markNotReady?: boolean | undefined;
  /** Puts the hook back on the Pod, so that it blocks again. */
  readonly restoring?: LifecycleHook;
};

/** What it takes to bring a Pod into a state; nothing if it is in it already. */
export function changeState(
  pod: Pod,
  { to, markNotReady = false, restoring }: StateChange,
  now: Instant,
): PatchAction[] {
  const readiness = markNotReady ? readinessActions(pod, to, now) : [];
  const marks = lifecycleStateOf(pod) === to ? undefined : stateMarks(to, now);
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

/** Who waits to be deleted or updated takes no traffic; who has been updated, or need not be, does again. */
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

/** Lets a Pod that waits in no hook be ready: whoever made it not ready for one was killed before it could say so. */
export function forgetHolds(pod: Pod, now: Instant): PatchAction[] {
  if (!isConditionFalse(pod.status?.conditions, kruisePodReadyCondition)) return [];
  // Each is written at the version it was seen at, so that there can be one at a time.
  return [beforeDeletion, beforeUpdate].flatMap((key) => releaseNotReady(pod, key, now)).slice(0, 1);
}
