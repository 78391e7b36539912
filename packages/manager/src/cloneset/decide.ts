/** CloneSet reconciler: keeps the Pods at the desired number of replicas and at the desired template. */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { CloneSet, CloneSetStatus } from '@kruise/api/kruise/cloneset';
import { inPlaceBeforeSurgeAnnotation, reportRolloutBlockersAnnotation } from '@kruise/api/kruise/well-known';
import {
  type Action,
  flattenSteps,
  isBeingDeleted,
  parallel,
  patch,
  remove,
  type Step,
  update as write,
} from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import type { Outcome } from '@kruise/client/execute';
import { noRefusals, type RefusedWrites } from '@kruise/client/refusals';
import { claimsOf } from '@kruise/machinery/claims';
import { findCondition } from '@kruise/machinery/conditions';
import {
  findRevision,
  findRevisionsToPrune,
  nameOfRevision,
  planRevision,
  revisionLabelOf,
} from '@kruise/machinery/controller-revision';
import { isSame } from '@kruise/machinery/json-value';
import { selectorOf } from '@kruise/machinery/label-selector';
import { withoutOwner } from '@kruise/machinery/owner-references';
import { isPodActive } from '@kruise/machinery/pods';
import { errorText } from '@kruise/values/error-text';
import { memoizeInReconcile } from '@kruise/values/memoize';
import type { Instant } from '@kruise/values/time';
import type { DerivedState } from '@kruise/workload-kit/derived-state';
import { earliestRequeue } from '@kruise/workload-kit/earliest-requeue';
import { type ReconcileInterval, reconcileIntervalFor } from '@kruise/workload-kit/reconcile-interval';
import type { ManagerSettings } from '../configuration/settings.ts';
import { permissionsBy } from '../workload/inplace/permission.ts';
import { lifecycleStateOf } from '../workload/lifecycle/lifecycle.ts';
import { isAvailable, secondsUntilNextIsAvailable } from '../workload/pod-availability.ts';
import { hashLabels, shortHash } from '../workload/revision/pod-revision.ts';
import { isSpecifiedDelete } from '../workload/specified-delete.ts';
import { blockersOf, stuckEvent } from './blockers.ts';
import { ownerOf } from './instances.ts';
import { replicasOf } from './numbers.ts';
import { preDownloadImages } from './pre-download.ts';
import { revisionContent, writeRevision } from './revisions.ts';
import { scale } from './scale.ts';
import type { State } from './state.ts';
import { statusOf, withCondition, withProgress } from './status.ts';
import { update } from './update.ts';
import { taskOf } from './update-pod.ts';
import { usableVolumeClaims } from './volume-claims.ts';

export type Observed = {
  readonly cloneSet: CloneSet;
  /** Pods that the CloneSet controls. */
  readonly pods: readonly Pod[];
  /** PVCs that the CloneSet controls. */
  readonly claims: readonly PersistentVolumeClaim[];
  /** Revisions of the CloneSet, from the oldest to the newest. */
  readonly revisions: readonly ControllerRevision[];
  /** Finds a revision by name in the CloneSet's namespace, whatever its owner. */
  readonly findRevision: (name: string) => ControllerRevision | undefined;
  readonly nodeLabels: State['nodeLabels'];
  readonly imagePullJobs: State['imagePullJobs'];
  readonly findBudget: State['findBudget'];
};

