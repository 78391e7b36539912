/**
 * Claims that are to go with a Pod or with the set are given it as their owner, and the garbage collector does the rest.
 * Claims that something else controls, or that belonged to a set or a Pod before this one, are left alone.
 */
import type { StatefulSet } from '@kruise/api/apps/statefulset';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import { controllerReference, type Owner, type OwnerReference } from '@kruise/machinery/owner-references';

/** Whose a claim is, and why. */
export type Tenure = {
  readonly set: StatefulSet;
  /** The Pod whose claim it is; one that is still to be made has no uid. */
  readonly pod: Pod;
  /** Whether the set no longer wants the Pod. */
  readonly isCondemned: boolean;
};

/** The owners a claim is to have; undefined where it has them, or they are none of the set's business. */
export function wantedOwners(claim: PersistentVolumeClaim, tenure: Tenure): readonly OwnerReference[] | undefined {
  const { set, pod } = tenure;
  const references = claim.metadata.ownerReferences ?? [];
  if (isStale(references, set) || isStale(references, pod)) return undefined;
  const own = references.filter((reference) => refersTo(reference, set) || refersTo(reference, pod));
  const others = references.filter((reference) => !own.includes(reference));
  if (hasOtherController(claim, tenure)) return own.length > 0 ? others : undefined;

  const owner = ownerOf(tenure);
  const isRight = own.length === (owner ? 1 : 0) && own.every((each) => each.controller && each.uid === uidOf(owner));
  if (isRight) return undefined;
  return owner ? [...others, controllerReference(owner)] : others;
}

/** Whether something that is neither the set nor the Pod controls a claim, against the set's policy. */
export function hasOtherController({ metadata }: PersistentVolumeClaim, { set, pod }: Tenure): boolean {
  const { whenDeleted, whenScaled } = policyOf(set);
  if (whenDeleted === 'Retain' && whenScaled === 'Retain') return false;
  const references = metadata.ownerReferences ?? [];
  if (isStale(references, set) || isStale(references, pod)) return true;
  return references.some((each) => each.controller && !refersTo(each, set) && !refersTo(each, pod));
}

/** Whether a claim waits to be deleted with a Pod that is gone: the next Pod of that name must not take it up. */
export function isLeftBehind({ metadata }: PersistentVolumeClaim, { set, pod }: Tenure): boolean {
  return policyOf(set).whenScaled !== 'Retain' && isStale(metadata.ownerReferences ?? [], pod);
}

function ownerOf({ set, pod, isCondemned }: Tenure): StatefulSet | Pod | undefined {
  const { whenDeleted, whenScaled } = policyOf(set);
  if (whenScaled === 'Delete' && isCondemned) return pod;
  return whenDeleted === 'Delete' ? set : undefined;
}

function policyOf({ spec }: StatefulSet) {
  const { whenDeleted, whenScaled } = spec?.persistentVolumeClaimRetentionPolicy ?? {};
  return { whenDeleted: whenDeleted ?? 'Retain', whenScaled: whenScaled ?? 'Retain' };
}

/** Whether a reference is to an object of the name of another, be it this one or one before it. */
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
