import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';

/** Provisioner name in storage classes and volumes. */
export const provisioner = 'local.kruise.io';

/** Volume annotation: node of the files. */
export const nodeAnnotation = 'local.kruise.io/node';

/** Keeps the volume object until its files are deleted. */
export const finalizer = 'external-provisioner.volume.kubernetes.io/finalizer';

const directory = '/var/lib/kruise/volumes';

export function volumeNameFor({ metadata }: PersistentVolumeClaim): string {
  return `pvc-${metadata.uid}`;
}

/** Returns the directory of a PVC on its node; it contains the PVC name for readability. */
export function directoryFor(claim: PersistentVolumeClaim): string {
  return `${directory}/${volumeNameFor(claim)}_${claim.metadata.namespace}_${claim.metadata.name}`;
}
