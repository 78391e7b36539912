import { controllerRevision } from '@kruise/api/apps/controllerrevision';
import { type StatefulSet, statefulSet } from '@kruise/api/apps/statefulset';
import { type PersistentVolumeClaim, persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { type Pod, pod } from '@kruise/api/core/pod';
import { adopters, candidatesFor } from '@kruise/client/adoption';
import { defineController, watch } from '@kruise/client/controller';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, keyOf } from '@kruise/client/object-key';
import { selectorOf } from '@kruise/machinery/label-selector';
import { decide, type Observed } from './decide.ts';

export const statefulSetController = defineController({
  for: statefulSet,
  owns: [pod, controllerRevision],
  watches: [
    watch(
      pod,
      adopters(statefulSet, ({ spec }) => selectorOf(spec?.selector)),
    ),
    watch(pod, setsOfName),
    watch(persistentVolumeClaim, setsThatClaim),
  ],
  observe,
  decide,
});

function observe(caches: Caches, key: Key): Observed | undefined {
  const set = caches.of(statefulSet).get(key);
  if (!set) return undefined;
  const { namespace = '' } = set.metadata;
  return {
    set,
    pods: candidatesFor(caches.of(pod), set),
    revisions: candidatesFor(caches.of(controllerRevision), set),
    findRevision: (name) => caches.of(controllerRevision).get({ namespace, name }),
    findClaim: (name) => caches.of(persistentVolumeClaim).get({ namespace, name }),
    findPod: (name) => caches.of(pod).get({ namespace, name }),
  };
}

/** A Pod that is gone may have had the name that one of a set is to have. */
function setsOfName({ type, object: { metadata } }: Change<Pod>, caches: Caches): readonly Key[] {
  const stem = stemOf(metadata.name);
  if (type !== 'deleted' || stem === undefined) return [];
  const set = caches.of(statefulSet).get({ namespace: metadata.namespace ?? '', name: stem });
  return set ? [keyOf(set)] : [];
}

/** A Pod may wait for a claim to be there, or to be gone. Claims have no owner as a rule, so it goes by their names. */
function setsThatClaim({ object: { metadata } }: Change<PersistentVolumeClaim>, caches: Caches): readonly Key[] {
  const stem = stemOf(metadata.name);
  if (stem === undefined) return [];
  return caches.of(statefulSet).byIndex(byClaimStem, `${metadata.namespace}/${stem}`).map(keyOf);
}

/** What the claims of a StatefulSet are called, without the number of the Pod. */
function byClaimStem({ metadata, spec }: StatefulSet): readonly string[] {
  const templates = spec?.volumeClaimTemplates ?? [];
  return templates.map((template) => `${metadata.namespace}/${template.metadata.name}-${metadata.name}`);
}

/** What comes before the number at the end of a name. */
function stemOf(name = ''): string | undefined {
  return /^(.*)-\d+$/.exec(name)?.[1];
}
