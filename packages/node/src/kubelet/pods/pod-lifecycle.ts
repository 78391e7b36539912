/**
 * Lifecycle of a Pod on its node: a pure state machine. An event leads to the next state and to effects, which the pod
 * worker applies in order. A stage never goes back.
 *
 *     starting → syncing → terminating → terminated → finished → gone
 */
import type { Pod } from '@kruise/api/core/pod';
import { isSame } from '@kruise/machinery/json-value';
import { hasMetadataFiles } from '../volumes/volume-content.ts';
import { isTerminalPhase } from './phase.ts';
import { isKubeletCondition } from './pod-conditions.ts';

/**
 * Stage of a Pod.
 *
 * - `starting`: known to the node, not synced yet. The Pod may still wait for admission.
 * - `syncing`: its containers are brought to the Pod spec.
 * - `terminating`: its containers are being killed.
 * - `terminated`: no container runs; volumes and other resources are still in use.
 * - `finished`: no resources are in use; the final status is reported, and the Pod may be deleted from the API.
 * - `gone`: removed from the API, and nothing of it is left on the node.
 */
export type PodStage = 'starting' | 'syncing' | 'terminating' | 'terminated' | 'finished' | 'gone';

/** State of the lifecycle. */
export type PodLifecycle = {
  readonly stage: PodStage;
  /** True if the Pod object is deleted. */
  readonly isRemoved: boolean;
  /** Grace period of a terminating Pod, which never increases. */
  readonly graceSeconds: number | undefined;
};

/** Event of the lifecycle. */
export type LifecycleEvent =
  /** The first sync starts. */
  | { readonly type: 'syncStarted' }
  /** The node does not admit the Pod. */
  | { readonly type: 'rejected' }
  /** The Pod object was updated, or the Pod was admitted. */
  | { readonly type: 'updated'; readonly before: Pod; readonly after: Pod; readonly hasStatus: boolean }
  /** The Pod object was deleted. */
  | { readonly type: 'removed'; readonly pod: Pod }
  /** The Pod must terminate: it is complete, evicted, preempted, or the node shuts down. */
  | {
      readonly type: 'killed';
      readonly pod: Pod;
      /** Overrides the grace period of the Pod. */
      readonly graceSeconds: number | undefined;
      /** True if the status to report was replaced. */
      readonly hasVerdict: boolean;
    }
  /** All containers have terminated. */
  | { readonly type: 'containersTerminated' }
  /** Volumes and other resources are released. */
  | { readonly type: 'resourcesReleased' }
  /** Sandboxes and logs are removed. */
  | { readonly type: 'cleanedUp' };

/**
 * Effect of a transition.
 *
 * - `prepareSync`: starts probes, and watches the objects that the Pod refers to.
 * - `abortSync`: aborts the sync in progress.
 * - `requestSync`: requests a sync, which works on the next stage.
 * - `reportStatus`: reports the status as it is.
 * - `refreshStatus`: computes the status again and reports it.
 * - `freeAllocations`: frees the allocated resources of a Pod without running containers.
 * - `dropStatus`: drops the status of a Pod that no longer exists.
 */
export type LifecycleEffect =
  | 'prepareSync'
  | 'abortSync'
  | 'requestSync'
  | 'reportStatus'
  | 'refreshStatus'
  | 'freeAllocations'
  | 'dropStatus';

/** Result of an event. */
export type Transition = { readonly next: PodLifecycle; readonly effects: readonly LifecycleEffect[] };

/** State of a Pod that has just become known to the node. */
export const initialLifecycle: PodLifecycle = { stage: 'starting', isRemoved: false, graceSeconds: undefined };

/** Reports whether containers of the Pod may be started. */
export function isUp({ stage }: PodLifecycle): boolean {
  return stage === 'starting' || stage === 'syncing';
}

/** Reports whether the Pod may have running containers. */
export function isActive(state: PodLifecycle): boolean {
  return isUp(state) || state.stage === 'terminating';
}

/** Reports whether all containers of a Pod that is still known have terminated. */
export function hasTerminated({ stage }: PodLifecycle): boolean {
  return stage === 'terminated' || stage === 'finished';
}

/** Reports whether the Pod uses no resources of the node. */
export function isFinished({ stage }: PodLifecycle): boolean {
  return stage === 'finished' || stage === 'gone';
}

/** Work of a sync. */
export type StageWork = 'syncPod' | 'syncTerminatingPod' | 'syncTerminatedPod' | 'cleanUpPod' | 'none';

/** Returns the work of a sync in a state. */
export function workOf({ stage, isRemoved }: PodLifecycle): StageWork {
  switch (stage) {
    case 'starting':
    case 'syncing':
      return 'syncPod';
    case 'terminating':
      return 'syncTerminatingPod';
    case 'terminated':
      return 'syncTerminatedPod';
    case 'finished':
      return isRemoved ? 'cleanUpPod' : 'none';
    case 'gone':
      return 'none';
  }
}

