import * as s from '@kruise/schema';
import { awsElasticBlockStoreVolumeSource, azureDiskVolumeSource, fcVolumeSource, flockerVolumeSource, gcePersistentDiskVolumeSource, hostPathVolumeSource, nfsVolumeSource, photonPersistentDiskVolumeSource, portworxVolumeSource, quobyteVolumeSource, vsphereVirtualDiskVolumeSource } from './volume.ts';
import { kind } from '../meta/kind.ts';
import { nodeSelector } from './affinity.ts';
import { objectReference, secretReference } from './reference.ts';

export const glusterfsPersistentVolumeSource = s.object('io.k8s.api.core.v1.GlusterfsPersistentVolumeSource', '', {
  endpoints: s.required(1, s.string(), ''),
  path: s.required(2, s.string(), ''),
  readOnly: s.optional(3, s.boolean(), ''),
  endpointsNamespace: s.pointer(4, s.string(), ''),
});
export type GlusterfsPersistentVolumeSource = s.TypeOf<typeof glusterfsPersistentVolumeSource>;

export const rbdPersistentVolumeSource = s.object('io.k8s.api.core.v1.RBDPersistentVolumeSource', '', {
  monitors: s.required(1, s.atomicList(s.string()), ''),
  image: s.required(2, s.string(), ''),
  fsType: s.optional(3, s.string(), ''),
  pool: s.optional(4, s.string({ default: 'rbd' }), ''),
  user: s.optional(5, s.string({ default: 'admin' }), ''),
  keyring: s.optional(6, s.string({ default: '/etc/ceph/keyring' }), ''),
  secretRef: s.pointer(7, secretReference, ''),
  readOnly: s.optional(8, s.boolean(), ''),
});
export type RBDPersistentVolumeSource = s.TypeOf<typeof rbdPersistentVolumeSource>;

export const iscsiPersistentVolumeSource = s.object('io.k8s.api.core.v1.ISCSIPersistentVolumeSource', '', {
  targetPortal: s.required(1, s.string(), ''),
  iqn: s.required(2, s.string(), ''),
  lun: s.required(3, s.int32(), ''),
  iscsiInterface: s.optional(4, s.string({ default: 'default' }), ''),
  fsType: s.optional(5, s.string(), ''),
  readOnly: s.optional(6, s.boolean(), ''),
  portals: s.optional(7, s.atomicList(s.string()), ''),
  chapAuthDiscovery: s.optional(8, s.boolean(), ''),
  chapAuthSession: s.optional(11, s.boolean(), ''),
  secretRef: s.pointer(10, secretReference, ''),
  initiatorName: s.pointer(12, s.string(), ''),
});
export type ISCSIPersistentVolumeSource = s.TypeOf<typeof iscsiPersistentVolumeSource>;

export const cinderPersistentVolumeSource = s.object('io.k8s.api.core.v1.CinderPersistentVolumeSource', '', {
  volumeID: s.required(1, s.string(), ''),
  fsType: s.optional(2, s.string(), ''),
  readOnly: s.optional(3, s.boolean(), ''),
  secretRef: s.pointer(4, secretReference, ''),
});
export type CinderPersistentVolumeSource = s.TypeOf<typeof cinderPersistentVolumeSource>;

export const cephFSPersistentVolumeSource = s.object('io.k8s.api.core.v1.CephFSPersistentVolumeSource', '', {
  monitors: s.required(1, s.atomicList(s.string()), ''),
  path: s.optional(2, s.string(), ''),
  user: s.optional(3, s.string(), ''),
  secretFile: s.optional(4, s.string(), ''),
  secretRef: s.pointer(5, secretReference, ''),
  readOnly: s.optional(6, s.boolean(), ''),
});
export type CephFSPersistentVolumeSource = s.TypeOf<typeof cephFSPersistentVolumeSource>;

