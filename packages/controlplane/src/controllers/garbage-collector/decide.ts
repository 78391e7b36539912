import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import type { OwnerReference } from '@kruise/machinery/owner-references';

/** What the collector knows of an object when it looks at it. */
export type Item = {
  /** Its metadata, asked for anew. */
  readonly metadata: ObjectMeta;
  /** Its owners, as far as they matter (`doOwnersMatter`). */
  readonly owners: readonly Owned[];
  readonly dependents: Dependents;
};

export type Owned = { readonly reference: OwnerReference; readonly state: OwnerState };

/**
 * How an owner stands to what it owns: it is there (`solid`), it is not (`dangling`), or it is there only until all it
 * owns is gone (`waiting`).
 */
export type OwnerState = 'solid' | 'dangling' | 'waiting';

/** What is owned by an object. */
export type Dependents = {
  readonly count: number;
  /** How many of them, the object itself apart, it waits for when it is deleted in the foreground. */
  readonly blocking: number;
  /** Whether one of them waits for its own dependents: perhaps, through others, for this very object. */
  readonly isOneWaiting: boolean;
  /** Whether it waits for one that waits, through others or not, for it. */
  readonly isCircular: boolean;
};

/** What is to be done about an object. */
export type Step =
  | { readonly type: 'nothing' }
  /** Its dependents lose their reference to it, and then it goes. */
  | { readonly type: 'orphan' }
  /** What kept it from going is taken away. */
  | { readonly type: 'release'; readonly finalizer: string }
  /** It ceases to keep its owners from going. */
  | { readonly type: 'unblock' }
  /** It loses references to owners that are gone, or about to be, as it has others. */
  | { readonly type: 'disown'; readonly uids: readonly string[] }
  /** It is deleted; with `unblock` after it has ceased to keep its owners from going. */
  | { readonly type: 'delete'; readonly policy: 'Orphan' | 'Foreground' | 'Background'; readonly unblock: boolean };

/** Finalizers that say what becomes of the dependents of an object that is deleted. */
export const orphanFinalizer = 'orphan';
export const foregroundFinalizer = 'foregroundDeletion';

/** What is to be done about an object, given what is known. */
export function decide({ metadata, owners, dependents }: Item): Step {
  if (isOrphaning(metadata)) return { type: 'orphan' };
  if (isWaiting(metadata)) {
    if (dependents.blocking === 0) return { type: 'release', finalizer: foregroundFinalizer };
    // Where all of a circle are deleted in the foreground, one has to let go of another.
    return { type: dependents.isCircular && isBlocking(metadata) ? 'unblock' : 'nothing' };
  }
  if (!doOwnersMatter(metadata)) return { type: 'nothing' };

  if (owners.some(({ state }) => state === 'solid')) {
    // Owners that wait must be let go of, too: they would wait for ever.
    const uids = owners.filter(({ state }) => state !== 'solid').map(({ reference }) => reference.uid);
    return uids.length === 0 ? { type: 'nothing' } : { type: 'disown', uids };
  }
  if (owners.some(({ state }) => state === 'waiting') && dependents.count > 0) {
    // Were both of a circle to wait in the foreground, they would wait for each other.
    return { type: 'delete', policy: 'Foreground', unblock: dependents.isOneWaiting && isBlocking(metadata) };
  }
  return { type: 'delete', policy: policyOf(metadata), unblock: false };
}

/** Whether what becomes of an object depends on its owners: it has some, and is not on its way out already. */
export function doOwnersMatter({ deletionTimestamp, ownerReferences }: ObjectMeta): boolean {
  return !deletionTimestamp && (ownerReferences?.length ?? 0) > 0;
}

function isBlocking({ ownerReferences }: ObjectMeta): boolean {
  return ownerReferences?.some(({ blockOwnerDeletion }) => blockOwnerDeletion) ?? false;
}

/** How an owner stands to its dependents, given what was found where it should be. */
export function stateOf(reference: OwnerReference, found: ObjectMeta | undefined): OwnerState {
  if (found?.uid !== reference.uid) return 'dangling';
  return isWaiting(found) ? 'waiting' : 'solid';
}

/** Whether an object is deleted in the foreground: once all is gone that it owns. */
export function isWaiting({ deletionTimestamp, finalizers }: ObjectMeta): boolean {
  return deletionTimestamp != null && (finalizers?.includes(foregroundFinalizer) ?? false);
}

/** Whether an object is deleted, but what it owns is to stay. */
export function isOrphaning({ deletionTimestamp, finalizers }: ObjectMeta): boolean {
  return deletionTimestamp != null && (finalizers?.includes(orphanFinalizer) ?? false);
}

/** Someone may have said before what is to become of the dependents. */
function policyOf({ finalizers = [] }: ObjectMeta): 'Orphan' | 'Foreground' | 'Background' {
  if (finalizers.includes(orphanFinalizer)) return 'Orphan';
  return finalizers.includes(foregroundFinalizer) ? 'Foreground' : 'Background';
}
