import { controllerRevision } from '@kruise/api/apps/controllerrevision';
import { statefulSet } from '@kruise/api/apps/statefulset';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { pod } from '@kruise/api/core/pod';
import { candidatesFor, mapToAdopters } from '@kruise/client/adoption';
import { defineController, watch } from '@kruise/client/controller';
import type { Caches } from '@kruise/client/informer';
import type { Key } from '@kruise/client/object-key';
import { selectorOf } from '@kruise/machinery/label-selector';
import { mapPodNameToSets, mapPvcToSets } from '@kruise/workload-kit/statefulset/mappers';
import { decide, type Observed } from './decide.ts';

export const statefulSetController = defineController({
  for: statefulSet,
  owns: [pod, controllerRevision],
  watches: [
    watch(
      pod,
      mapToAdopters(statefulSet, ({ spec }) => selectorOf(spec?.selector)),
    ),
    watch(pod, mapPodNameToSets(statefulSet)),
    watch(persistentVolumeClaim, mapPvcToSets(statefulSet)),
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
