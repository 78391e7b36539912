import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Node } from '@kruise/api/core/node';
import { ownersOf } from '@kruise/client/controller';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, type KubernetesObject, keyOf } from '@kruise/client/object-key';
import { isSame } from '@kruise/machinery/json-value';
import type { Kind, ObjectOf } from '@kruise/schema/kind';

/**
 * The sets that look again for a revision. One that comes is its maker's business: what a set makes itself it knows of,
 * and what others make keeps until the set has something to do.
 */
export function setsOfRevision(kind: Kind) {
  return (change: Change<ControllerRevision>): readonly Key[] =>
    change.type === 'added' ? [] : ownersOf(kind, change);
}

/**
 * The sets that see a node differently than before. A heartbeat must not wake every one of them: only those do something
 * that fit the node now, and did not, or did.
 */
export function setsThatSeeNodes<K extends Kind>(kind: K, viewOf: (set: ObjectOf<K>) => (node: Node) => unknown) {
  return ({ type, object, previous, cause }: Change<Node>, caches: Caches): readonly Key[] => {
    // At the start every set looks at all nodes.
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
      const view = viewOf(set);
      return !isSame(before ? view(before) : nothing, after ? view(after) : nothing);
    };
    // An object of a kind has what every object has.
    return (caches.of(kind).list() as readonly ObjectOf<K>[])
      .filter(differs)
      .map((set) => keyOf(set as KubernetesObject));
  };
}

/** How a set sees a node that is not there. */
const nothing = { shouldRun: false, shouldContinue: false };
