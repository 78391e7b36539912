import { deployment } from '@kruise/api/apps/deployment';
import { replicaSet } from '@kruise/api/apps/replicaset';
import { type Pod, pod } from '@kruise/api/core/pod';
import { adopters, candidatesFor } from '@kruise/client/adoption';
import { defineController, watch } from '@kruise/client/controller';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, type KubernetesObject, keyOf, referenceOf } from '@kruise/client/object-key';
import type { ObjectReader } from '@kruise/client/object-store';
import { type LabelSelector, nothing, type Selector, selectorOf } from '@kruise/machinery/label-selector';
import { controllerOf } from '@kruise/machinery/owner-references';
import { decide, type Observed } from './decide.ts';
import { isRolling } from './replica-sets.ts';

/** Keeps the ReplicaSets of each Deployment, and by them its Pods. */
export const deploymentController = defineController({
  name: 'deployment',
  for: deployment,
  owns: [replicaSet],
  watches: [
    watch(
      replicaSet,
      adopters(deployment, ({ spec }) => adoptingSelector(spec?.selector)),
    ),
    watch(pod, deploymentsAwaitingTheEnd),
  ],
  observe,
  decide,
});

/** A selector that selects everything is a mistake, and nothing is taken in by it. */
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
    find: (name) => sets.get(namespace === undefined ? { name } : { namespace, name }),
    podsOf: (set) => pods.controlledBy(set),
  };
}

/** Where all Pods go before there are new ones, the end of one may be what is waited for; elsewhere ReplicaSets tell. */
function deploymentsAwaitingTheEnd({ type, object }: Change<Pod>, caches: Caches): readonly Key[] {
  if (type !== 'deleted') return [];
  const set = controllerAmong(caches.of(replicaSet), object);
  const owner = set && controllerAmong(caches.of(deployment), set);
  return owner && !isRolling(owner) ? [keyOf(owner)] : [];
}

/** The controller of an object, if it is one of these: by name, as that is how they are kept, but not just any of it. */
function controllerAmong<T extends KubernetesObject>(reader: ObjectReader<T>, object: KubernetesObject): T | undefined {
  const reference = controllerOf(object);
  const found = reference && reader.get(keyOf({ metadata: { ...object.metadata, name: reference.name } }));
  return found?.metadata.uid === reference?.uid ? found : undefined;
}
