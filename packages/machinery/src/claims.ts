/**
 * Claims of a workload on objects, like the ControllerRefManager of Kubernetes. An object belongs to its controller;
 * the selector decides which objects are released and which orphans are adopted.
 */
import { controllerOf, type OwnerReference } from './owner-references.ts';

/** The metadata of an owner or a child that claims depend on. */
export type Claimable = {
  readonly metadata: {
    readonly uid?: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string | null;
    readonly ownerReferences?: readonly OwnerReference[];
  };
};

/** Result of matching objects with an owner. */
export type Claims<T> = {
  /** Objects that the owner controls or adopts. */
  readonly claimed: readonly T[];
  /** Orphans among the claimed objects, to be adopted. */
  readonly adopted: readonly T[];
  /** Objects that the owner controls but that no longer match, to be released. */
  readonly released: readonly T[];
};

/**
 * Decides which objects an owner claims. A terminating owner keeps its objects and neither adopts nor releases.
 * Terminating objects and objects of another controller are never adopted.
 *
 * ```ts
 * const { claimed, adopted, released } = claimsOf(set, pods, ({ metadata }) => selector.matches(metadata.labels));
 * ```
 */
export function claimsOf<T extends Claimable>(
  owner: Claimable,
  candidates: Iterable<T>,
  matches: (candidate: T) => boolean,
): Claims<T> {
  const { uid, namespace } = owner.metadata;
  const isLeaving = owner.metadata.deletionTimestamp != null;
  const claims = { claimed: [] as T[], adopted: [] as T[], released: [] as T[] };
  for (const candidate of candidates) {
    const controller = controllerOf(candidate);
    if (controller !== undefined) {
      if (controller.uid !== uid) continue;
      if (matches(candidate)) claims.claimed.push(candidate);
      else if (!isLeaving) claims.released.push(candidate);
      continue;
    }
    const { metadata } = candidate;
    const isOutOfReach =
      isLeaving || metadata.deletionTimestamp != null || (namespace && metadata.namespace !== namespace);
    if (isOutOfReach || !matches(candidate)) continue;
    claims.claimed.push(candidate);
    claims.adopted.push(candidate);
  }
  return claims;
}
