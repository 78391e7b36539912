import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { StorageClass } from '@kruise/api/storage/storageclass';

type VolumeSpec = NonNullable<PersistentVolume['spec']>;
type ClaimSpec = NonNullable<PersistentVolumeClaim['spec']>;
type Annotations = { readonly [name: string]: string };

/** A 5Gi PVC of the class `fast`. */
export function claimWith(
  spec: Partial<ClaimSpec> = {},
  annotations: Annotations = {},
  status: PersistentVolumeClaim['status'] = { phase: 'Pending' },
): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', namespace: 'default', uid: 'c1', resourceVersion: '7', annotations },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'fast',
      resources: { requests: { storage: '5Gi' } },
      ...spec,
    },
    status,
  };
}

/** An available 10Gi volume of the class `fast`. */
export function volumeWith(
  spec: Partial<VolumeSpec> = {},
  annotations: Annotations = {},
  phase: NonNullable<PersistentVolume['status']>['phase'] = 'Available',
): PersistentVolume {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'disk', uid: 'v1', annotations },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'fast',
      capacity: { storage: '10Gi' },
      hostPath: { path: '/disk' },
      persistentVolumeReclaimPolicy: 'Retain',
      ...spec,
    },
    ...(phase ? { status: { phase } } : {}),
  };
}

export function named(volume: PersistentVolume, name: string): PersistentVolume {
  return { ...volume, metadata: { ...volume.metadata, name } };
}

export function classWith(more: Partial<StorageClass> = {}): StorageClass {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'fast' },
    provisioner: 'example.com/disks',
    volumeBindingMode: 'Immediate',
    ...more,
  };
}

export const bindCompleted: Annotations = { 'pv.kubernetes.io/bind-completed': 'yes' };
export const boundByController: Annotations = { 'pv.kubernetes.io/bound-by-controller': 'yes' };
export const theClaim = { claimRef: { namespace: 'default', name: 'data', uid: 'c1' } };
export const anotherClaim = { claimRef: { namespace: 'default', name: 'other', uid: 'c9' } };
