import { createHash } from 'node:crypto';
import type { PersistentVolume } from '@kruise/api/core/persistentvolume';

/** The name of the attachment of a volume to a node: whoever makes it, it is the same. */
export function attachmentName({ spec }: PersistentVolume, nodeName: string): string {
  const { volumeHandle = '', driver = '' } = spec?.csi ?? {};
  return `csi-${createHash('sha256').update(`${volumeHandle}${driver}${nodeName}`).digest('hex')}`;
}

/** What a node calls a volume. */
export function uniqueVolumeName({ spec }: PersistentVolume): string {
  const { volumeHandle = '', driver = '' } = spec?.csi ?? {};
  return `kubernetes.io/csi/${driver}^${volumeHandle}`;
}
