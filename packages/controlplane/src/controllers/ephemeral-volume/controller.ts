import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { type Pod, pod } from '@kruise/api/core/pod';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import { keyOf } from '@kruise/client/object-key';
import { byClaim } from '@kruise/workload-kit/pod-indexes';
import { decide } from './decide.ts';

const hasEphemeralVolumes = ({ spec }: Pod) => spec?.volumes?.some(({ ephemeral }) => ephemeral) ?? false;

/** Ephemeral volume controller: creates the PVCs of generic ephemeral volumes. */
export const ephemeralVolumeController: Controller = defineController({
  name: 'ephemeral-volume',
  component: 'ephemeral_volume',
  for: pod,
  predicate: ({ object }) => hasEphemeralVolumes(object),
  watches: [
    // Enqueues the owner when its PVC, or a conflicting PVC, is deleted.
    watch(persistentVolumeClaim, ({ type, object }, caches) =>
      type === 'deleted' ? caches.of(pod).byIndex(byClaim, keyOf(object)).filter(hasEphemeralVolumes).map(keyOf) : [],
    ),
  ],
  observe(caches, key) {
    const found = caches.of(pod).get(key);
    const { namespace = '' } = found?.metadata ?? {};
    return found && { pod: found, claimOf: (name) => caches.of(persistentVolumeClaim).get({ name, namespace }) };
  },
  decide,
});
