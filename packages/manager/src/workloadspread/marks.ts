import type { Pod } from '@kruise/api/core/pod';
import { ignorePatchExistingPodsAnnotation } from '@kruise/api/kruise/well-known';
import type { WorkloadSpread, WorkloadSpreadSubset } from '@kruise/api/kruise/workloadspread';
import { type PatchAction, withOutcomeEvents } from '@kruise/client/actions';
import { keyOf } from '@kruise/client/object-key';
import { deletionCostAnnotation } from '@kruise/machinery/pod-ranking';
import type { Cost } from './deletion-cost.ts';
import { placementAnnotation } from './placement.ts';

/** Writes the subset of an assigned Pod, and the deletion cost, into the Pod's annotations. */
export function mark(
  spread: WorkloadSpread,
  pod: Pod,
  adoptedBy: WorkloadSpreadSubset | undefined,
  cost: Cost | undefined,
): readonly PatchAction[] {
  const present = pod.metadata.annotations?.[deletionCostAnnotation];
  const isCostNew = cost !== undefined && present !== String(cost.value);
  if (!adoptedBy && !isCostNew) return [];
  const given = adoptedBy ? adoptingMetadata(spread, adoptedBy) : { annotations: {} };
  const costing = isCostNew ? { [deletionCostAnnotation]: String(cost.value) } : {};
  const patch = { metadata: { ...given, annotations: { ...given.annotations, ...costing } } };
  const action: PatchAction = { type: 'patch', object: pod, patch, patchType: 'strategic' };
  if (!isCostNew) return [action];
  const where = `for Pod ${keyOf(pod)} in subset ${cost.subset}`;
  const message = `WorkloadSpread ${keyOf(spread)} failed to patch deletion-cost annotation to ${cost.value} ${where}`;
  return [withOutcomeEvents(action, { about: spread, failed: { reason: 'PatchPodDeletionCostFailed', message } })];
}

/**
 * Returns the metadata of a Pod that is assigned to a subset: only the metadata of the patch applies, because an
 * existing Pod's spec cannot change.
 */
function adoptingMetadata({ metadata }: WorkloadSpread, subset: WorkloadSpreadSubset) {
  const isPatchIgnored = metadata.annotations?.[ignorePatchExistingPodsAnnotation]?.toLowerCase() === 'true';
  const given = (isPatchIgnored ? undefined : subset.patch?.metadata) ?? {};
  const placement = placementAnnotation({ name: metadata.name ?? '', subset: subset.name, uid: '' });
  return { ...given, annotations: { ...given.annotations, ...placement } };
}