export const flexPersistentVolumeSource = s.object('io.k8s.api.core.v1.FlexPersistentVolumeSource', '', {
  driver: s.required(1, s.string(), ''),
  fsType: s.optional(2, s.string(), ''),
  secretRef: s.pointer(3, secretReference, ''),
  readOnly: s.optional(4, s.boolean(), ''),
  options: s.optional(5, s.map(s.string()), ''),
});
export type FlexPersistentVolumeSource = s.TypeOf<typeof flexPersistentVolumeSource>;

export const azureFilePersistentVolumeSource = s.object('io.k8s.api.core.v1.AzureFilePersistentVolumeSource', '', {
  secretName: s.required(1, s.string(), ''),
  shareName: s.required(2, s.string(), ''),
  readOnly: s.optional(3, s.boolean(), ''),
  secretNamespace: s.pointer(4, s.string(), '', { omitEmpty: false }),
});
export type AzureFilePersistentVolumeSource = s.TypeOf<typeof azureFilePersistentVolumeSource>;

export const scaleIOPersistentVolumeSource = s.object('io.k8s.api.core.v1.ScaleIOPersistentVolumeSource', '', {
  gateway: s.required(1, s.string(), ''),
  system: s.required(2, s.string(), ''),
  secretRef: s.required(3, secretReference, '', { pointer: true }),
  sslEnabled: s.optional(4, s.boolean(), ''),
  protectionDomain: s.optional(5, s.string(), ''),
  storagePool: s.optional(6, s.string(), ''),
  storageMode: s.optional(7, s.string({ default: 'ThinProvisioned' }), ''),
  volumeName: s.optional(8, s.string(), ''),
  fsType: s.optional(9, s.string({ default: 'xfs' }), ''),
  readOnly: s.optional(10, s.boolean(), ''),
});
export type ScaleIOPersistentVolumeSource = s.TypeOf<typeof scaleIOPersistentVolumeSource>;

export const localVolumeSource = s.object('io.k8s.api.core.v1.LocalVolumeSource', '', {
  path: s.required(1, s.string(), ''),
  fsType: s.pointer(2, s.string(), ''),
});
export type LocalVolumeSource = s.TypeOf<typeof localVolumeSource>;

export const storageOSPersistentVolumeSource = s.object('io.k8s.api.core.v1.StorageOSPersistentVolumeSource', '', {
  volumeName: s.optional(1, s.string(), ''),
  volumeNamespace: s.optional(2, s.string(), ''),
  fsType: s.optional(3, s.string(), ''),
  readOnly: s.optional(4, s.boolean(), ''),
  secretRef: s.pointer(5, objectReference, ''),
});
export type StorageOSPersistentVolumeSource = s.TypeOf<typeof storageOSPersistentVolumeSource>;

export const csiPersistentVolumeSource = s.object('io.k8s.api.core.v1.CSIPersistentVolumeSource', '', {
  driver: s.required(1, s.string(), ''),
  volumeHandle: s.required(2, s.string(), ''),
  readOnly: s.optional(3, s.boolean(), ''),
  fsType: s.optional(4, s.string(), ''),
  volumeAttributes: s.optional(5, s.map(s.string()), ''),
  controllerPublishSecretRef: s.pointer(6, secretReference, ''),
  nodeStageSecretRef: s.pointer(7, secretReference, ''),
  nodePublishSecretRef: s.pointer(8, secretReference, ''),
  controllerExpandSecretRef: s.pointer(9, secretReference, ''),
  nodeExpandSecretRef: s.pointer(10, secretReference, ''),
});
export type CSIPersistentVolumeSource = s.TypeOf<typeof csiPersistentVolumeSource>;

