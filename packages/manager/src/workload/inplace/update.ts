/** Start and continuation of in-place updates. */
import type { Pod } from '@kruise/api/core/pod';
import {
  inPlaceUpdateGraceAnnotation,
  inPlaceUpdateGraceLegacyAnnotation,
  inPlaceUpdateReadyCondition,
  inPlaceUpdateStateAnnotation,
  inPlaceUpdateStateLegacyAnnotation,
} from '@kruise/api/kruise/well-known';
import { afterDryRun, type PatchAction } from '@kruise/client/actions';
import { formatTime, type Instant, parseTime } from '@kruise/values/time';
import type { FeatureGates } from '../../configuration/feature-gates.ts';
import type { ManagerSettings } from '../../configuration/settings.ts';
import { patchPod } from '../patch-pod.ts';
import { beginInPlaceUpdate, endInPlaceUpdate, hasReadinessGate } from '../readiness/pod-readiness.ts';
import type { RevisionLabels } from '../revision/pod-revision.ts';
import { applyBatch, writeBatch } from './batch.ts';
import { containersObstacle } from './completion.ts';
import { batchId, type Permissions } from './permission.ts';
import {
  formatGrace,
  formatState,
  hasChanges,
  type InPlaceUpdateState,
  isVerticalOnly,
  noChanges,
  readGrace,
  readState,
  type UpdateSpec,
} from './state.ts';

/** The update behaviour of a workload. */
export type Engine = {
  readonly settings: ManagerSettings;
  readonly revisionLabels: RevisionLabels;
  readonly permissions: Permissions;
};

/**
 * Updates a Pod to another revision, or starts the grace period before that. `marked` is the Pod with all other changes
 * of the same write.
 */
export function startUpdate(
  pod: Pod,
  spec: UpdateSpec,
  engine: Engine,
  now: Instant,
  marked: (pod: Pod) => Pod = (same) => same,
): readonly PatchAction[] {
  const { settings, revisionLabels, permissions } = engine;
  const draining = needsDraining(pod, spec, settings) ? [beginInPlaceUpdate(pod, now)] : [];
  const state: InPlaceUpdateState = {
    revision: spec.revision,
    updateTimestamp: formatTime(now),
    updatesEnv: spec.updatesEnv,
    updatesResources: Object.keys(spec.resources).length > 0,
    updatesImages: Object.keys(spec.images).length > 0,
    next: noChanges,
    batches: [],
  };
  const labels = { ...pod.metadata.labels, ...revisionLabels.labelsOf(spec.revision) };
  const relabelled = marked({ ...pod, metadata: { ...pod.metadata, labels } });
  const writes =
    spec.graceSeconds > 0
      ? [patchPod(pod, withGrace(relabelled, state, spec))]
      : writeBatch(pod, applyBatch(relabelled, spec, state, settings, now));
  const actions = [...draining, ...permissions.withRefusalIds(writes, pod, spec)];
  // A single write that changes the containers needs no dry run: if it is refused, nothing has been done.
  return actions.length === 1 && spec.graceSeconds === 0
    ? actions
    : permissions.afterDryRun(actions, pod, spec, engine);
}

function withGrace(pod: Pod, state: InPlaceUpdateState, spec: UpdateSpec): Pod {
  const { [inPlaceUpdateStateLegacyAnnotation]: _, ...annotations } = pod.metadata.annotations ?? {};
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      annotations: {
        ...annotations,
        [inPlaceUpdateStateAnnotation]: formatState(state),
        [inPlaceUpdateGraceAnnotation]: formatGrace(spec),
      },
    },
  };
}

/** Reports whether the Pod must be drained. Only a resize without restarts needs no draining. */
export function needsDraining(pod: Pod, spec: UpdateSpec, { gates }: ManagerSettings): boolean {
  if (!hasReadinessGate(pod, inPlaceUpdateReadyCondition)) return false;
  if (!gates.InPlaceWorkloadVerticalScaling || !isVerticalOnly(spec)) return true;
  return (pod.spec?.containers ?? []).some(({ name, resizePolicy = [] }) => {
    const { limits = {}, requests = {} } = spec.resources[name] ?? {};
    return resizePolicy.some(
      ({ resourceName, restartPolicy }) =>
        restartPolicy === 'RestartContainer' && (resourceName in limits || resourceName in requests),
    );
  });
}

/** The actions that continue an update, and the time of the requeue. */
export type Refresh = { readonly actions: readonly PatchAction[]; readonly requeueAfterSeconds?: number };

