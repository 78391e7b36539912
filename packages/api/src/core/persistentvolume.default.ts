import type { Draft } from '@kruise/schema/draft';
import type { PersistentVolume } from './persistentvolume.ts';
import { defaultResourceList } from './resources.default.ts';

export function defaultPersistentVolume(volume: Draft<PersistentVolume>): void {
  const spec = (volume.spec ??= {});
  const status = (volume.status ??= {});
  status.phase ||= 'Pending';
  spec.persistentVolumeReclaimPolicy ||= 'Retain';
  spec.volumeMode ??= 'Filesystem';
  defaultResourceList(spec.capacity);
  if (spec.hostPath) spec.hostPath.type ??= '';
  if (spec.rbd) {
    spec.rbd.pool ||= 'rbd';
    spec.rbd.user ||= 'admin';
    spec.rbd.keyring ||= '/etc/ceph/keyring';
  }
  if (spec.iscsi) spec.iscsi.iscsiInterface ||= 'default';
  if (spec.azureDisk) {
    spec.azureDisk.cachingMode ??= 'ReadWrite';
    spec.azureDisk.fsType ??= 'ext4';
    spec.azureDisk.readOnly ??= false;
    spec.azureDisk.kind ??= 'Shared';
  }
  if (spec.scaleIO) {
    spec.scaleIO.storageMode ||= 'ThinProvisioned';
    spec.scaleIO.fsType ||= 'xfs';
  }
}
