import { persistentVolume } from '@kruise/api/core/persistentvolume';
import { type Controller, defineController } from '@kruise/client/controller';
import { decide } from './decide.ts';

/** PV protection controller: prevents the deletion of volumes that are bound. */
export const persistentVolumeProtectionController: Controller = defineController({
  name: 'persistentvolume-protection',
  component: 'pv-protection-controller',
  for: persistentVolume,
  observe: (caches, key) => caches.of(persistentVolume).get(key),
  decide,
});
