/**
 * The volume claims of a StatefulSet's Pods (statefulset.md §6). Claims that are to go with a Pod or with the set are
 * given it as an owner, and the garbage collector does the rest. Unlike Kubernetes' own StatefulSet it never controls them.
 */
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { StatefulSet } from '@kruise/api/kruise/statefulset';
import { type Action, update } from '@kruise/client/actions';
import { presentClaims, type Seat } from '@kruise/controlplane/controllers/statefulset/member-steps';
import { type OwnerReference, ownerReference, withOwner, withoutOwner } from '@kruise/machinery/owner-references';
import type { FeatureGates } from '../../feature-gates.ts';

/** A Pod of a set whose claims are looked after. */
export type Member = Seat & {
  readonly set: StatefulSet;
  /** Whether the set no longer wants the Pod. */
  readonly isCondemned: boolean;
  readonly gates: FeatureGates;
};

/** Gives the claims that are there the owners they are to have. */
export function ownerUpdates(member: Member): readonly Action[] {
  if (!member.gates.StatefulSetAutoDeletePVC) return [];
  return presentClaims(member).flatMap((claim) => {
    const ownerReferences = wantedOwners(claim, member);
    return ownerReferences ? [update({ ...claim, metadata: { ...claim.metadata, ownerReferences } })] : [];
  });
}

/** Whether a claim waits to be deleted with a Pod that is gone: the next Pod of that name must not take it up. */
export function isLeftBehind({ metadata }: PersistentVolumeClaim, { set, pod, gates }: Member): boolean {
  if (!gates.StatefulSetAutoDeletePVC || policyOf(set).whenScaled === 'Retain') return false;
  const { name, uid = '' } = pod.metadata;
  return metadata.ownerReferences?.some((each) => each.name === name && each.uid !== uid) ?? false;
}

/** The owners a claim is to have; undefined where it has them. */
export function wantedOwners(
  { metadata }: PersistentVolumeClaim,
  { set, pod, isCondemned }: Pick<Member, 'set' | 'pod' | 'isCondemned'>,
): readonly OwnerReference[] | undefined {
  const present = metadata.ownerReferences ?? [];
  const { whenScaled, whenDeleted } = policyOf(set);
  const goesWithPod = whenScaled === 'Delete' && isCondemned;
  const goesWithSet = whenDeleted === 'Delete' && !goesWithPod;
  const wanted = owned(owned(present, set, goesWithSet), pod, goesWithPod);
  return wanted === present ? undefined : wanted;
}

/** The references with or without one; the same list where nothing changes. An owner is known by its uid alone. */
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