export function decide(
  observed: Observed,
  settings: ManagerSettings,
  now: Instant,
  refused: RefusedWrites = noRefusals,
): Decision<CloneSetStatus> {
  const { cloneSet } = observed;
  const { state, upkeep, collisionCount = 0 } = deriveState(observed, settings, now, refused);
  const counts = statusOf(state, collisionCount);
  const { status, requeueAfterSeconds: progressSeconds } = withProgress(cloneSet, counts, now);
  const cleanup = [...pruneRevisionHistory(state), ...preDownloadImages(state)];
  // Missing Pods count as well: every reconcile builds them again, though none of them may be admitted.
  const minIntervalMs = reconcileIntervalFor(Math.max(state.pods.length, replicasOf(cloneSet.spec)), interval);
  if (isBeingDeleted(cloneSet)) return { actions: [...upkeep, ...cleanup], status, minIntervalMs };

  const scaling = scale(state);
  const updating = update(state);
  // A decision about Pods that are about to change would be stale by the time it is executed.
  const steps = scaling.changesPods ? scaling.actions : [...scaling.actions, ...updating.actions];
  // A change of the spec enqueues every watcher: it waits until there is nothing else to change.
  const isSettled = steps.length === 0 && isSame(status, cloneSet.status);
  const found = withFault(status, updating.fault, now);
  const statusWrites = steps.length > 0 ? writeStatusEarly(cloneSet, found) : [];
  return {
    actions: [...upkeep, ...statusWrites, ...steps, ...cleanup, ...(isSettled ? prunePodsToDelete(state) : [])],
    // Pods that cannot be created, for example because of a quota, must not block the update of existing Pods.
    ...(scaling.changesPods ? { fallbackActions: updating.actions } : {}),
    events: hasJustExceededDeadline(cloneSet, status) ? [stuckEvent(cloneSet, blockersOf(state))] : [],
    status: (outcome) => withFailures(found, outcome, new Set(flattenSteps(scaling.actions)), now),
    minIntervalMs,
    ...earliestRequeue(
      progressSeconds,
      scaling.changesPods ? undefined : updating.requeueAfterSeconds,
      secondsUntilNextIsAvailable(state.pods, cloneSet.spec.minReadySeconds ?? 0, now),
    ),
  };
}

/**
 * A reconcile visits every Pod, which takes about ten microseconds each, and thousands of Pods that start or stop change
 * many times a second. The interval is the cost of five reconciles, so that one reconcile covers many changes.
 */
const interval: ReconcileInterval = { from: 0, objectsPerMs: 20, maxMs: 400 };

/**
 * Writes the status under a new spec before any Pod is changed. A client that sees a Pod change must not read a
 * CloneSet status that is complete for the previous generation.
 */
function writeStatusEarly(cloneSet: CloneSet, status: CloneSetStatus): readonly Action[] {
  const { observedGeneration } = cloneSet.status ?? {};
  if (observedGeneration === undefined || observedGeneration === status.observedGeneration) return [];
  const reported: CloneSet = { ...cloneSet, status };
  return [{ ...write(reported), subresource: 'status' }];
}

/**
 * Reports whether the rollout has just exceeded its deadline: once for each time, and only with the opt-in annotation.
 */
function hasJustExceededDeadline({ metadata, status: previous }: CloneSet, status: CloneSetStatus): boolean {
  if (metadata.annotations?.[reportRolloutBlockersAnnotation] !== 'true') return false;
  const isDeadlineExceeded = (each: CloneSetStatus | undefined) =>
    findCondition(each?.conditions, 'Progressing')?.reason === 'ProgressDeadlineExceeded';
  return isDeadlineExceeded(status) && !isDeadlineExceeded(previous);
}

/** Derives the state of a reconcile: the Pods and PVCs that count, and the update revision. */
export function deriveState(
  observed: Observed,
  settings: ManagerSettings,
  now: Instant,
  refused: RefusedWrites = noRefusals,
): DerivedState<State> {
  const { cloneSet, revisions, nodeLabels, imagePullJobs, findBudget } = observed;
  const { spec, status } = cloneSet;
  const selector = selectorOf(cloneSet.spec.selector);
  const { claimed, released } = claimsOf(cloneSet, observed.pods.filter(isPodActive), ({ metadata }) =>
    selector.matches(metadata.labels),
  );
  const claims = usableVolumeClaims(cloneSet, observed);
  const plan = planRevision(ownerOf(cloneSet), {
    history: revisions,
    content: revisionContent(cloneSet),
    collisionCount: cloneSet.status?.collisionCount,
    findRevision: observed.findRevision,
  });
  const { update, collisionCount } = plan;
  const known = revisions.filter((each) => nameOfRevision(each) !== nameOfRevision(update));
  const current = findRevision(revisions, status?.currentRevision) ?? update;
  const revisionLabels = hashLabels({ isShort: settings.gates.CloneSetShortHash });
  const isUpdated = memoizeInReconcile((pod: Pod) => revisionLabels.isAt(pod, nameOfRevision(update)));
  const chosen = new Set(spec.scaleStrategy?.podsToDelete);
  const state = {
    settings,
    now,
    cloneSet,
    pods: claimed,
    claims: claims.kept,
    imagePullJobs,
    revisions: [...known, update],
    current,
    update,
    permissions: permissionsBy(refused),
    revisionLabels,
    nodeLabels,
    findBudget,
    isUpdated,
    isUpdatedForScaling: (pod: Pod) =>
      (settings.gates.PreparingUpdateAsUpdate && lifecycleStateOf(pod) === 'PreparingUpdate') || isUpdated(pod),
    isAvailable: memoizeInReconcile((pod: Pod) => isAvailable(pod, spec.minReadySeconds ?? 0, now)),
    isSpecifiedDelete: (pod: Pod) => isSpecifiedDelete(pod) || chosen.has(pod.metadata.name ?? ''),
    skipsSurge: false,
  };
  return {
    state: { ...state, skipsSurge: canSkipSurge(state) },
    upkeep: [...parallel(released.map(release(cloneSet))), ...claims.actions, ...writeRevision(cloneSet, plan)],
    collisionCount,
  };
}

