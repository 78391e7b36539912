/** Creation, update and deletion of the workloads of subsets. */
import type { Pod } from '@kruise/api/core/pod';
import type { Subset, UnitedDeployment } from '@kruise/api/kruise/uniteddeployment';
import { subsetPatchAnnotation } from '@kruise/api/kruise/well-known';
import {
  type Action,
  asIndependent,
  create,
  isBeingDeleted,
  parallel,
  parallelByKind,
  type RemoveAction,
  record,
  remove,
  type Step,
  update,
  withOutcomeEvents,
} from '@kruise/client/actions';
import { isPodReady } from '@kruise/machinery/pods';
import { StrategicMergeError } from '@kruise/machinery/strategic-merge-error';
import { DecodeError } from '@kruise/schema/codec';
import { compareStrings } from '@kruise/values/go-syntax';
import { ordinalOf } from '@kruise/workload-kit/statefulset/identity';
import type { Assessment } from './assess.ts';
import { isAdaptive, isReserving, pendingTimeoutMs } from './strategy.ts';
import { type ExistingSubset, type ExistingSubsets, revisionOf } from './subsets.ts';
import { patchText, type Target, workloadFor } from './workload.ts';
import { typeOfWorkload, type Workload, type WorkloadType } from './workload-types.ts';

export type Plan = {
  readonly owner: UnitedDeployment;
  readonly workloadType: WorkloadType;
  /** Name of the update revision. */
  readonly revision: string;
  readonly subsets: ExistingSubsets;
  readonly assessments: ReadonlyMap<string, Assessment>;
  readonly replicas: ReadonlyMap<string, number>;
  readonly partitions: ReadonlyMap<string, number>;
  /** Workloads of other types that the UnitedDeployment controls. */
  readonly workloadsOfOtherTypes: readonly Workload[];
};

export type Work = {
  readonly actions: readonly Step[];
  /** Set where workloads are created or deleted. */
  readonly hasProvisioned: boolean;
  /** Set where an action is impossible. */
  readonly isFaulty: boolean;
  /** Requeue delays in seconds. */
  readonly seconds: readonly number[];
};

/**
 * Plans the writes. Workloads that are not desired are deleted in any case. Existing workloads change only when none is
 * missing: replicas that one subset gives up move to another.
 */
export function manage(plan: Plan): Work {
  const { owner, workloadType, subsets } = plan;
  const { subsets: wanted = [], scheduleStrategy } = owner.spec.topology ?? {};
  const names = new Set(wanted.map(({ name }) => name));
  const ordered = wanted.toSorted((a, b) => compareStrings(a.name, b.name));
  const missing = ordered.filter(({ name }) => !subsets.has(name));
  const leaving = [...subsets.values()].filter(({ name }) => !names.has(name));
  const workloadsOfOtherTypes = plan.workloadsOfOtherTypes.filter((workload) => !isBeingDeleted(workload));
  const creations = missing.map((subset) => createWorkload(plan, subset));
  const changes = creations.some(isEventOnly) ? [] : ordered.flatMap((subset) => updateWorkload(plan, subset));
  const made = `Create ${missing.length} Subset (${workloadType.name})`;
  return {
    actions: [
      ...parallel(deleteSubsets(plan, leaving)),
      ...parallelByKind(workloadsOfOtherTypes.map((workload) => deleteWorkloadOfOtherType(owner, workload))),
      ...parallelByKind(creations),
      ...(missing.length > 0 && !creations.some(isEventOnly) ? [succeeded(owner, made)] : []),
      ...parallelByKind(changes),
    ],
    hasProvisioned: missing.length > 0 || leaving.length > 0 || workloadsOfOtherTypes.length > 0,
    isFaulty: [...creations, ...changes].some(isEventOnly),
    seconds: missing.length > 0 && isAdaptive(scheduleStrategy) ? [pendingTimeoutMs(scheduleStrategy) / 1000] : [],
  };
}

const failedUpdate = 'FailedUpdateSubset';

function succeeded(owner: UnitedDeployment, message: string): Action {
  return record({ about: owner, type: 'Normal', reason: 'SuccessfulUpdateSubset', message });
}

/** Reports whether an action is only an event, because the write is impossible. */
function isEventOnly(action: Action): boolean {
  return action.type === 'record';
}

/** Returns the action, or an event where the patch of the subset is invalid. */
function actionOrEvent<T extends Action>(owner: UnitedDeployment, message: string, build: () => T): T | Action {
  try {
    return build();
  } catch (error) {
    if (!(error instanceof StrategicMergeError || error instanceof DecodeError)) throw error;
    return record({
      about: owner,
      type: 'Warning',
      reason: failedUpdate,
      message: message.replace('{error}', () => error.message),
    });
  }
}

type Failure = { readonly reason: string; readonly message: string };

function failedProvision(message: string): Failure {
  return { reason: failedUpdate, message: `fail to manage Subset provision: ${message}` };
}