export const persistentVolumeSource = s.object('io.k8s.api.core.v1.PersistentVolumeSource', '', {
  gcePersistentDisk: s.pointer(1, gcePersistentDiskVolumeSource, ''),
  awsElasticBlockStore: s.pointer(2, awsElasticBlockStoreVolumeSource, ''),
  hostPath: s.pointer(3, hostPathVolumeSource, ''),
  glusterfs: s.pointer(4, glusterfsPersistentVolumeSource, ''),
  nfs: s.pointer(5, nfsVolumeSource, ''),
  rbd: s.pointer(6, rbdPersistentVolumeSource, ''),
  iscsi: s.pointer(7, iscsiPersistentVolumeSource, ''),
  cinder: s.pointer(8, cinderPersistentVolumeSource, ''),
  cephfs: s.pointer(9, cephFSPersistentVolumeSource, ''),
  fc: s.pointer(10, fcVolumeSource, ''),
  flocker: s.pointer(11, flockerVolumeSource, ''),
  flexVolume: s.pointer(12, flexPersistentVolumeSource, ''),
  azureFile: s.pointer(13, azureFilePersistentVolumeSource, ''),
  vsphereVolume: s.pointer(14, vsphereVirtualDiskVolumeSource, ''),
  quobyte: s.pointer(15, quobyteVolumeSource, ''),
  azureDisk: s.pointer(16, azureDiskVolumeSource, ''),
  photonPersistentDisk: s.pointer(17, photonPersistentDiskVolumeSource, ''),
  portworxVolume: s.pointer(18, portworxVolumeSource, ''),
  scaleIO: s.pointer(19, scaleIOPersistentVolumeSource, ''),
  local: s.pointer(20, localVolumeSource, ''),
  storageos: s.pointer(21, storageOSPersistentVolumeSource, ''),
  csi: s.pointer(22, csiPersistentVolumeSource, ''),
});
export type PersistentVolumeSource = s.TypeOf<typeof persistentVolumeSource>;

export const volumeNodeAffinity = s.object('io.k8s.api.core.v1.VolumeNodeAffinity', '', {
  required: s.pointer(1, nodeSelector, ''),
});
export type VolumeNodeAffinity = s.TypeOf<typeof volumeNodeAffinity>;

export const persistentVolumeSpec = s.object('io.k8s.api.core.v1.PersistentVolumeSpec', '', {
  capacity: s.optional(1, s.map(s.quantity(), { goType: 'v1.ResourceList' }), ''),
  persistentVolumeSource: s.inline(2, persistentVolumeSource),
  accessModes: s.optional(3, s.atomicList(s.oneOf('v1.PersistentVolumeAccessMode', ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'])), ''),
  claimRef: s.pointer(4, objectReference, ''),
  persistentVolumeReclaimPolicy: s.optional(5, s.oneOf('v1.PersistentVolumeReclaimPolicy', ['Recycle', 'Delete', 'Retain']), ''),
  storageClassName: s.optional(6, s.string(), ''),
  mountOptions: s.optional(7, s.atomicList(s.string()), ''),
  volumeMode: s.pointer(8, s.oneOf('v1.PersistentVolumeMode', ['Block', 'Filesystem']), ''),
  nodeAffinity: s.pointer(9, volumeNodeAffinity, ''),
  volumeAttributesClassName: s.pointer(10, s.string(), ''),
});
export type PersistentVolumeSpec = s.TypeOf<typeof persistentVolumeSpec>;

export const persistentVolumeStatus = s.object('io.k8s.api.core.v1.PersistentVolumeStatus', '', {
  phase: s.optional(1, s.oneOf('v1.PersistentVolumePhase', ['Pending', 'Available', 'Bound', 'Released', 'Failed']), ''),
  message: s.optional(2, s.string(), ''),
  reason: s.optional(3, s.string(), ''),
  lastPhaseTransitionTime: s.pointer(4, s.time(), ''),
});
export type PersistentVolumeStatus = s.TypeOf<typeof persistentVolumeStatus>;

export const persistentVolume = kind('io.k8s.api.core.v1.PersistentVolume', '', {
  group: '',
  version: 'v1',
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  scope: 'Cluster',
  shortNames: ['pv'],
  subresources: ['status'],
  fields: {
    spec: s.optional(2, persistentVolumeSpec, ''),
    status: s.optional(3, persistentVolumeStatus, ''),
  },
});
export type PersistentVolume = s.TypeOf<typeof persistentVolume>;
