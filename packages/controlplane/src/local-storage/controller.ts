import { node } from '@kruise/api/core/node';
import { persistentVolume } from '@kruise/api/core/persistentvolume';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { storageClass } from '@kruise/api/storage/storageclass';
import { type Controller, defineController } from '@kruise/client/controller';
import { classOfClaim, selectedNodeAnnotation } from '@kruise/machinery/volume-binding';
import { type ClaimObserved, decideClaim } from './decide-claim.ts';
import { type Directory, decideVolume } from './decide-volume.ts';
import { provisioner, volumeNameFor } from './names.ts';

/** What it takes to look after directories. */
export type LocalStorageOptions = {
  /** Removes a directory with all that is in it. What is not there, or on a node out of reach, is no error. */
  readonly removeDirectory: (directory: Directory) => Promise<void>;
};

/** Makes, enlarges and deletes volumes that are directories on nodes. */
export function localStorageControllers({ removeDirectory }: LocalStorageOptions): readonly Controller[] {
  return [
    defineController<typeof persistentVolumeClaim, ClaimObserved>({
      name: 'local-storage-claims',
      component: provisioner,
      for: persistentVolumeClaim,
      uses: [persistentVolume, storageClass, node],
      observe(caches, key) {
        const claim = caches.of(persistentVolumeClaim).get(key);
        if (!claim) return undefined;
        const volumes = caches.of(persistentVolume);
        const selected = claim.metadata.annotations?.[selectedNodeAnnotation] ?? '';
        return {
          claim,
          storageClass: caches.of(storageClass).get(classOfClaim(claim)),
          volume: volumes.get(claim.spec?.volumeName || volumeNameFor(claim)),
          node: caches.of(node).get(selected),
        };
      },
      decide: decideClaim,
    }),
    defineController({
      name: 'local-storage-volumes',
      component: provisioner,
      for: persistentVolume,
      observe: (caches, key) => caches.of(persistentVolume).get(key),
      decide: decideVolume,
      // What `decideVolume` has made of it.
      effects: { 'remove directory': (directory) => removeDirectory(directory as Directory) },
    }),
  ];
}
