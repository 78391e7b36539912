/** Which PersistentPodState a workload has. */
import { type PersistentPodState, persistentPodState } from '@kruise/api/kruise/persistentpodstate';
import { isBeingDeleted } from '@kruise/client/actions';
import type { Caches } from '@kruise/client/informer';
import { groupOf } from '@kruise/schema/kind';

/** A workload as its Pods and its PersistentPodState refer to it. */
export type Target = { readonly apiVersion: string; readonly kind: string; readonly name: string };

/** The PersistentPodStates of a workload, whatever version of it they name; those being deleted as well. */
export function statesFor(caches: Caches, namespace: string, target: Target): readonly PersistentPodState[] {
  return caches.of(persistentPodState).byIndex(byTarget, idOf(namespace, target));
}

/** The PersistentPodState that a workload goes by. */
export function stateFor(caches: Caches, namespace: string, target: Target): PersistentPodState | undefined {
  return statesFor(caches, namespace, target).find((state) => !isBeingDeleted(state));
}

const byTarget = ({ metadata, spec }: PersistentPodState) => [idOf(metadata.namespace ?? '', spec.targetRef)];

function idOf(namespace: string, { apiVersion, kind, name }: Target): string {
  return [namespace, groupOf(apiVersion), kind, name].join('/');
}
