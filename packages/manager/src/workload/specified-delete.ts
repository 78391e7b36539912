/** Pods that are labelled for deletion by their workload. */
import type { Pod } from '@kruise/api/core/pod';
import { specifiedDeleteLabel } from '@kruise/api/kruise/well-known';
import { type PatchAction, patch } from '@kruise/client/actions';

/** Reports whether a Pod has the label, with any value. */
export function isSpecifiedDelete({ metadata }: Pod): boolean {
  return metadata.labels?.[specifiedDeleteLabel] !== undefined;
}

/** Returns the patch that sets the label on a Pod. */
export function specifyDelete(pod: Pod): PatchAction {
  return patch(pod, { metadata: { labels: { [specifiedDeleteLabel]: 'true' } } });
}
