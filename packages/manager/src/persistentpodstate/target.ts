/** Lookup of the PersistentPodState of a workload. */
import { type PersistentPodState, persistentPodState } from '@kruise/api/kruise/persistentpodstate';
import { isBeingDeleted } from '@kruise/client/actions';
import type { Caches } from '@kruise/client/informer';
import { groupOf } from '@kruise/schema/kind';

/** A reference to a workload. */
export type Target = { readonly apiVersion: string; readonly kind: string; readonly name: string };

/** Returns the PersistentPodStates of a workload, in any version, including those that are terminating. */
export function statesFor(caches: Caches, namespace: string, target: Target): readonly PersistentPodState[] {
  return caches.of(persistentPodState).byIndex(byTarget, idOf(namespace, target));
}

/** Returns the PersistentPodState that applies to a workload. */
export function stateFor(caches: Caches, namespace: string, target: Target): PersistentPodState | undefined {
  return statesFor(caches, namespace, target).find((state) => !isBeingDeleted(state));
}

const byTarget = ({ metadata, spec }: PersistentPodState) => [idOf(metadata.namespace ?? '', spec.targetRef)];

function idOf(namespace: string, { apiVersion, kind, name }: Target): string {
  return [namespace, groupOf(apiVersion), kind, name].join('/');
}