/** Reports whether all Pods can be updated in place. A Pod that must be recreated is better replaced by a surge Pod. */
function canSkipSurge(state: State): boolean {
  const { cloneSet, update, isUpdated } = state;
  if (cloneSet.metadata.annotations?.[inPlaceBeforeSurgeAnnotation] !== 'true') return false;
  const task = taskOf(state, cloneSet.spec.updateStrategy?.rollingUpdate ?? {}, update);
  return task.policy !== 'ReCreate' && state.pods.every((pod) => isUpdated(pod) || task.specFor(pod) !== undefined);
}

/** Releases a Pod that the selector does not match any more. */
function release({ metadata }: CloneSet) {
  return (pod: Pod): Action => {
    const { ownerReferences, resourceVersion } = pod.metadata;
    return patch(pod, {
      metadata: { resourceVersion, ownerReferences: withoutOwner(ownerReferences, metadata.uid ?? '') },
    });
  };
}

/** Removes deleted Pods from `podsToDelete`. */
function prunePodsToDelete({ cloneSet, pods }: State): readonly Action[] {
  const requested = cloneSet.spec.scaleStrategy?.podsToDelete ?? [];
  const names = new Set(pods.map(({ metadata }) => metadata.name));
  const podsToDelete = requested.filter((name) => names.has(name));
  if (podsToDelete.length === requested.length) return [];
  const { resourceVersion } = cloneSet.metadata;
  const left = podsToDelete.length > 0 ? podsToDelete : null;
  return [patch(cloneSet, { metadata: { resourceVersion }, spec: { scaleStrategy: { podsToDelete: left } } })];
}

function pruneRevisionHistory({ cloneSet, pods, revisions, current, update }: State): readonly Step[] {
  const limit = cloneSet.spec.revisionHistoryLimit ?? 10;
  if (revisions.length <= limit) return [];
  const hashes = new Set(pods.map((pod) => shortHash(revisionLabelOf(pod))));
  const carried = revisions.filter((each) => hashes.has(shortHash(nameOfRevision(each))));
  const inUse = new Set([current, update, ...carried].map(nameOfRevision));
  return parallel(findRevisionsToPrune(revisions, { inUse, limit }).map(remove));
}

/** Sets the condition FailedUpdate where Pods cannot be updated. */
function withFault(status: CloneSetStatus, fault: string | undefined, now: Instant): CloneSetStatus {
  return fault ? withCondition(status, { type: 'FailedUpdate', status: 'True', message: fault }, now) : status;
}

/** Sets conditions for failed writes: the first error of creating or deleting Pods, or else of updating Pods. */
function withFailures(
  status: CloneSetStatus,
  { failures }: Outcome,
  scaling: ReadonlySet<Action>,
  now: Instant,
): CloneSetStatus {
  return failures.reduce((reported, { action, error }) => {
    const type = scaling.has(action) ? 'FailedScale' : 'FailedUpdate';
    const message = errorText(error);
    return withCondition(reported, { type, status: 'True', message }, now);
  }, status);
}
