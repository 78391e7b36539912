import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import { provisionedByAnnotation } from '@kruise/machinery/volume-binding';

/** Deleter of a volume: another provisioner, this controller, or none with a reason. */
export type Deletion = 'elsewhere' | 'here' | { readonly fault: string };

const migratedToAnnotation = 'pv.kubernetes.io/migrated-to';

/** Reports whether a provisioner is one of the removed in-tree plugins. */
export function isInTree(provisioner: string): boolean {
  return provisioner.startsWith('kubernetes.io/');
}

/** Reports whether the volume was migrated from an in-tree plugin to a CSI driver. */
export function isMigrated({ metadata }: PersistentVolume): boolean {
  return Boolean(metadata.annotations?.[migratedToAnnotation]);
}

/** Returns the deleter of a released volume. */
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
  // The files are on an unknown node and stay there.
  if (/^\/tmp\/.+/.test(path)) return 'here';
  return { fault: `host_path deleter only supports /tmp/.+ but received provided ${path}` };
}
