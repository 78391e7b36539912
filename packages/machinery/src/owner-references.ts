/** Owner references: dependents are garbage-collected with their owners, and at most one owner is the controller. */
import assert from 'node:assert/strict';

/** Reference to an owner in the same namespace or to a cluster-scoped one. */
export type OwnerReference = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  /** Set if this owner is the controller. */
  readonly controller?: boolean;
  /** Set if foreground deletion of the owner waits for the dependent. */
  readonly blockOwnerDeletion?: boolean;
};

/** An object that may have owners. */
export type Owned = { readonly metadata?: { readonly ownerReferences?: readonly OwnerReference[] } };

/** An object that can be an owner: it has a name and a uid. */
export type Owner = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name?: string; readonly uid?: string };
};

/** An object that is identified by its uid. */
export type Identified = { readonly metadata: { readonly uid?: string } };

/**
 * Returns the controller reference of an object, if it has one.
 *
 * ```ts
 * const owner = controllerOf(web); // { kind: 'ReplicaSet', name: 'web-5d4f', controller: true, … }
 * ```
 */
export function controllerOf(object: Owned): OwnerReference | undefined {
  return object.metadata?.ownerReferences?.find((reference) => reference.controller === true);
}

/** Reports whether this owner, identified by uid, is the controller of the object. */
export function isControlledBy(object: Owned, owner: Identified): boolean {
  return controllerOf(object)?.uid === uidOf(owner);
}

/** Reports whether the object has an owner reference to this owner. */
export function isOwnedBy(object: Owned, owner: Identified): boolean {
  const uid = uidOf(owner);
  return object.metadata?.ownerReferences?.some((reference) => reference.uid === uid) ?? false;
}

/** Returns an owner reference without `controller`. */
export function ownerReference(owner: Owner): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  assert(metadata.name, `a ${kind} that owns something has a name`);
  return { apiVersion, kind, name: metadata.name, uid: uidOf(owner) };
}

/**
 * Returns a controller reference with `blockOwnerDeletion`.
 *
 * ```ts
 * const metadata = { name: 'web-0', ownerReferences: [controllerReference(set)] };
 * ```
 */
export function controllerReference(owner: Owner): OwnerReference {
  return { ...ownerReference(owner), controller: true, blockOwnerDeletion: true };
}

/**
 * Adds an owner reference or replaces the one to the same owner. Returns the same list if nothing changes. Throws if
 * another owner is the controller already, because two controllers would conflict.
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

/** Removes the references to an owner. Returns the same list if there are none. */
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
