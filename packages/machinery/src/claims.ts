/**
 * Which objects are a workload's own. An object belongs to whom its controller reference names; the selector decides
 * whether it is to stay, and which of the objects that belong to nobody are to be taken in.
 */
import { controllerOf, type OwnerReference } from './owner-references.ts';

/** As much of an owner or a child as claims are about. */
export type Claimable = {
  readonly metadata: {
    readonly uid?: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string | null;
    readonly ownerReferences?: readonly OwnerReference[];
  };
};

/** What an owner makes of objects. */
export type Claims<T> = {
  /** Those it counts as its own: what it controls already, and what it takes in. */
  readonly claimed: readonly T[];
  /** Of those, what belongs to nobody yet. */
  readonly adopted: readonly T[];
  /** What it controls and is to let go. */
  readonly released: readonly T[];
};

/**
 * Sorts objects by whether an owner claims them. An owner on its way out keeps what it has, and neither takes in nor
 * lets go anything; what is on its way out itself, or is another's, is never taken in.
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