function createWorkload(plan: Plan, subset: Subset): Action {
  const { owner, workloadType } = plan;
  const failed = failedProvision(`fail to create Subset (${workloadType.name}) ${subset.name}: {error}`);
  return actionOrEvent(owner, failed.message, () =>
    withOutcomeEvents(create(workloadFor(owner, workloadType, targetOf(plan, subset))), { about: owner, failed }),
  );
}

function targetOf({ revision, replicas, partitions }: Plan, subset: Subset): Target {
  const { name } = subset;
  return { subset, revision, replicas: replicas.get(name) ?? 0, partition: partitions.get(name) ?? 0 };
}

/** Deletes the workloads of removed subsets. The last deletion records the event. */
function deleteSubsets({ owner, workloadType }: Plan, leaving: readonly ExistingSubset[]): readonly Action[] {
  const staying = leaving.filter(({ workload }) => !isBeingDeleted(workload));
  return staying.map(({ name, workload }, index) => {
    const { namespace, name: workloadName } = workload.metadata;
    const fault = `fail to delete Subset (${workloadType.name}) ${namespace}/${workloadName} for ${name}: {error}`;
    const done = {
      reason: 'SuccessfulUpdateSubset',
      message: `Delete ${staying.length} Subset (${workloadType.name})`,
    };
    const isLast = index === staying.length - 1;
    const deletion = deleteWorkload(owner, workload, failedProvision(fault));
    const announcement = { about: owner, ...deletion.outcomeEvents, ...(isLast ? { done } : {}) };
    return asIndependent(withOutcomeEvents(deletion, announcement));
  });
}

function deleteWorkloadOfOtherType(owner: UnitedDeployment, workload: Workload): RemoveAction {
  const { namespace, name } = owner.metadata;
  const what = `Subset ${workload.metadata.name} of other type ${typeOfWorkload(workload).name}`;
  const failed = failedProvision(`fail to delete ${what} for UnitedDeployment ${namespace}/${name}: {error}`);
  return asIndependent(deleteWorkload(owner, workload, failed));
}

/** Deletes a workload; the garbage collector deletes its Pods in the background. */
export function deleteWorkload(owner: UnitedDeployment, workload: Workload, failed: Failure): RemoveAction {
  const removal: RemoveAction = { ...remove(workload), options: { propagationPolicy: 'Background' } };
  return withOutcomeEvents(removal, { about: owner, failed });
}

function updateWorkload(plan: Plan, subset: Subset): readonly Action[] {
  const existing = plan.subsets.get(subset.name);
  const target = targetOf(plan, subset);
  if (!existing || isUpToDate(existing, target)) return [];
  const { owner, workloadType } = plan;
  const { workload } = existing;
  const message = `Error updating PodSet (${workloadType.name}) ${workload.metadata.name} when updating: {error}`;
  const opened = { ...target, ...unavailability(plan, existing) };
  const change = actionOrEvent(owner, message, () =>
    withOutcomeEvents(update(workloadFor(owner, workloadType, opened, workload)), {
      about: owner,
      failed: { reason: failedUpdate, message },
    }),
  );
  return [change, ...(isEventOnly(change) ? [] : stuckPods(plan, existing, target).map(deletePod))];
}

/** Reports whether a workload needs no change. During an update the workload is written repeatedly. */
function isUpToDate(existing: ExistingSubset, { subset, revision, replicas, partition }: Target): boolean {
  const { workload, updatedReplicas, statusReplicas } = existing;
  return (
    revisionOf(workload) === revision &&
    existing.replicas === replicas &&
    (existing.partition ?? partition) === partition &&
    (workload.metadata.annotations?.[subsetPatchAnnotation] ?? '') === patchText(subset) &&
    updatedReplicas >= statusReplicas
  );
}

/** Raises maxUnavailable, so that unschedulable Pods do not block an update. */
function unavailability(
  { owner, assessments }: Plan,
  { name, replicas, readyReplicas }: ExistingSubset,
): Pick<Target, 'maxUnavailable'> {
  const assessment = assessments.get(name);
  if (!isReserving(owner.spec.topology?.scheduleStrategy) || !assessment?.isUnschedulable) return {};
  const maxUnavailable = replicas - readyReplicas + assessment.overduePods;
  // A maxUnavailable of 0 would be refused, or would stop the update.
  return maxUnavailable > 0 ? { maxUnavailable } : {};
}

/**
 * Returns the Pods that block a rolling update: Kubernetes' StatefulSet waits forever for a Pod at an old revision that
 * does not become ready.
 */
function stuckPods(
  { workloadType, revision }: Plan,
  { workload, pods }: ExistingSubset,
  { partition }: Target,
): readonly Pod[] {
  if (workloadType.name !== 'StatefulSet' || workload.spec?.updateStrategy?.type === 'OnDelete') return [];
  return pods.filter((pod) => {
    const ordinal = ordinalOf(workload, pod) ?? -1;
    return ordinal >= partition && revisionOf(pod) !== revision && !isPodReady(pod) && !isBeingDeleted(pod);
  });
}

function deletePod(pod: Pod): RemoveAction {
  return { ...remove(pod), options: { propagationPolicy: 'Background' } };
}
