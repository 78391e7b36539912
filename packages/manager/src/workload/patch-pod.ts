import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import type { PatchAction } from '@kruise/client/actions';
import type { JsonObject } from '@kruise/machinery/json-value';
import { createTwoWayMergePatch } from '@kruise/machinery/strategic-merge-diff';
import { mergeTypeOf } from '@kruise/schema/merge-type';

/** The merge type of Pods. */
export const podType = mergeTypeOf(podKind.root);

/** Returns the strategic merge patch that turns one Pod into another. Unknown fields are left alone. */
export function podDifference(from: Partial<Pod>, to: Partial<Pod>): JsonObject {
  // Objects are plain JSON values with narrower types.
  return createTwoWayMergePatch({ original: from as JsonObject, modified: to as JsonObject }, podType);
}

/**
 * Patches only the fields that differ, so that concurrent changes of other fields are kept. With `atVersion` the patch
 * has the observed resourceVersion as its precondition, and fails with a conflict if the Pod has changed.
 */
export function patchPod(
  from: Pod,
  to: Pod,
  { subresource, atVersion = false }: { readonly subresource?: string; readonly atVersion?: boolean } = {},
): PatchAction {
  const { metadata, ...rest } = podDifference(from, to) as { readonly metadata?: object };
  const { resourceVersion } = from.metadata;
  const patch = { ...rest, metadata: { ...metadata, ...(atVersion ? { resourceVersion } : {}) } };
  return { type: 'patch', object: from, patch, patchType: 'strategic', ...(subresource ? { subresource } : {}) };
}

/**
 * Combines patches of one Pod. A patch of the status is merged with a following patch of labels and other metadata,
 * because a client that may write the status may write these too.
 */
export function mergePatches(patches: readonly PatchAction[]): readonly PatchAction[] {
  const [first, second, ...others] = patches;
  if (!first || !second || first.subresource !== 'status' || !isOfMetadata(second)) return patches;
  const { metadata, ...status } = first.patch as PodPatch;
  const patch = { ...status, metadata: { ...(second.patch as PodPatch).metadata, ...metadata } };
  return mergePatches([{ ...first, patch }, ...others]);
}

type PodPatch = { readonly metadata?: object };

function isOfMetadata({ patch, patchType, subresource }: PatchAction): boolean {
  return patchType === 'strategic' && subresource === undefined && Object.keys(patch as object).join() === 'metadata';
}