const minGraceSeconds = 1;

/** Returns the next state and the effects of an event. An event that does not apply changes nothing. */
export function transition(state: PodLifecycle, event: LifecycleEvent): Transition {
  switch (event.type) {
    case 'syncStarted':
      return state.stage === 'starting' ? enter(state, 'syncing', ['prepareSync']) : stay(state);
    case 'rejected':
      return enter(state, 'finished', ['reportStatus']);
    case 'updated':
      return onUpdate(state, event);
    case 'removed':
      return onRemoval({ ...state, isRemoved: true }, event.pod);
    case 'killed':
      return onKill(state, event);
    case 'containersTerminated':
      return enter(state, 'terminated', ['freeAllocations', 'refreshStatus', 'requestSync']);
    case 'resourcesReleased':
      return enter(state, 'finished', ['refreshStatus', 'requestSync']);
    case 'cleanedUp':
      return enter(state, 'gone', ['dropStatus']);
  }
}

function enter(state: PodLifecycle, stage: PodStage, effects: readonly LifecycleEffect[]): Transition {
  return { next: { ...state, stage }, effects };
}

function stay(next: PodLifecycle, effects: readonly LifecycleEffect[] = []): Transition {
  return { next, effects };
}

type EventOf<T extends LifecycleEvent['type']> = Extract<LifecycleEvent, { readonly type: T }>;

function onUpdate(state: PodLifecycle, { before, after, hasStatus }: EventOf<'updated'>): Transition {
  const { deletionTimestamp, deletionGracePeriodSeconds } = after.metadata;
  if (deletionTimestamp != null) return terminate(state, after, deletionGracePeriodSeconds ?? undefined);
  if (!isUp(state)) return stay(state);
  if (isTerminalPhase(after.status?.phase)) return terminate(state, after, undefined);
  if (state.stage === 'starting' || requiresSync(before, after)) return stay(state, ['requestSync']);
  return stay(state, hasStatus && haveForeignConditionsChanged(before, after) ? ['refreshStatus'] : []);
}

/** A Pod that is deleted without a grace period was deleted by force and gets the shortest one. */
function onRemoval(state: PodLifecycle, pod: Pod): Transition {
  if (state.stage === 'finished') return stay(state, ['requestSync']);
  const isTerminating = pod.metadata.deletionTimestamp != null;
  return terminate(state, pod, isTerminating ? (state.graceSeconds ?? minGraceSeconds) : minGraceSeconds);
}

function onKill(state: PodLifecycle, { pod, graceSeconds, hasVerdict }: EventOf<'killed'>): Transition {
  const transition = terminate(state, pod, graceSeconds);
  // Until the containers have terminated, the next observation reports the status.
  return hasVerdict && !isActive(state)
    ? { ...transition, effects: ['reportStatus', ...transition.effects] }
    : transition;
}

/** Terminates the Pod, or shortens the grace period of a terminating Pod: its sync starts again with the new one. */
function terminate(state: PodLifecycle, pod: Pod, requestedSeconds: number | undefined): Transition {
  switch (state.stage) {
    case 'starting':
    case 'syncing': {
      const graceSeconds = Math.max(minGraceSeconds, requestedSeconds ?? graceSecondsOf(pod));
      return stay({ ...state, stage: 'terminating', graceSeconds }, ['abortSync', 'requestSync']);
    }
    case 'terminating': {
      const { graceSeconds = Number.POSITIVE_INFINITY } = state;
      const next = Math.max(minGraceSeconds, requestedSeconds ?? graceSecondsOf(pod));
      return next < graceSeconds ? stay({ ...state, graceSeconds: next }, ['abortSync', 'requestSync']) : stay(state);
    }
    case 'terminated':
    case 'finished':
    case 'gone':
      return stay(state, ['requestSync']);
  }
}

function graceSecondsOf({ metadata, spec }: Pod): number {
  return metadata.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? 30;
}

/** Reports whether an update requires a sync: most updates are the kubelet's own status writes. */
function requiresSync(before: Pod, after: Pod): boolean {
  const { metadata: a } = before;
  const { metadata: b } = after;
  if (a.generation !== b.generation || (a.generation === undefined && !isSame(before.spec, after.spec))) return true;
  // Environment variables keep the metadata of the container start; files of downward API volumes are updated.
  return hasMetadataFiles(after) && (!isSame(a.labels, b.labels) || !isSame(a.annotations, b.annotations));
}

/** Reports whether conditions of other controllers changed, which readiness gates may depend on. */
function haveForeignConditionsChanged(before: Pod, after: Pod): boolean {
  if (before.status === after.status) return false;
  const foreign = (pod: Pod) => (pod.status?.conditions ?? []).filter(({ type }) => !isKubeletCondition(type));
  return !isSame(foreign(before), foreign(after));
}
