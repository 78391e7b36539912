import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import { provisionedByAnnotation } from '@kruise/machinery/volume-binding';

/** Who is to do away with a volume: somebody else, whoever deletes its object, or nobody, for a reason. */
export type Deletion = 'elsewhere' | 'here' | { readonly fault: string };

const migratedToAnnotation = 'pv.kubernetes.io/migrated-to';

/** Whether volumes of a provisioner were made by Kubernetes itself, in the days when it did; no such ones are left. */
export function isInTree(provisioner: string): boolean {
  return provisioner.startsWith('kubernetes.io/');
}

/** Whether a volume is looked after by a driver that has taken over from Kubernetes itself. */
export function isMigrated({ metadata }: PersistentVolume): boolean {
  return Boolean(metadata.annotations?.[migratedToAnnotation]);
}

/** Who deletes a volume that nobody claims any more. */
export function deletionOf({ metadata, spec }: PersistentVolume): Deletion {
  const provisioner = metadata.annotations?.[provisionedByAnnotation];
  if (provisioner) {
    return isInTree(provisioner) ? { fault: `no volume plugin matched name: ${provisioner}` } : 'elsewhere';
  }
  if (spec?.csi) return 'elsewhere';
  if (!spec?.hostPath) {
    return {
      fault: `error getting deleter volume plugin for volume "${metadata.name}": no deletable volume plugin matched`,
    };
  }
  const { path } = spec.hostPath;
  // The files are on a node, which nobody knows; they are left there.
  if (/^\/tmp\/.+/.test(path)) return 'here';
  return { fault: `host_path deleter only supports /tmp/.+ but received provided ${path}` };
}
