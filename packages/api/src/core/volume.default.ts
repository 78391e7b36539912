import type { Draft } from '@kruise/schema/draft';
import { defaultFieldRef } from './container.default.ts';
import { defaultPersistentVolumeClaimSpec } from './persistentvolumeclaim.default.ts';
import type { ProjectedVolumeSource, Volume } from './volume.ts';

const readableByAll = 0o644;
const tokenLifetimeSeconds = 3600;

export function defaultVolume(volume: Draft<Volume>): void {
  if (!hasSource(volume)) volume.emptyDir = {};
  const { hostPath, secret, iscsi, rbd, downwardAPI, configMap, azureDisk, projected, scaleIO, ephemeral } = volume;
  if (hostPath) hostPath.type ??= '';
  if (secret) secret.defaultMode ??= readableByAll;
  if (configMap) configMap.defaultMode ??= readableByAll;
  if (projected) defaultProjected(projected);
  if (downwardAPI) {
    downwardAPI.defaultMode ??= readableByAll;
    for (const { fieldRef } of downwardAPI.items ?? []) defaultFieldRef(fieldRef);
  }
  if (ephemeral?.volumeClaimTemplate) defaultPersistentVolumeClaimSpec(ephemeral.volumeClaimTemplate.spec);
  if (iscsi) iscsi.iscsiInterface ||= 'default';
  if (rbd) {
    rbd.pool ||= 'rbd';
    rbd.user ||= 'admin';
    rbd.keyring ||= '/etc/ceph/keyring';
  }
  if (azureDisk) {
    azureDisk.cachingMode ??= 'ReadWrite';
    azureDisk.fsType ??= 'ext4';
    azureDisk.readOnly ??= false;
    azureDisk.kind ??= 'Shared';
  }
  if (scaleIO) {
    scaleIO.storageMode ||= 'ThinProvisioned';
    scaleIO.fsType ||= 'xfs';
  }
}

function hasSource(volume: Volume): boolean {
  for (const member in volume) if (member !== 'name') return true;
  return false;
}

function defaultProjected(projected: Draft<ProjectedVolumeSource>): void {
  projected.defaultMode ??= readableByAll;
  for (const { downwardAPI, serviceAccountToken } of projected.sources ?? []) {
    for (const { fieldRef } of downwardAPI?.items ?? []) defaultFieldRef(fieldRef);
    if (serviceAccountToken) serviceAccountToken.expirationSeconds ??= tokenLifetimeSeconds;
  }
}
