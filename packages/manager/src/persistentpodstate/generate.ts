/** Generates a PersistentPodState for a workload with the matching annotations. */
import { type PersistentPodState, persistentPodState } from '@kruise/api/kruise/persistentpodstate';
import {
  autoGeneratePersistentPodStateAnnotation,
  persistentPodAnnotationsAnnotation,
  preferredPersistentTopologyAnnotation,
  requiredPersistentTopologyAnnotation,
} from '@kruise/api/kruise/well-known';
import { create, isBeingDeleted, remove, update } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import type { KubernetesObject } from '@kruise/client/object-key';
import { isSame } from '@kruise/machinery/json-value';
import { isControlledBy } from '@kruise/machinery/owner-references';
import { apiVersionOf } from '@kruise/schema/kind';

export type Generation = {
  readonly workload: KubernetesObject;
  /** PersistentPodState with the name of the workload. */
  readonly state: PersistentPodState | undefined;
};

/** Annotations whose change enqueues the workload. Other annotations are read in the same reconcile. */
export const followedAnnotations = [
  autoGeneratePersistentPodStateAnnotation,
  requiredPersistentTopologyAnnotation,
  preferredPersistentTopologyAnnotation,
];

/** Reports whether a workload has the annotation that generates a PersistentPodState. */
export function isGenerationEnabled({ metadata }: KubernetesObject): boolean {
  return metadata.annotations?.[autoGeneratePersistentPodStateAnnotation] === 'true';
}

export function decideGeneration({ workload, state }: Generation): Decision<undefined> {
  if (!isGenerationEnabled(workload)) {
    // A PersistentPodState of the same name that the workload does not control was created by a user and is not
    // deleted.
    return { actions: state && isControlledBy(state, workload) ? [remove(state)] : [] };
  }
  const spec = specFor(workload);
  const isComplete = spec.requiredPersistentTopology || spec.preferredPersistentTopology;
  if (!isComplete || isBeingDeleted(workload)) return { actions: [] };
  if (!state) return { actions: [create(stateFor(workload, spec))] };
  const changed: PersistentPodState = { ...state, spec };
  return { actions: isSame(state.spec, spec) ? [] : [update(changed)] };
}

function stateFor({ apiVersion, kind, metadata }: KubernetesObject, spec: PersistentPodState['spec']) {
  const { name = '', namespace = '', uid = '' } = metadata;
  const made: PersistentPodState = {
    apiVersion: apiVersionOf(persistentPodState),
    kind: persistentPodState.kind,
    metadata: { name, namespace, ownerReferences: [{ apiVersion, kind, name, uid, controller: true }] },
    spec,
  };
  return made;
}

const generatedWeight = 100;

function specFor({ apiVersion, kind, metadata }: KubernetesObject): PersistentPodState['spec'] {
  const listed = (annotation: string) => {
    const text = metadata.annotations?.[annotation];
    return text ? text.split(',') : undefined;
  };
  const required = listed(requiredPersistentTopologyAnnotation);
  const preferred = listed(preferredPersistentTopologyAnnotation);
  const annotations = listed(persistentPodAnnotationsAnnotation);
  return {
    targetRef: { apiVersion, kind, name: metadata.name ?? '' },
    ...(annotations ? { persistentPodAnnotations: annotations.map((key) => ({ key })) } : {}),
    ...(required ? { requiredPersistentTopology: { keys: required } } : {}),
    ...(preferred
      ? { preferredPersistentTopology: [{ weight: generatedWeight, preference: { keys: preferred } }] }
      : {}),
  };
}
