import type { Pod } from '@kruise/api/core/pod';
import { persistentPodState } from '@kruise/api/kruise/persistentpodstate';
import { isBeingDeleted } from '@kruise/client/actions';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, type KubernetesObject, keyFor, keyOf, referenceOf } from '@kruise/client/object-key';
import { controllerOf, isControlledBy } from '@kruise/machinery/owner-references';
import { isPodActive, isPodReady } from '@kruise/machinery/pods';
import { apiVersionOf, type Kind } from '@kruise/schema/kind';
import { followedAnnotations, isGenerationEnabled } from './generate.ts';
import { statesFor, type Target } from './target.ts';
import { findKind, type OrdinalKind } from './workloads.ts';

/** Returns the PersistentPodStates to enqueue when a Pod becomes ready or is gone. */
export function statesOfPod(kinds: readonly OrdinalKind[]) {
  return (change: Change<Pod>, caches: Caches): readonly Key[] => {
    if (caches.of(persistentPodState).size === 0 || !isRelevantChange(change)) return [];
    const owner = controllerOf(change.object);
    if (!owner || !findKind(kinds, owner)) return [];
    return statesFor(caches, change.object.metadata.namespace ?? '', owner).map(keyOf);
  };
}

function isRelevantChange({ type, object, previous }: Change<Pod>): boolean {
  if (type === 'deleted') return true;
  const hasEnded = previous !== undefined && isPodActive(previous) && !isPodActive(object);
  return hasEnded || (isPodReady(object) && !(previous && isPodReady(previous)));
}

/**
 * Returns a key for the workload itself, where its annotations changed, and its PersistentPodStates, where its Pods may
 * change.
 */
export function keysOfWorkload(kind: Kind) {
  return (change: Change<KubernetesObject>, caches: Caches): readonly Key[] => {
    const { namespace = '', name = '' } = change.object.metadata;
    const target = { apiVersion: apiVersionOf(kind), kind: kind.kind, name };
    return [
      ...(hasChangedAnnotations(change, caches) ? [generationKey(namespace, target)] : []),
      ...(affectsPods(change) ? statesFor(caches, namespace, target).map(keyOf) : []),
    ];
  };
}

function hasChangedAnnotations({ type, object, previous }: Change<KubernetesObject>, caches: Caches): boolean {
  if (type === 'deleted') return false;
  if (!previous) {
    // An annotation that was removed while the manager was down is detected when the workload is first observed.
    const state = caches.of(persistentPodState).get(keyOf(object));
    return isGenerationEnabled(object) || (state !== undefined && isControlledBy(state, object));
  }
  const { annotations: before = {} } = previous.metadata;
  const { annotations: now = {} } = object.metadata;
  return followedAnnotations.some((annotation) => before[annotation] !== now[annotation]);
}

function affectsPods({ type, object, previous }: Change<KubernetesObject>): boolean {
  if (!previous) return type === 'deleted';
  const isOther = object.metadata.generation !== previous.metadata.generation;
  return isOther || isBeingDeleted(object) !== isBeingDeleted(previous);
}

const prefix = 'generate';

/**
 * Returns a key that represents a workload. It differs from every PersistentPodState name, which cannot contain `#`.
 */
export function generationKey(namespace: string, { apiVersion, kind, name }: Target): Key {
  return keyFor({ namespace, name: [prefix, apiVersion, kind, name].join('#') });
}

/** Returns the workload of a key; undefined if the key belongs to a PersistentPodState. */
export function targetOf(key: Key): Target | undefined {
  const [first, apiVersion, kind, name] = referenceOf(key).name.split('#');
  if (first !== prefix || !apiVersion || !kind || !name) return undefined;
  return { apiVersion, kind, name };
}
