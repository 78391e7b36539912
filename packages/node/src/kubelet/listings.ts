/**
 * Where a kubelet hears of its containers only by asking for all of them now and then, a pass over a Pod waits for a
 * listing that is newer than the pass before: else it would act on what it has itself just changed, unseen. So two steps
 * of a Pod are a listing apart, as they are in Kubernetes.
 */
import type { Instant } from '@kruise/values/time';

/** The listings of all that a runtime has. */
export type Listings = {
  /** There was one, which was asked for at this time. */
  listed(askedAt: Instant): void;
  /** Resolves once there is one that was asked for after this time. */
  newerThan(at: Instant): Promise<void>;
};

/** The listings of a runtime that has not been asked yet. */
export function createListings(): Listings {
  let newest = Number.NEGATIVE_INFINITY;
  let next = Promise.withResolvers<void>();
  return {
    listed(askedAt) {
      newest = askedAt;
      next.resolve();
      next = Promise.withResolvers();
    },
    async newerThan(at) {
      while (newest <= at) await next.promise;
    },
  };
}
