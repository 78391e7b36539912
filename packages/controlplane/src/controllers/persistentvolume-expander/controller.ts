import { persistentVolume } from '@kruise/api/core/persistentvolume';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { type Controller, defineController } from '@kruise/client/controller';
import { decide, hasGrown } from './decide.ts';

/** PersistentVolume expander: hands PVC expansion over to CSI drivers. */
export const persistentVolumeExpanderController: Controller = defineController({
  name: 'persistentvolume-expander',
  component: 'volume_expand',
  for: persistentVolumeClaim,
  uses: [persistentVolume],
  predicate: ({ object, previous }) => !previous || hasGrown(object, previous),
  observe(caches, key) {
    const claim = caches.of(persistentVolumeClaim).get(key);
    return claim && { claim, volume: caches.of(persistentVolume).get(claim.spec?.volumeName ?? '') };
  },
  decide,
});
