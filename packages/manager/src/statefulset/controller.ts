import { controllerRevision } from '@kruise/api/apps/controllerrevision';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { pod } from '@kruise/api/core/pod';
import { imagePullJob } from '@kruise/api/kruise/imagepulljob';
import { statefulSet } from '@kruise/api/kruise/statefulset';
import { storageClass } from '@kruise/api/storage/storageclass';
import { candidatesFor, mapToAdopters } from '@kruise/client/adoption';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import type { Caches } from '@kruise/client/informer';
import type { Key } from '@kruise/client/object-key';
import { selectorOf } from '@kruise/machinery/label-selector';
import { mapPodNameToSets, mapPvcToSets } from '@kruise/workload-kit/statefulset/mappers';
import { type ManagerSettings, workSettings } from '../configuration/settings.ts';
import { decide, type Observed } from './decide.ts';

export function statefulSetController(settings: ManagerSettings): Controller {
  const preDownloadEnabled = settings.gates.PreDownloadImageForInPlaceUpdate;
  return defineController({
    ...workSettings(settings, 'statefulset'),
    for: statefulSet,
    owns: [pod],
    watches: [
      watch(
        pod,
        mapToAdopters(statefulSet, ({ spec }) => selectorOf(spec.selector)),
      ),
      watch(pod, mapPodNameToSets(statefulSet)),
      watch(persistentVolumeClaim, mapPvcToSets(statefulSet)),
    ],
    uses: [controllerRevision, storageClass, ...(preDownloadEnabled ? [imagePullJob] : [])],
    observe: (caches, key) => observe(caches, key, preDownloadEnabled),
    decide: (observed, now, refused) => decide(observed, settings, now, refused),
  });
}

function observe(caches: Caches, key: Key, preDownloadEnabled: boolean): Observed | undefined {
  const set = caches.of(statefulSet).get(key);
  if (!set) return undefined;
  const { namespace = '' } = set.metadata;
  const revisions = caches.of(controllerRevision);
  return {
    set,
    pods: candidatesFor(caches.of(pod), set),
    revisions: candidatesFor(revisions, set),
    findRevision: (name) => revisions.get({ namespace, name }),
    findClaim: (name) => caches.of(persistentVolumeClaim).get({ namespace, name }),
    findPod: (name) => caches.of(pod).get({ namespace, name }),
    findStorageClass: (name) => caches.of(storageClass).get(name),
    imagePullJobs: preDownloadEnabled ? caches.of(imagePullJob).controlledBy(set) : [],
  };
}
