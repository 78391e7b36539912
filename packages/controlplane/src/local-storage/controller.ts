import { node } from '@kruise/api/core/node';
import { persistentVolume } from '@kruise/api/core/persistentvolume';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { storageClass } from '@kruise/api/storage/storageclass';
import { type Controller, defineController } from '@kruise/client/controller';
import { classOfClaim, selectedNodeAnnotation } from '@kruise/machinery/volume-binding';
import { type ClaimObserved, decideClaim } from './decide-claim.ts';
import { type Directory, decideVolume } from './decide-volume.ts';
import { provisioner, volumeNameFor } from './names.ts';

/** Dependencies of the local storage controllers. */
export type LocalStorageOptions = {
  /**
   * Removes a directory with its content. A directory that does not exist, or a node that is unreachable, is not an
   * error.
   */
  readonly removeDirectory: (directory: Directory) => Promise<void>;
};

/** Local storage provisioner: creates, expands and deletes volumes that are directories on nodes. */
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
      // `decideVolume` sets the input.
      effects: { 'remove directory': (directory) => removeDirectory(directory as Directory) },
    }),
  ];
}
