import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import type { OwnerReference } from '@kruise/machinery/owner-references';

/** State of an object when the collector processes it. */
export type Item = {
  /** Metadata of the object from a live read. */
  readonly metadata: ObjectMeta;
  /** Owners of the object, if they matter (`doOwnersMatter`). */
  readonly owners: readonly Owned[];
  readonly dependents: Dependents;
};

export type Owned = { readonly reference: OwnerReference; readonly state: OwnerState };

/**
 * State of an owner: it exists (`solid`), it does not exist (`dangling`), or it exists only until its dependents are
 * deleted (`waiting`).
 */
export type OwnerState = 'solid' | 'dangling' | 'waiting';

/** Dependents of an object. */
export type Dependents = {
  readonly count: number;
  /** Number of dependents, except the object itself, that block its foreground deletion. */
  readonly blocking: number;
  /** One of the dependents waits for its own dependents, possibly, through others, for this object. */
  readonly isOneWaiting: boolean;
  /** The object waits for a dependent that waits, directly or indirectly, for the object. */
  readonly isCircular: boolean;
};

/** Next step for an object. */
export type Step =
  | { readonly type: 'nothing' }
  /** Removes the owner reference from the dependents, then the finalizer. */
  | { readonly type: 'orphan' }
  /** Removes a finalizer. */
  | { readonly type: 'release'; readonly finalizer: string }
  /** Clears `blockOwnerDeletion` in the owner references. */
  | { readonly type: 'unblock' }
  /** Removes references to owners that do not exist or are waiting, because the object has other owners. */
  | { readonly type: 'disown'; readonly uids: readonly string[] }
  /** Deletes the object; with `unblock`, clears `blockOwnerDeletion` first. */
  | { readonly type: 'delete'; readonly policy: 'Orphan' | 'Foreground' | 'Background'; readonly unblock: boolean };

/** Finalizers that determine the propagation policy of a deletion. */
export const orphanFinalizer = 'orphan';
export const foregroundFinalizer = 'foregroundDeletion';

/** Decides the next step for an object. */
export function decide({ metadata, owners, dependents }: Item): Step {
  if (isOrphaning(metadata)) return { type: 'orphan' };
  if (isWaiting(metadata)) {
    if (dependents.blocking === 0) return { type: 'release', finalizer: foregroundFinalizer };
    // If all objects of a cycle are deleted in the foreground, one of them must unblock its owner.
    return { type: dependents.isCircular && isBlocking(metadata) ? 'unblock' : 'nothing' };
  }
  if (!doOwnersMatter(metadata)) return { type: 'nothing' };

  if (owners.some(({ state }) => state === 'solid')) {
    // References to waiting owners are removed too: those owners would otherwise wait forever.
    const uids = owners.filter(({ state }) => state !== 'solid').map(({ reference }) => reference.uid);
    return uids.length === 0 ? { type: 'nothing' } : { type: 'disown', uids };
  }
  if (owners.some(({ state }) => state === 'waiting') && dependents.count > 0) {
    // Two objects of a cycle in foreground deletion would wait for each other.
    return { type: 'delete', policy: 'Foreground', unblock: dependents.isOneWaiting && isBlocking(metadata) };
  }
  return { type: 'delete', policy: policyOf(metadata), unblock: false };
}

/** Reports whether the owners of an object matter: it has owners and is not terminating. */
export function doOwnersMatter({ deletionTimestamp, ownerReferences }: ObjectMeta): boolean {
  return !deletionTimestamp && (ownerReferences?.length ?? 0) > 0;
}

function isBlocking({ ownerReferences }: ObjectMeta): boolean {
  return ownerReferences?.some(({ blockOwnerDeletion }) => blockOwnerDeletion) ?? false;
}

/** Returns the state of an owner, given the metadata found at its location. */
export function stateOf(reference: OwnerReference, found: ObjectMeta | undefined): OwnerState {
  if (found?.uid !== reference.uid) return 'dangling';
  return isWaiting(found) ? 'waiting' : 'solid';
}

/** Reports whether an object is in foreground deletion. */
export function isWaiting({ deletionTimestamp, finalizers }: ObjectMeta): boolean {
  return deletionTimestamp != null && (finalizers?.includes(foregroundFinalizer) ?? false);
}

/** Reports whether an object is being deleted with the orphan policy. */
export function isOrphaning({ deletionTimestamp, finalizers }: ObjectMeta): boolean {
  return deletionTimestamp != null && (finalizers?.includes(orphanFinalizer) ?? false);
}

/** An earlier deletion may already have set a propagation policy. */
function policyOf({ finalizers = [] }: ObjectMeta): 'Orphan' | 'Foreground' | 'Background' {
  if (finalizers.includes(orphanFinalizer)) return 'Orphan';
  return finalizers.includes(foregroundFinalizer) ? 'Foreground' : 'Background';
}
