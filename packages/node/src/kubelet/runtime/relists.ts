/**
 * Relists of the runtime. Without runtime events, the kubelet learns of container changes only from periodic relists,
 * so each sync of a Pod waits for a relist newer than the previous sync; otherwise it would act on stale state. Two
 * syncs of a Pod are therefore a relist apart, as with the Generic PLEG in Kubernetes.
 */
import type { Instant } from '@kruise/values/time';

/** Relists of all sandboxes and containers. */
export type Relists = {
  /** Records a relist that was requested at this time. */
  recordRelist(requestedAt: Instant): void;
  /** Resolves once a relist requested after this time has completed. */
  waitForRelistAfter(at: Instant): Promise<void>;
};

/** Creates the relist state of a runtime that has not been listed yet. */
export function createRelists(): Relists {
  let newest = Number.NEGATIVE_INFINITY;
  let next = Promise.withResolvers<void>();
  return {
    recordRelist(requestedAt) {
      newest = requestedAt;
      next.resolve();
      next = Promise.withResolvers();
    },
    async waitForRelistAfter(at) {
      while (newest <= at) await next.promise;
    },
  };
}
