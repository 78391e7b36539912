/**
 * PVC retention policy: PVCs that are deleted with a Pod or with the StatefulSet get it as their owner, and the garbage
 * collector deletes them. PVCs that another object controls, or that belong to a previous StatefulSet or Pod of the
 * same name, are not changed.
 */
import type { StatefulSet } from '@kruise/api/apps/statefulset';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import { controllerReference, type Owner, type OwnerReference } from '@kruise/machinery/owner-references';

/** Owner of a PVC and the state that its retention depends on. */
export type PvcOwnership = {
  readonly set: StatefulSet;
  /** Pod that uses the PVC; a Pod that is not created yet has no UID. */
  readonly pod: Pod;
  /** The Pod is outside of the desired ordinals. */
  readonly isCondemned: boolean;
};

/**
 * Returns the desired owner references of a PVC; undefined if they are already set, or not managed by the StatefulSet.
 */
export function wantedOwners(
  claim: PersistentVolumeClaim,
  ownership: PvcOwnership,
): readonly OwnerReference[] | undefined {
  const { set, pod } = ownership;
  const references = claim.metadata.ownerReferences ?? [];
  if (isStale(references, set) || isStale(references, pod)) return undefined;
  const own = references.filter((reference) => refersTo(reference, set) || refersTo(reference, pod));
  const others = references.filter((reference) => !own.includes(reference));
  if (hasOtherController(claim, ownership)) return own.length > 0 ? others : undefined;

  const owner = ownerOf(ownership);
  const isRight = own.length === (owner ? 1 : 0) && own.every((each) => each.controller && each.uid === uidOf(owner));
  if (isRight) return undefined;
  return owner ? [...others, controllerReference(owner)] : others;
}

/** Reports whether another object than the set and the Pod controls a PVC, contrary to the retention policy. */
export function hasOtherController({ metadata }: PersistentVolumeClaim, { set, pod }: PvcOwnership): boolean {
  const { whenDeleted, whenScaled } = policyOf(set);
  if (whenDeleted === 'Retain' && whenScaled === 'Retain') return false;
  const references = metadata.ownerReferences ?? [];
  if (isStale(references, set) || isStale(references, pod)) return true;
  return references.some((each) => each.controller && !refersTo(each, set) && !refersTo(each, pod));
}

/** Reports whether a PVC is about to be deleted with a Pod that is gone: the next Pod of that name must not use it. */
export function isAwaitingDeletion({ metadata }: PersistentVolumeClaim, { set, pod }: PvcOwnership): boolean {
  return policyOf(set).whenScaled !== 'Retain' && isStale(metadata.ownerReferences ?? [], pod);
}

function ownerOf({ set, pod, isCondemned }: PvcOwnership): StatefulSet | Pod | undefined {
  const { whenDeleted, whenScaled } = policyOf(set);
  if (whenScaled === 'Delete' && isCondemned) return pod;
  return whenDeleted === 'Delete' ? set : undefined;
}

function policyOf({ spec }: StatefulSet) {
  const { whenDeleted, whenScaled } = spec?.persistentVolumeClaimRetentionPolicy ?? {};
  return { whenDeleted: whenDeleted ?? 'Retain', whenScaled: whenScaled ?? 'Retain' };
}

/** Reports whether a reference matches the name of an owner, with any UID. */
function refersTo({ apiVersion, kind, name }: OwnerReference, owner: Owner): boolean {
  return apiVersion === owner.apiVersion && kind === owner.kind && name === owner.metadata.name;
}

function isStale(references: readonly OwnerReference[], owner: Owner): boolean {
  const reference = references.find((each) => refersTo(each, owner));
  return reference !== undefined && reference.uid !== uidOf(owner);
}

function uidOf(owner: Owner | undefined): string {
  return owner?.metadata.uid ?? '';
}
