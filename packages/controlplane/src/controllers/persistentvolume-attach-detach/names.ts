import { createHash } from 'node:crypto';
import type { PersistentVolume } from '@kruise/api/core/persistentvolume';

/** Returns the deterministic name of the attachment of a volume to a node. */
export function attachmentName({ spec }: PersistentVolume, nodeName: string): string {
  const { volumeHandle = '', driver = '' } = spec?.csi ?? {};
  return `csi-${createHash('sha256').update(`${volumeHandle}${driver}${nodeName}`).digest('hex')}`;
}

/** Returns the unique name of a volume in the node status. */
export function uniqueVolumeName({ spec }: PersistentVolume): string {
  const { volumeHandle = '', driver = '' } = spec?.csi ?? {};
  return `kubernetes.io/csi/${driver}^${volumeHandle}`;
}
