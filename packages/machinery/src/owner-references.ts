/** Who an object belongs to: owner references keep it alive, and at most one of them manages it. */
import assert from 'node:assert/strict';

/** A reference from an object to an owner in the same namespace, or without one. */
export type OwnerReference = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  /** Whether this owner manages the object. */
  readonly controller?: boolean;
  /** Whether deleting this owner in the foreground waits for the object. */
  readonly blockOwnerDeletion?: boolean;
};

/** As much of an object as ownership is about. */
export type Owned = { readonly metadata?: { readonly ownerReferences?: readonly OwnerReference[] } };

/** As much of an object as it takes to own another: it is in the cluster, and so has a name and a uid. */
export type Owner = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name?: string; readonly uid?: string };
};

/** As much of an object as it takes to be told from all others. */
export type Identified = { readonly metadata: { readonly uid?: string } };

/** The reference to the object's controller, if it has one. */
export function controllerOf(object: Owned): OwnerReference | undefined {
  return object.metadata?.ownerReferences?.find((reference) => reference.controller === true);
}

/** Whether this very owner, not one of the same name before it, controls the object. */
export function isControlledBy(object: Owned, owner: Identified): boolean {
  return controllerOf(object)?.uid === uidOf(owner);
}

/** Whether the object has a reference to this very owner, as its controller or not. */
export function isOwnedBy(object: Owned, owner: Identified): boolean {
  const uid = uidOf(owner);
  return object.metadata?.ownerReferences?.some((reference) => reference.uid === uid) ?? false;
}

/** A reference to an owner that does not manage the object. */
export function ownerReference(owner: Owner): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  assert(metadata.name, `a ${kind} that owns something has a name`);
  return { apiVersion, kind, name: metadata.name, uid: uidOf(owner) };
}

/** A reference to the object's controller, whose deletion in the foreground waits for the object. */
export function controllerReference(owner: Owner): OwnerReference {
  return { ...ownerReference(owner), controller: true, blockOwnerDeletion: true };
}

/**
 * The references with one more, or with the one to the same owner replaced. The same list if nothing changes. Throws
 * if another controls the object already: two controllers would fight over it.
 */
export function withOwner(
  references: readonly OwnerReference[] | undefined,
  added: OwnerReference,
): readonly OwnerReference[] {
  const present = references ?? [];
  const controller = present.find((reference) => reference.controller === true);
  if (added.controller === true && controller !== undefined && controller.uid !== added.uid) {
    throw new Error(`already controlled by ${controller.kind} ${controller.name}`);
  }
  const index = present.findIndex((reference) => reference.uid === added.uid);
  const previous = present[index];
  if (previous === undefined) return [...present, added];
  return isSameReference(previous, added) ? present : present.with(index, added);
}

/** The references without those to an owner. The same list if there are none. */
export function withoutOwner(
  references: readonly OwnerReference[] | undefined,
  uid: string,
): readonly OwnerReference[] {
  const present = references ?? [];
  const kept = present.filter((reference) => reference.uid !== uid);
  return kept.length === present.length ? present : kept;
}

function uidOf({ metadata: { uid } }: Identified): string {
  assert(uid, 'an owner is in the cluster, and has a uid');
  return uid;
}

function isSameReference(a: OwnerReference, b: OwnerReference): boolean {
  return (
    a.apiVersion === b.apiVersion &&
    a.kind === b.kind &&
    a.name === b.name &&
    a.uid === b.uid &&
    (a.controller ?? false) === (b.controller ?? false) &&
    (a.blockOwnerDeletion ?? false) === (b.blockOwnerDeletion ?? false)
  );
}
