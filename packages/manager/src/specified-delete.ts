/** Pods that somebody wants their workload to delete (inplace-update.md §16). */
import type { Pod } from '@kruise/api/core/pod';
import { specifiedDeleteLabel } from '@kruise/api/kruise/well-known';
import { type PatchAction, patch } from '@kruise/client/actions';

/** Whether a Pod carries the label, whatever its value. */
export function isSpecifiedDelete({ metadata }: Pod): boolean {
  return metadata.labels?.[specifiedDeleteLabel] !== undefined;
}

/** Puts the label on a Pod. */
export function specifyDelete(pod: Pod): PatchAction {
  return patch(pod, { metadata: { labels: { [specifiedDeleteLabel]: 'true' } } });
}
