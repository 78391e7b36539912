import { deployment } from '@kruise/api/apps/deployment';
import { replicaSet } from '@kruise/api/apps/replicaset';
import { type Pod, pod } from '@kruise/api/core/pod';
import { candidatesFor, mapToAdopters } from '@kruise/client/adoption';
import { defineController, watch } from '@kruise/client/controller';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, type KubernetesObject, keyOf, referenceOf } from '@kruise/client/object-key';
import type { ObjectReader } from '@kruise/client/object-store';
import { type LabelSelector, nothing, type Selector, selectorOf } from '@kruise/machinery/label-selector';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isRolling } from '@kruise/workload-kit/replica-sets';
import { decide, type Observed } from './decide.ts';

/** Deployment controller: manages the ReplicaSets of each Deployment. */
export const deploymentController = defineController({
  name: 'deployment',
  for: deployment,
  owns: [replicaSet],
  watches: [
    watch(
      replicaSet,
      mapToAdopters(deployment, ({ spec }) => adoptingSelector(spec?.selector)),
    ),
    watch(pod, deploymentsAwaitingDeletion),
  ],
  observe,
  decide,
});

/** An empty selector is a configuration error and must not adopt anything. */
function adoptingSelector(selector: LabelSelector | undefined): Selector {
  const compiled = selectorOf(selector);
  return compiled.requirements.length === 0 ? nothing : compiled;
}

function observe(caches: Caches, key: Key): Observed | undefined {
  const found = caches.of(deployment).get(key);
  if (!found) return undefined;
  const { namespace } = referenceOf(key);
  const sets = caches.of(replicaSet);
  const pods = caches.of(pod);
  return {
    deployment: found,
    candidates: candidatesFor(sets, found),
    findReplicaSet: (name) => sets.get(namespace === undefined ? { name } : { namespace, name }),
    podsOf: (set) => pods.controlledBy(set),
  };
}

/**
 * Enqueues Recreate Deployments when a Pod is deleted, because they wait until all old Pods are gone. For other
 * Deployments the ReplicaSet status is sufficient.
 */
function deploymentsAwaitingDeletion({ type, object }: Change<Pod>, caches: Caches): readonly Key[] {
  if (type !== 'deleted') return [];
  const set = findController(caches.of(replicaSet), object);
  const owner = set && findController(caches.of(deployment), set);
  return owner && !isRolling(owner) ? [keyOf(owner)] : [];
}

/** Returns the controller of an object if the lister has it. The lookup is by name; the UID must match. */
function findController<T extends KubernetesObject>(reader: ObjectReader<T>, object: KubernetesObject): T | undefined {
  const reference = controllerOf(object);
  const found = reference && reader.get(keyOf({ metadata: { ...object.metadata, name: reference.name } }));
  return found?.metadata.uid === reference?.uid ? found : undefined;
}
