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
