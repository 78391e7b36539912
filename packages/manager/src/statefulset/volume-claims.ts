/**
 * PVC retention of a StatefulSet. PVCs that are deleted with a Pod or with the set get it as an owner, and the garbage
 * collector deletes them. Unlike Kubernetes' StatefulSet, the set is never their controller.
 */
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { StatefulSet } from '@kruise/api/kruise/statefulset';
import { type Action, update } from '@kruise/client/actions';
import { type OwnerReference, ownerReference, withOwner, withoutOwner } from '@kruise/machinery/owner-references';
import { type OrdinalSlot, presentClaims } from '@kruise/workload-kit/statefulset/member-steps';
import type { FeatureGates } from '../configuration/feature-gates.ts';

/** A Pod of a set, with its PVCs. */
export type Member = OrdinalSlot & {
  readonly set: StatefulSet;
  /** Set where the set no longer needs the Pod. */
  readonly isCondemned: boolean;
  readonly gates: FeatureGates;
};

/** Sets the owner references of existing PVCs. */
export function ownerUpdates(member: Member): readonly Action[] {
  if (!member.gates.StatefulSetAutoDeletePVC) return [];
  return presentClaims(member).flatMap((claim) => {
    const ownerReferences = desiredOwners(claim, member);
    return ownerReferences ? [update({ ...claim, metadata: { ...claim.metadata, ownerReferences } })] : [];
  });
}

/** Reports whether a PVC will be deleted with a Pod that is gone: the next Pod of that name must not use the PVC. */
export function isOwnedByFormerPod({ metadata }: PersistentVolumeClaim, { set, pod, gates }: Member): boolean {
  if (!gates.StatefulSetAutoDeletePVC || policyOf(set).whenScaled === 'Retain') return false;
  const { name, uid = '' } = pod.metadata;
  return metadata.ownerReferences?.some((each) => each.name === name && each.uid !== uid) ?? false;
}

/** Returns the desired owner references of a PVC; undefined where they are up to date. */
export function desiredOwners(
  { metadata }: PersistentVolumeClaim,
  { set, pod, isCondemned }: Pick<Member, 'set' | 'pod' | 'isCondemned'>,
): readonly OwnerReference[] | undefined {
  const present = metadata.ownerReferences ?? [];
  const { whenScaled, whenDeleted } = policyOf(set);
  const isDeletedWithPod = whenScaled === 'Delete' && isCondemned;
  const isDeletedWithSet = whenDeleted === 'Delete' && !isDeletedWithPod;
  const wanted = owned(owned(present, set, isDeletedWithSet), pod, isDeletedWithPod);
  return wanted === present ? undefined : wanted;
}

/** Adds or removes an owner reference; returns the same list where nothing changes. Owners are compared by UID only. */
function owned(
  present: readonly OwnerReference[],
  owner: StatefulSet | Pod,
  isWanted: boolean,
): readonly OwnerReference[] {
  const { uid = '' } = owner.metadata;
  if (!isWanted) return withoutOwner(present, uid);
  return present.some((each) => each.uid === uid) ? present : withOwner(present, ownerReference(owner));
}

function policyOf({ spec }: StatefulSet) {
  const { whenDeleted, whenScaled } = spec.persistentVolumeClaimRetentionPolicy ?? {};
  return { whenDeleted: whenDeleted || 'Retain', whenScaled: whenScaled || 'Retain' };
}
