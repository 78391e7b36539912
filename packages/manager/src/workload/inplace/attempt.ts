/** In-place update of a Pod to a revision, subject to its lifecycle hook. */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod } from '@kruise/api/core/pod';
import type { LifecycleHook } from '@kruise/api/kruise/lifecycle';
import { type Action, type PatchAction, withOutcomeEvents } from '@kruise/client/actions';
import type { KubernetesObject } from '@kruise/client/object-key';
import type { Instant } from '@kruise/values/time';
import { changeState, isHooked, lifecycleStateOf, stateMetadata } from '../lifecycle/lifecycle.ts';
import type { UpdateSpec } from './state.ts';
import { type Engine, startUpdate } from './update.ts';

export type Attempt = {
  /** The workload, on which the events of the update are recorded. */
  readonly workload: KubernetesObject;
  readonly to: ControllerRevision;
  readonly spec: UpdateSpec;
  readonly hook: LifecycleHook | undefined;
  /** Gives every Pod a lifecycle state, including Pods that have none. */
  readonly marksEveryPod: boolean;
};

/** The actions of this reconcile; none while a hook blocks the Pod. */
export type AttemptResult = {
  readonly actions: readonly Action[];
  readonly requeueAfterSeconds?: number;
  /** The reason why the Pod cannot be updated in its current state. */
  readonly fault?: string;
};

export function attemptUpdate(pod: Pod, attempt: Attempt, engine: Engine, now: Instant): AttemptResult {
  const { workload, to, spec, hook, marksEveryPod } = attempt;
  const markNotReady = hook?.markPodNotReady;
  const state = lifecycleStateOf(pod);
  const how = `in-place(revision ${to.metadata.name})`;
  const prepare = (actions: readonly PatchAction[]): AttemptResult => ({
    actions: engine.permissions.afterDryRun(announceRefusal(actions, workload, how), pod, spec, engine),
  });
  switch (state) {
    case undefined:
    case 'PreparingNormal':
    case 'Normal':
      if (isHooked(hook, pod)) return prepare(changeState(pod, { to: 'PreparingUpdate', markNotReady }, now));
      break;
    case 'Updated':
      // Restores the hook, so that its owner must approve the update again.
      return hook
        ? prepare(changeState(pod, { to: 'PreparingUpdate', markNotReady, restoring: hook }, now))
        : { actions: [] };
    case 'PreparingUpdate':
      if (isHooked(hook, pod)) return { actions: [] };
      break;
    case 'Updating':
      break;
    default:
      return { actions: [], fault: `not allowed to in-place update pod ${pod.metadata.name} in state ${state}` };
  }
  const isMarked = marksEveryPod || state !== undefined;
  const actions = startUpdate(pod, spec, engine, now, (started) => (isMarked ? markUpdating(started, now) : started));
  const grace = spec.graceSeconds > 0 ? { requeueAfterSeconds: spec.graceSeconds } : {};
  return { actions: announceUpdate(actions, workload, how), ...grace };
}

function markUpdating(pod: Pod, now: Instant): Pod {
  const { labels, annotations } = stateMetadata('Updating', now);
  const { metadata } = pod;
  return {
    ...pod,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...labels },
      annotations: { ...metadata.annotations, ...annotations },
    },
  };
}

/** Preparations record only their failure: nothing has been updated when they succeed. */
function announceRefusal(
  actions: readonly PatchAction[],
  about: KubernetesObject,
  how: string,
): readonly PatchAction[] {
  return actions.map((action) => withOutcomeEvents(action, { about, failed: failedUpdate(how) }));
}

function failedUpdate(how: string) {
  return { reason: 'FailedUpdatePodInPlace', message: `failed to update pod {name} ${how}: {error}` };
}

/** Records an event: success once all writes are done, failure as soon as one fails. */
export function announceUpdate(
  actions: readonly PatchAction[],
  about: KubernetesObject,
  how: string,
  howDone = how,
): readonly PatchAction[] {
  const failed = failedUpdate(how);
  const done = { reason: 'SuccessfulUpdatePodInPlace', message: `successfully update pod {name} ${howDone}` };
  return actions.map((action, index) =>
    withOutcomeEvents(action, { about, failed, ...(index === actions.length - 1 ? { done } : {}) }),
  );
}