/**
 * Continues the update of a Pod: ends the grace period, applies the next batch, or makes the Pod ready again. A Pod
 * whose state cannot be parsed is left alone.
 */
export function refreshUpdate(pod: Pod, engine: Engine, now: Instant): Refresh {
  const { gates } = engine.settings;
  const idle = idlePods(gates);
  if (idle.has(pod)) return nothing;
  const refresh = judge(pod, engine, now);
  // Only the end of a grace period depends on time alone. All other progress comes with another version of the Pod.
  if (refresh.actions.length === 0 && refresh.requeueAfterSeconds === undefined) idle.add(pod);
  return refresh;
}

const nothing: Refresh = { actions: [] };
const idleByGates = new WeakMap<FeatureGates, WeakSet<Pod>>();

/** Returns the Pods that needed no action, so that of thousands of Pods only those that changed are examined again. */
function idlePods(gates: FeatureGates): WeakSet<Pod> {
  let idle = idleByGates.get(gates);
  if (!idle) idleByGates.set(gates, (idle = new WeakSet()));
  return idle;
}

function judge(pod: Pod, engine: Engine, now: Instant): Refresh {
  const { gates } = engine.settings;
  let spec: UpdateSpec | undefined;
  let state: InPlaceUpdateState | undefined;
  try {
    [spec, state] = [readGrace(pod), readState(pod)];
  } catch {
    return { actions: [] };
  }
  if (spec) return state ? refreshGrace(pod, spec, state, engine, now) : { actions: [] };
  if (state) {
    if (containersObstacle(pod, state, gates) !== undefined) return { actions: [] };
    if (hasChanges(state.next)) return sendBatch(pod, state, nextBatch(pod, state, engine, now), engine, now);
  }
  const isGated = hasReadinessGate(pod, inPlaceUpdateReadyCondition);
  return { actions: isGated ? endInPlaceUpdate(pod, now) : [] };
}

function refreshGrace(pod: Pod, spec: UpdateSpec, state: InPlaceUpdateState, engine: Engine, now: Instant): Refresh {
  // The workload has another update revision by now, so the pending changes are obsolete.
  if (!engine.revisionLabels.isAt(pod, spec.revision)) return { actions: [patchPod(pod, withoutGrace(pod))] };
  const left = spec.graceSeconds - (now - parseTime(state.updateTimestamp)) / 1000;
  if (left > 0) return { actions: [], requeueAfterSeconds: Math.ceil(left) };
  const writes = writeBatch(pod, applyBatch(pod, spec, state, engine.settings, now));
  return sendBatch(pod, state, writes, engine, now);
}

/**
 * Applies a batch of an update in progress. While the batch is held back because the server refused it, the Pod serves
 * traffic. Before it is drained again, a dry run is sent.
 */
function sendBatch(
  pod: Pod,
  state: InPlaceUpdateState,
  writes: readonly PatchAction[],
  { permissions }: Engine,
  now: Instant,
): Refresh {
  if (writes.length === 0) return { actions: [] };
  const id = batchId(pod);
  const identified = writes.map((write) => ({ ...write, refusalId: id }));
  const refusal = permissions.batchRefusal(pod);
  if (!refusal) return { actions: identified };
  const isVertical = state.updatesResources && !state.updatesImages && !state.updatesEnv;
  const isDrained = hasReadinessGate(pod, inPlaceUpdateReadyCondition) && !isVertical;
  if (refusal.retryInMs > 0) {
    const actions = isDrained ? endInPlaceUpdate(pod, now) : [];
    return { actions, requeueAfterSeconds: refusal.retryInMs / 1000 };
  }
  const [first, ...rest] = [...(isDrained ? [beginInPlaceUpdate(pod, now)] : []), ...identified];
  return { actions: [afterDryRun(first!, { id, ownId: id, writes }), ...rest] };
}

function withoutGrace(pod: Pod): Pod {
  const {
    [inPlaceUpdateGraceAnnotation]: _,
    [inPlaceUpdateGraceLegacyAnnotation]: _legacy,
    ...annotations
  } = pod.metadata.annotations ?? {};
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}

function nextBatch(pod: Pod, state: InPlaceUpdateState, { settings }: Engine, now: Instant): readonly PatchAction[] {
  const statuses = pod.status?.containerStatuses ?? [];
  const isReady = (name: string) => statuses.some((status) => status.name === name && status.ready);
  if (!(state.requiredReady ?? []).every(isReady)) return [];
  return writeBatch(pod, applyBatch(pod, state.next, state, settings, now));
}
