/**
 * Adoption and release of objects by their controller. `claimsOf` decides which objects an owner claims; this module
 * lists the candidates, writes the owner references, and enqueues owners when an orphan appears.
 */
import type { Claimable, Claims } from '@kruise/machinery/claims';
import { isSame } from '@kruise/machinery/json-value';
import type { Selector } from '@kruise/machinery/label-selector';
import { controllerOf, controllerReference, withOwner, withoutOwner } from '@kruise/machinery/owner-references';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import type { Caches, Change } from '../cache/informer.ts';
import { type Key, type KubernetesObject, keyOf } from '../cache/object-key.ts';
import type { ObjectReader } from '../cache/object-store.ts';
import { isBeingDeleted, type PatchAction, parallelByKind, patch, requireExists, type Step } from './actions.ts';

/** Returns the objects that an owner can claim: the objects it controls and the orphans in its namespace. */
export function candidatesFor<T extends Claimable>(reader: ObjectReader<T>, owner: KubernetesObject): readonly T[] {
  const orphans = reader.byIndex(orphansByNamespace, owner.metadata.namespace ?? '');
  return orphans.length === 0 ? reader.controlledBy(owner) : [...reader.controlledBy(owner), ...orphans];
}

/** Index function: the namespace of each orphan that can be adopted. */
function orphansByNamespace(object: Claimable): readonly string[] {
  const { namespace = '', deletionTimestamp } = object.metadata;
  return deletionTimestamp == null && controllerOf(object) === undefined ? [namespace] : [];
}

/**
 * Returns the patches that adopt and release objects. They run before all other actions of an owner, which are skipped
 * if another controller has adopted one of the objects meanwhile.
 */
export function claimActions(owner: KubernetesObject, claims: Claims<KubernetesObject>): readonly Step[] {
  return parallelByKind(claimPatches(owner, claims));
}

/** Returns the patches of `claimActions`, for a controller that adds its own changes to them. */
export function claimPatches(owner: KubernetesObject, claims: Claims<KubernetesObject>): readonly PatchAction[] {
  return [
    ...claims.adopted.map((child, index) => {
      const adoption = patchReferences(child, withOwner(child.metadata.ownerReferences, controllerReference(owner)));
      // The garbage collector may be about to orphan all of these objects. The first adoption checks the owner with a
      // live read and is sent alone; if it fails, the others are skipped.
      return index === 0 ? requireExists(adoption, owner) : adoption;
    }),
    ...claims.released.map((child) =>
      patchReferences(child, withoutOwner(child.metadata.ownerReferences, owner.metadata.uid ?? '')),
    ),
  ];
}

function patchReferences(child: KubernetesObject, ownerReferences: readonly unknown[]): PatchAction {
  // A merge patch replaces the whole list. The resourceVersion protects owner references that other clients added
  // meanwhile.
  return patch(child, { metadata: { resourceVersion: child.metadata.resourceVersion, ownerReferences } });
}

/**
 * Maps an orphan whose labels changed, or that just lost its controller, to the owners whose selector matches:
 *
 * ```ts
 * watches: [watch(pod, mapToAdopters(replicaSet, ({ spec }) => selectorOf(spec?.selector)))]
 * ```
 */
export function mapToAdopters<K extends Kind>(
  kind: K,
  selectorOf: (owner: ObjectOf<K>) => Selector,
): (change: Change<KubernetesObject>, caches: Caches) => readonly Key[] {
  return ({ type, object: child, previous: before, cause }, caches) => {
    // The initial list is skipped: every owner is reconciled at the start anyway.
    if (cause !== 'event' || type === 'deleted' || isBeingDeleted(child) || controllerOf(child)) return [];
    if (before && !controllerOf(before) && isSame(before.metadata.labels, child.metadata.labels)) return [];
    const { namespace, labels } = child.metadata;
    const owners = caches.of(kind).list(namespace === undefined ? {} : { namespace });
    return owners.filter((owner) => selectorOf(owner).matches(labels)).map(keyOf);
  };
}
