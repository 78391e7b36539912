import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import type { PatchAction } from '@kruise/client/actions';
import type { JsonObject } from '@kruise/machinery/json-value';
import { createTwoWayMergePatch } from '@kruise/machinery/strategic-merge-diff';
import { mergeTypeOf } from '@kruise/schema/merge-type';

/** How Pods merge. */
export const podType = mergeTypeOf(podKind.root);

/** What makes one Pod of another, as a strategic merge patch. Fields that nobody here knows are left alone. */
export function podDifference(from: Partial<Pod>, to: Partial<Pod>): JsonObject {
  // Objects are plain JSON values, of which their types say more.
  return createTwoWayMergePatch({ original: from as JsonObject, modified: to as JsonObject }, podType);
}

/**
 * Writes what differs, and nothing else: whoever changed other fields meanwhile is not undone. With `atVersion` the
 * write fails if anybody has changed anything.
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
 * The same changes of one Pod in fewer writes: what a write of its status is followed by goes with it if it is about
 * labels and the like, which whoever may write the status may write too.
 */
export function together(patches: readonly PatchAction[]): readonly PatchAction[] {
  const [first, second, ...others] = patches;
  if (!first || !second || first.subresource !== 'status' || !isOfMetadata(second)) return patches;
  const { metadata, ...status } = first.patch as PodPatch;
  const patch = { ...status, metadata: { ...(second.patch as PodPatch).metadata, ...metadata } };
  return together([{ ...first, patch }, ...others]);
}

type PodPatch = { readonly metadata?: object };

function isOfMetadata({ patch, patchType, subresource }: PatchAction): boolean {
  return patchType === 'strategic' && subresource === undefined && Object.keys(patch as object).join() === 'metadata';
}
