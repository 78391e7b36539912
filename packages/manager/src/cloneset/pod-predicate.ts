/** Event filter for Pod updates that cannot affect the CloneSet. */
import type { Pod } from '@kruise/api/core/pod';
import type { CloneSet } from '@kruise/api/kruise/cloneset';
import { inPlaceUpdateReadyCondition } from '@kruise/api/kruise/well-known';
import { isConditionTrue } from '@kruise/machinery/conditions';
import { isSame } from '@kruise/machinery/json-value';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isPodActive, isPodReady } from '@kruise/machinery/pods';
import type { FeatureGates } from '../configuration/feature-gates.ts';
import { isBatchDone } from '../workload/inplace/completion.ts';
import { lifecycleStateOf } from '../workload/lifecycle/lifecycle.ts';
import { hasReadinessGate } from '../workload/readiness/pod-readiness.ts';

type Change = { readonly previous: Pod; readonly object: Pod };

/**
 * Reports whether a Pod update needs no reconcile of the CloneSet. Updates are never ignored for an unknown CloneSet.
 */
export function isIgnorablePodUpdate(change: Change, cloneSet: CloneSet | undefined, gates: FeatureGates): boolean {
  const { previous, object } = change;
  return (
    cloneSet !== undefined &&
    controllerOf(previous)?.uid === controllerOf(object)?.uid &&
    isSame(previous.metadata.labels, object.metadata.labels) &&
    previous.metadata.generation === object.metadata.generation &&
    previous.metadata.deletionTimestamp === object.metadata.deletionTimestamp &&
    isPodReady(previous) === isPodReady(object) &&
    isPodActive(previous) === isPodActive(object) &&
    !hasChangedHooks(change, cloneSet) &&
    !mayHaveBeenUpdated(object, gates)
  );
}

function hasChangedHooks({ previous, object }: Change, { spec }: CloneSet): boolean {
  const { preDelete, inPlaceUpdate, preNormal } = spec.lifecycle ?? {};
  const finalizers = [preDelete, inPlaceUpdate, preNormal].flatMap((hook) => hook?.finalizersHandler ?? []);
  const has = ({ metadata }: Pod, finalizer: string) => metadata.finalizers?.includes(finalizer) ?? false;
  return finalizers.some((finalizer) => has(previous, finalizer) !== has(object, finalizer));
}

/** Reports whether an in-place update, or one batch of it, may be complete without a matching Pod condition yet. */
function mayHaveBeenUpdated(pod: Pod, gates: FeatureGates): boolean {
  const isWaiting = hasReadinessGate(pod, inPlaceUpdateReadyCondition) || lifecycleStateOf(pod) !== 'Normal';
  if (!isWaiting || !isBatchDone(pod, gates)) return false;
  const isUpdateReady = isConditionTrue(pod.status?.conditions, inPlaceUpdateReadyCondition);
  return !isUpdateReady || gates.InPlaceWorkloadVerticalScaling;
}
