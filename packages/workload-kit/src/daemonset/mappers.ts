import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Node } from '@kruise/api/core/node';
import { ownersOf } from '@kruise/client/controller';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, keyOf } from '@kruise/client/object-key';
import { isSame } from '@kruise/machinery/json-value';
import type { Kind, ObjectOf } from '@kruise/schema/kind';

/**
 * Enqueues the sets of a ControllerRevision that was updated or deleted. Additions are ignored: a set knows the
 * revisions it creates, and foreign revisions can wait until the next reconcile.
 */
export function mapRevisionToSets(kind: Kind) {
  return (change: Change<ControllerRevision>): readonly Key[] =>
    change.type === 'added' ? [] : ownersOf(kind, change);
}

/**
 * Enqueues the sets whose placement on a node changed. A heartbeat must not enqueue every set: only sets that start or
 * stop matching the node are enqueued.
 */
export function mapNodeToSets<K extends Kind>(kind: K, placementViewOf: (set: ObjectOf<K>) => (node: Node) => unknown) {
  return ({ type, object, previous, cause }: Change<Node>, caches: Caches): readonly Key[] => {
    // The initial sync reconciles every set anyway.
    if (cause === 'initial') return [];
    if (
      previous &&
      isSame(previous.metadata.labels, object.metadata.labels) &&
      isSame(previous.spec?.taints, object.spec?.taints)
    ) {
      return [];
    }
    const before = type === 'deleted' ? object : previous;
    const after = type === 'deleted' ? undefined : object;
    const differs = (set: ObjectOf<K>) => {
      const view = placementViewOf(set);
      return !isSame(before ? view(before) : nothing, after ? view(after) : nothing);
    };
    return caches.of(kind).list().filter(differs).map(keyOf);
  };
}

/** Placement on a node that does not exist. */
const nothing = { shouldRun: false, shouldContinue: false };
