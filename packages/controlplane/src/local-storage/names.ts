import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';

/** Who makes these volumes, as classes and volumes name it. */
export const provisioner = 'local.kruise.io';

/** On a volume: the node its files are on. */
export const nodeAnnotation = 'local.kruise.io/node';

/** Keeps the object of a volume until its files are gone. */
export const finalizer = 'external-provisioner.volume.kubernetes.io/finalizer';

const directory = '/var/lib/kruise/volumes';

export function volumeNameFor({ metadata }: PersistentVolumeClaim): string {
  return `pvc-${metadata.uid}`;
}

/** Where the files of a claim are on its node; for people, its name is in it. */
export function directoryFor(claim: PersistentVolumeClaim): string {
  return `${directory}/${volumeNameFor(claim)}_${claim.metadata.namespace}_${claim.metadata.name}`;
}
