/**
 * Taking in objects that belong to nobody, and letting go those that match no more. What is claimed is decided by
 * `claimsOf`; here is where the objects come from, what is done with them, and what makes an owner look.
 */
import type { Claimable, Claims } from '@kruise/machinery/claims';
import { isSame } from '@kruise/machinery/json-value';
import type { Selector } from '@kruise/machinery/label-selector';
import { controllerOf, controllerReference, withOwner, withoutOwner } from '@kruise/machinery/owner-references';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import { confirmed, isBeingDeleted, type PatchAction, patch } from './actions.ts';
import type { Caches, Change } from './informer.ts';
import { type Key, type KubernetesObject, keyOf } from './object-key.ts';
import type { ObjectReader } from './object-store.ts';

/** The objects an owner can have a claim to: those it controls, and those of its namespace that nobody controls. */
export function candidatesFor<T extends Claimable>(reader: ObjectReader<T>, owner: KubernetesObject): readonly T[] {
  const orphans = reader.byIndex(orphansByNamespace, owner.metadata.namespace ?? '');
  return orphans.length === 0 ? reader.controlledBy(owner) : [...reader.controlledBy(owner), ...orphans];
}

/** The namespace of an object that has no controller and could be given one. */
function orphansByNamespace(object: Claimable): readonly string[] {
  const { namespace = '', deletionTimestamp } = object.metadata;
  return deletionTimestamp == null && controllerOf(object) === undefined ? [namespace] : [];
}

/**
 * What has to be written for claims to hold. It comes before all else an owner does: whatever follows is not done if
 * an object turns out to be another's.
 */
export function claimActions(owner: KubernetesObject, claims: Claims<KubernetesObject>): readonly PatchAction[] {
  return [
    ...claims.adopted.map((child, index) => {
      const adoption = patchReferences(child, withOwner(child.metadata.ownerReferences, controllerReference(owner)));
      // The garbage collector may be about to orphan all of them. What asks first goes out alone, and where it is
      // refused, none of the others is tried.
      return index === 0 ? confirmed(adoption, owner) : adoption;
    }),
    ...claims.released.map((child) =>
      patchReferences(child, withoutOwner(child.metadata.ownerReferences, owner.metadata.uid ?? '')),
    ),
  ];
}

function patchReferences(child: KubernetesObject, ownerReferences: readonly unknown[]): PatchAction {
  // A list is replaced as a whole: the version makes sure that no one else's reference is lost.
  return patch(child, { metadata: { resourceVersion: child.metadata.resourceVersion, ownerReferences } });
}

/**
 * The owners that may want to take in an object that has become nobody's, or theirs to have by its labels:
 *
 * ```ts
 * watches: [watch(pod, adopters(replicaSet, ({ spec }) => selectorOf(spec?.selector)))]
 * ```
 */
export function adopters<K extends Kind>(
  kind: K,
  selectorOf: (owner: ObjectOf<K>) => Selector,
): (change: Change<unknown>, caches: Caches) => readonly Key[] {
  return ({ type, object, previous, cause }, caches) => {
    // Every object of every kind has metadata.
    const [child, before] = [object, previous] as [KubernetesObject, KubernetesObject | undefined];
    // Nothing is news at the start: every owner looks at what there is then.
    if (cause !== 'event' || type === 'deleted' || isBeingDeleted(child) || controllerOf(child)) return [];
    if (before && !controllerOf(before) && isSame(before.metadata.labels, child.metadata.labels)) return [];
    const { namespace, labels } = child.metadata;
    const owners = caches.of(kind).list(namespace === undefined ? {} : { namespace });
    return owners.filter((owner) => selectorOf(owner).matches(labels)).map((owner) => keyOf(owner as KubernetesObject));
  };
}
