import type { Pod } from '@kruise/api/core/pod';
import { persistentPodState } from '@kruise/api/kruise/persistentpodstate';
import { isBeingDeleted } from '@kruise/client/actions';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, type KubernetesObject, keyFor, keyOf, referenceOf } from '@kruise/client/object-key';
import { controllerOf, isControlledBy } from '@kruise/machinery/owner-references';
import { isPodActive, isPodReady } from '@kruise/machinery/pods';
import { apiVersionOf, type Kind } from '@kruise/schema/kind';
import { statesFor, type Target } from '../../persistentpodstate/target.ts';
import { asksForState, followedAnnotations } from './generate.ts';
import { kindAmong, type NumberedKind } from './workloads.ts';

/** The PersistentPodStates of a Pod that has something to be remembered, or is to be forgotten. */
export function statesOfPod(kinds: readonly NumberedKind[]) {
  return (change: Change<Pod>, caches: Caches): readonly Key[] => {
    if (caches.of(persistentPodState).size === 0 || !isNews(change)) return [];
    const owner = controllerOf(change.object);
    if (!owner || !kindAmong(kinds, owner)) return [];
    return statesFor(caches, change.object.metadata.namespace ?? '', owner).map(keyOf);
  };
}

function isNews({ type, object, previous }: Change<Pod>): boolean {
  if (type === 'deleted') return true;
  const hasEnded = previous !== undefined && isPodActive(previous) && !isPodActive(object);
  return hasEnded || (isPodReady(object) && !(previous && isPodReady(previous)));
}

/** The workload itself, where it may ask for something else, and its PersistentPodStates, where their Pods may be others. */
export function keysOfWorkload(kind: Kind) {
  return (change: Change<unknown>, caches: Caches): readonly Key[] => {
    // An object of a kind has what every object has.
    const known = change as Change<KubernetesObject>;
    const { namespace = '', name = '' } = known.object.metadata;
    const target = { apiVersion: apiVersionOf(kind), kind: kind.kind, name };
    return [
      ...(asksForOther(known, caches) ? [generationKey(namespace, target)] : []),
      ...(hasOtherPods(known) ? statesFor(caches, namespace, target).map(keyOf) : []),
    ];
  };
}

function asksForOther({ type, object, previous }: Change<KubernetesObject>, caches: Caches): boolean {
  if (type === 'deleted') return false;
  if (!previous) {
    // What it asked for no more while nobody looked is found out when it is seen first.
    const state = caches.of(persistentPodState).get(keyOf(object));
    return asksForState(object) || (state !== undefined && isControlledBy(state, object));
  }
  const { annotations: before = {} } = previous.metadata;
  const { annotations: now = {} } = object.metadata;
  return followedAnnotations.some((annotation) => before[annotation] !== now[annotation]);
}

function hasOtherPods({ type, object, previous }: Change<KubernetesObject>): boolean {
  if (!previous) return type === 'deleted';
  const isOther = object.metadata.generation !== previous.metadata.generation;
  return isOther || isBeingDeleted(object) !== isBeingDeleted(previous);
}

const prefix = 'generate';

/** What stands for a workload among the names of PersistentPodStates, none of which has such a sign in it. */
export function generationKey(namespace: string, { apiVersion, kind, name }: Target): Key {
  return keyFor({ namespace, name: [prefix, apiVersion, kind, name].join('#') });
}

/** The workload a key stands for; undefined if it is that of a PersistentPodState. */
export function targetOf(key: Key): Target | undefined {
  const [first, apiVersion, kind, name] = referenceOf(key).name.split('#');
  if (first !== prefix || !apiVersion || !kind || !name) return undefined;
  return { apiVersion, kind, name };
}
