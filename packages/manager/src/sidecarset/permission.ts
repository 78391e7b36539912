/**
 * Selects the Pods whose sidecar update the API server accepts. A dry run precedes the first Pod of a revision, and its
 * result applies to all Pods: a policy that denies the image is retried with growing backoff, not once for each Pod. A
 * refused Pod comes after the others, so that it blocks none of them.
 */
import type { Pod } from '@kruise/api/core/pod';
import type { SidecarSet } from '@kruise/api/kruise/sidecarset';
import { afterDryRun, type PatchAction } from '@kruise/client/actions';
import { type Key, type KubernetesObject, keyOf } from '@kruise/client/object-key';
import type { RefusedWrites } from '@kruise/client/refusals';
import { budgetNameOf } from '../podunavailablebudget/pod-unavailable-budget.ts';
import { hashOf } from './marks.ts';

export type Permissions = {
  /** Returns the Pods that may be tried now: refused Pods come last, Pods in backoff are left out. */
  open(pods: readonly Pod[]): readonly Pod[];
  /** Returns the update of a Pod, after a dry run if the revision has had none yet. */
  afterDryRun(update: PatchAction): PatchAction;
};

export function permissionsBy(sidecarSet: SidecarSet, refused: RefusedWrites): Permissions {
  const id = `sidecars at ${hashOf(sidecarSet)}`;
  const ownId = (object: { readonly metadata: KubernetesObject['metadata'] }): Key => `${id}: ${keyOf(object)}`;
  let isAsked = refused.isDryRunAccepted(id) && refused.find(id) === undefined;
  return {
    open(pods) {
      if (!refused.hasAny()) return pods;
      if ((refused.find(id)?.retryInMs ?? 0) > 0) return [];
      const free = pods.filter((pod) => (refused.find(ownId(pod))?.retryInMs ?? 0) === 0);
      const wasRefused = (pod: Pod) => refused.find(ownId(pod)) !== undefined;
      return [...free.filter((pod) => !wasRefused(pod)), ...free.filter(wasRefused)];
    },
    afterDryRun(update) {
      const own = ownId(update.object);
      const marked = { ...update, refusalId: own };
      // The answer of a budget differs from Pod to Pod and therefore does not apply to the whole revision.
      if (isAsked || budgetNameOf(update.object) !== undefined) return marked;
      isAsked = true;
      return afterDryRun(marked, { id, ownId: own, writes: [update] });
    },
  };
}
