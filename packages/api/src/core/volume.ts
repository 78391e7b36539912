import * as s from '@kruise/schema';
import { labelSelector } from '../meta/label-selector.ts';
import { localObjectReference } from './reference.ts';
import { objectFieldSelector, resourceFieldSelector } from './value-source.ts';
import { persistentVolumeClaimTemplate } from './persistentvolumeclaim.ts';

export const gcePersistentDiskVolumeSource = s.object('io.k8s.api.core.v1.GCEPersistentDiskVolumeSource', '', {
  pdName: s.required(1, s.string(), ''),
  fsType: s.optional(2, s.string(), ''),
  partition: s.optional(3, s.int32(), ''),
  readOnly: s.optional(4, s.boolean(), ''),
});
export type GCEPersistentDiskVolumeSource = s.TypeOf<typeof gcePersistentDiskVolumeSource>;

export const awsElasticBlockStoreVolumeSource = s.object('io.k8s.api.core.v1.AWSElasticBlockStoreVolumeSource', '', {
  volumeID: s.required(1, s.string(), ''),
  fsType: s.optional(2, s.string(), ''),
  partition: s.optional(3, s.int32(), ''),
  readOnly: s.optional(4, s.boolean(), ''),
});
export type AWSElasticBlockStoreVolumeSource = s.TypeOf<typeof awsElasticBlockStoreVolumeSource>;

export const hostPathVolumeSource = s.object('io.k8s.api.core.v1.HostPathVolumeSource', '', {
  path: s.required(1, s.string(), ''),
  type: s.pointer(2, s.oneOf('v1.HostPathType', ['', 'DirectoryOrCreate', 'Directory', 'FileOrCreate', 'File', 'Socket', 'CharDevice', 'BlockDevice']), ''),
});
export type HostPathVolumeSource = s.TypeOf<typeof hostPathVolumeSource>;

export const nfsVolumeSource = s.object('io.k8s.api.core.v1.NFSVolumeSource', '', {
  server: s.required(1, s.string(), ''),
  path: s.required(2, s.string(), ''),
  readOnly: s.optional(3, s.boolean(), ''),
});
export type NFSVolumeSource = s.TypeOf<typeof nfsVolumeSource>;

export const fcVolumeSource = s.object('io.k8s.api.core.v1.FCVolumeSource', '', {
  targetWWNs: s.optional(1, s.atomicList(s.string()), ''),
  lun: s.pointer(2, s.int32(), ''),
  fsType: s.optional(3, s.string(), ''),
  readOnly: s.optional(4, s.boolean(), ''),
  wwids: s.optional(5, s.atomicList(s.string()), ''),
});
export type FCVolumeSource = s.TypeOf<typeof fcVolumeSource>;

export const flockerVolumeSource = s.object('io.k8s.api.core.v1.FlockerVolumeSource', '', {
  datasetName: s.optional(1, s.string(), ''),
  datasetUUID: s.optional(2, s.string(), ''),
});
export type FlockerVolumeSource = s.TypeOf<typeof flockerVolumeSource>;

export const vsphereVirtualDiskVolumeSource = s.object('io.k8s.api.core.v1.VsphereVirtualDiskVolumeSource', '', {
  volumePath: s.required(1, s.string(), ''),
  fsType: s.optional(2, s.string(), ''),
  storagePolicyName: s.optional(3, s.string(), ''),
  storagePolicyID: s.optional(4, s.string(), ''),
});
export type VsphereVirtualDiskVolumeSource = s.TypeOf<typeof vsphereVirtualDiskVolumeSource>;

export const quobyteVolumeSource = s.object('io.k8s.api.core.v1.QuobyteVolumeSource', '', {
  registry: s.required(1, s.string(), ''),
  volume: s.required(2, s.string(), ''),
  readOnly: s.optional(3, s.boolean(), ''),
  user: s.optional(4, s.string(), ''),
  group: s.optional(5, s.string(), ''),
  tenant: s.optional(6, s.string(), ''),
});
export type QuobyteVolumeSource = s.TypeOf<typeof quobyteVolumeSource>;

export const azureDiskVolumeSource = s.object('io.k8s.api.core.v1.AzureDiskVolumeSource', '', {
  diskName: s.required(1, s.string(), ''),
  diskURI: s.required(2, s.string(), ''),
  cachingMode: s.pointer(3, s.string({ goType: 'v1.AzureDataDiskCachingMode', default: 'ReadWrite' }), ''),
  fsType: s.pointer(4, s.string({ default: 'ext4' }), ''),
  readOnly: s.pointer(5, s.boolean({ default: false }), ''),
  kind: s.pointer(6, s.string({ goType: 'v1.AzureDataDiskKind', default: 'Shared' }), ''),
});
export type AzureDiskVolumeSource = s.TypeOf<typeof azureDiskVolumeSource>;

export const photonPersistentDiskVolumeSource = s.object('io.k8s.api.core.v1.PhotonPersistentDiskVolumeSource', '', {
  pdID: s.required(1, s.string(), ''),
  fsType: s.optional(2, s.string(), ''),
});
export type PhotonPersistentDiskVolumeSource = s.TypeOf<typeof photonPersistentDiskVolumeSource>;

export const portworxVolumeSource = s.object('io.k8s.api.core.v1.PortworxVolumeSource', '', {
  volumeID: s.required(1, s.string(), ''),
  fsType: s.optional(2, s.string(), ''),
  readOnly: s.optional(3, s.boolean(), ''),
});
export type PortworxVolumeSource = s.TypeOf<typeof portworxVolumeSource>;

export const emptyDirVolumeSource = s.object('io.k8s.api.core.v1.EmptyDirVolumeSource', '', {
  medium: s.optional(1, s.string({ goType: 'v1.StorageMedium' }), ''),
  sizeLimit: s.pointer(2, s.quantity(), ''),
});
export type EmptyDirVolumeSource = s.TypeOf<typeof emptyDirVolumeSource>;

export const gitRepoVolumeSource = s.object('io.k8s.api.core.v1.GitRepoVolumeSource', '', {
  repository: s.required(1, s.string(), ''),
  revision: s.optional(2, s.string(), ''),
  directory: s.optional(3, s.string(), ''),
});
export type GitRepoVolumeSource = s.TypeOf<typeof gitRepoVolumeSource>;

export const keyToPath = s.object('io.k8s.api.core.v1.KeyToPath', '', {
  key: s.required(1, s.string(), ''),
  path: s.required(2, s.string(), ''),
  mode: s.pointer(3, s.int32(), ''),
});
export type KeyToPath = s.TypeOf<typeof keyToPath>;

export const secretVolumeSource = s.object('io.k8s.api.core.v1.SecretVolumeSource', '', {
  secretName: s.optional(1, s.string(), ''),
  items: s.optional(2, s.atomicList(keyToPath), ''),
  defaultMode: s.pointer(3, s.int32(), ''),
  optional: s.pointer(4, s.boolean(), ''),
});
export type SecretVolumeSource = s.TypeOf<typeof secretVolumeSource>;

export const iscsiVolumeSource = s.object('io.k8s.api.core.v1.ISCSIVolumeSource', '', {
  targetPortal: s.required(1, s.string(), ''),
  iqn: s.required(2, s.string(), ''),
  lun: s.required(3, s.int32(), ''),
  iscsiInterface: s.optional(4, s.string({ default: 'default' }), ''),
  fsType: s.optional(5, s.string(), ''),
  readOnly: s.optional(6, s.boolean(), ''),
  portals: s.optional(7, s.atomicList(s.string()), ''),
  chapAuthDiscovery: s.optional(8, s.boolean(), ''),
  chapAuthSession: s.optional(11, s.boolean(), ''),
  secretRef: s.pointer(10, localObjectReference, ''),
  initiatorName: s.pointer(12, s.string(), ''),
});
export type ISCSIVolumeSource = s.TypeOf<typeof iscsiVolumeSource>;

export const glusterfsVolumeSource = s.object('io.k8s.api.core.v1.GlusterfsVolumeSource', '', {
  endpoints: s.required(1, s.string(), ''),
  path: s.required(2, s.string(), ''),
  readOnly: s.optional(3, s.boolean(), ''),
});
export type GlusterfsVolumeSource = s.TypeOf<typeof glusterfsVolumeSource>;

export const persistentVolumeClaimVolumeSource = s.object('io.k8s.api.core.v1.PersistentVolumeClaimVolumeSource', '', {
  claimName: s.required(1, s.string(), ''),
  readOnly: s.optional(2, s.boolean(), ''),
});
export type PersistentVolumeClaimVolumeSource = s.TypeOf<typeof persistentVolumeClaimVolumeSource>;

export const rbdVolumeSource = s.object('io.k8s.api.core.v1.RBDVolumeSource', '', {
  monitors: s.required(1, s.atomicList(s.string()), ''),
  image: s.required(2, s.string(), ''),
  fsType: s.optional(3, s.string(), ''),
  pool: s.optional(4, s.string({ default: 'rbd' }), ''),
  user: s.optional(5, s.string({ default: 'admin' }), ''),
  keyring: s.optional(6, s.string({ default: '/etc/ceph/keyring' }), ''),
  secretRef: s.pointer(7, localObjectReference, ''),
  readOnly: s.optional(8, s.boolean(), ''),
});
export type RBDVolumeSource = s.TypeOf<typeof rbdVolumeSource>;

export const flexVolumeSource = s.object('io.k8s.api.core.v1.FlexVolumeSource', '', {
  driver: s.required(1, s.string(), ''),
  fsType: s.optional(2, s.string(), ''),
  secretRef: s.pointer(3, localObjectReference, ''),
  readOnly: s.optional(4, s.boolean(), ''),
  options: s.optional(5, s.map(s.string()), ''),
});
export type FlexVolumeSource = s.TypeOf<typeof flexVolumeSource>;

export const cinderVolumeSource = s.object('io.k8s.api.core.v1.CinderVolumeSource', '', {
  volumeID: s.required(1, s.string(), ''),
  fsType: s.optional(2, s.string(), ''),
  readOnly: s.optional(3, s.boolean(), ''),
  secretRef: s.pointer(4, localObjectReference, ''),
});
export type CinderVolumeSource = s.TypeOf<typeof cinderVolumeSource>;

export const cephFSVolumeSource = s.object('io.k8s.api.core.v1.CephFSVolumeSource', '', {
  monitors: s.required(1, s.atomicList(s.string()), ''),
  path: s.optional(2, s.string(), ''),
  user: s.optional(3, s.string(), ''),
  secretFile: s.optional(4, s.string(), ''),
  secretRef: s.pointer(5, localObjectReference, ''),
  readOnly: s.optional(6, s.boolean(), ''),
});
export type CephFSVolumeSource = s.TypeOf<typeof cephFSVolumeSource>;

export const downwardAPIVolumeFile = s.object('io.k8s.api.core.v1.DownwardAPIVolumeFile', '', {
  path: s.required(1, s.string(), ''),
  fieldRef: s.pointer(2, objectFieldSelector, ''),
  resourceFieldRef: s.pointer(3, resourceFieldSelector, ''),
  mode: s.pointer(4, s.int32(), ''),
});
export type DownwardAPIVolumeFile = s.TypeOf<typeof downwardAPIVolumeFile>;

export const downwardAPIVolumeSource = s.object('io.k8s.api.core.v1.DownwardAPIVolumeSource', '', {
  items: s.optional(1, s.atomicList(downwardAPIVolumeFile), ''),
  defaultMode: s.pointer(2, s.int32(), ''),
});
export type DownwardAPIVolumeSource = s.TypeOf<typeof downwardAPIVolumeSource>;

export const azureFileVolumeSource = s.object('io.k8s.api.core.v1.AzureFileVolumeSource', '', {
  secretName: s.required(1, s.string(), ''),
  shareName: s.required(2, s.string(), ''),
  readOnly: s.optional(3, s.boolean(), ''),
});
export type AzureFileVolumeSource = s.TypeOf<typeof azureFileVolumeSource>;

export const configMapVolumeSource = s.object('io.k8s.api.core.v1.ConfigMapVolumeSource', '', {
  localObjectReference: s.inline(1, localObjectReference),
  items: s.optional(2, s.atomicList(keyToPath), ''),
  defaultMode: s.pointer(3, s.int32(), ''),
  optional: s.pointer(4, s.boolean(), ''),
});
export type ConfigMapVolumeSource = s.TypeOf<typeof configMapVolumeSource>;

export const secretProjection = s.object('io.k8s.api.core.v1.SecretProjection', '', {
  localObjectReference: s.inline(1, localObjectReference),
  items: s.optional(2, s.atomicList(keyToPath), ''),
  optional: s.pointer(4, s.boolean(), ''),
});
export type SecretProjection = s.TypeOf<typeof secretProjection>;

export const downwardAPIProjection = s.object('io.k8s.api.core.v1.DownwardAPIProjection', '', {
  items: s.optional(1, s.atomicList(downwardAPIVolumeFile), ''),
});
export type DownwardAPIProjection = s.TypeOf<typeof downwardAPIProjection>;

export const configMapProjection = s.object('io.k8s.api.core.v1.ConfigMapProjection', '', {
  localObjectReference: s.inline(1, localObjectReference),
  items: s.optional(2, s.atomicList(keyToPath), ''),
  optional: s.pointer(4, s.boolean(), ''),
});
export type ConfigMapProjection = s.TypeOf<typeof configMapProjection>;

export const serviceAccountTokenProjection = s.object('io.k8s.api.core.v1.ServiceAccountTokenProjection', '', {
  audience: s.optional(1, s.string(), ''),
  expirationSeconds: s.pointer(2, s.int64(), ''),
  path: s.required(3, s.string(), ''),
});
export type ServiceAccountTokenProjection = s.TypeOf<typeof serviceAccountTokenProjection>;

export const clusterTrustBundleProjection = s.object('io.k8s.api.core.v1.ClusterTrustBundleProjection', '', {
  name: s.pointer(1, s.string(), ''),
  signerName: s.pointer(2, s.string(), ''),
  labelSelector: s.pointer(3, labelSelector, ''),
  optional: s.pointer(5, s.boolean(), ''),
  path: s.required(4, s.string(), ''),
});
export type ClusterTrustBundleProjection = s.TypeOf<typeof clusterTrustBundleProjection>;

export const volumeProjection = s.object('io.k8s.api.core.v1.VolumeProjection', '', {
  secret: s.pointer(1, secretProjection, ''),
  downwardAPI: s.pointer(2, downwardAPIProjection, ''),
  configMap: s.pointer(3, configMapProjection, ''),
  serviceAccountToken: s.pointer(4, serviceAccountTokenProjection, ''),
  clusterTrustBundle: s.pointer(5, clusterTrustBundleProjection, ''),
});
export type VolumeProjection = s.TypeOf<typeof volumeProjection>;

export const projectedVolumeSource = s.object('io.k8s.api.core.v1.ProjectedVolumeSource', '', {
  sources: s.optional(1, s.atomicList(volumeProjection), '', { omitEmpty: false }),
  defaultMode: s.pointer(2, s.int32(), ''),
});
export type ProjectedVolumeSource = s.TypeOf<typeof projectedVolumeSource>;

export const scaleIOVolumeSource = s.object('io.k8s.api.core.v1.ScaleIOVolumeSource', '', {
  gateway: s.required(1, s.string(), ''),
  system: s.required(2, s.string(), ''),
  secretRef: s.required(3, localObjectReference, '', { pointer: true }),
  sslEnabled: s.optional(4, s.boolean(), ''),
  protectionDomain: s.optional(5, s.string(), ''),
  storagePool: s.optional(6, s.string(), ''),
  storageMode: s.optional(7, s.string({ default: 'ThinProvisioned' }), ''),
  volumeName: s.optional(8, s.string(), ''),
  fsType: s.optional(9, s.string({ default: 'xfs' }), ''),
  readOnly: s.optional(10, s.boolean(), ''),
});
export type ScaleIOVolumeSource = s.TypeOf<typeof scaleIOVolumeSource>;

export const storageOSVolumeSource = s.object('io.k8s.api.core.v1.StorageOSVolumeSource', '', {
  volumeName: s.optional(1, s.string(), ''),
  volumeNamespace: s.optional(2, s.string(), ''),
  fsType: s.optional(3, s.string(), ''),
  readOnly: s.optional(4, s.boolean(), ''),
  secretRef: s.pointer(5, localObjectReference, ''),
});
export type StorageOSVolumeSource = s.TypeOf<typeof storageOSVolumeSource>;

export const csiVolumeSource = s.object('io.k8s.api.core.v1.CSIVolumeSource', '', {
  driver: s.required(1, s.string(), ''),
  readOnly: s.pointer(2, s.boolean(), ''),
  fsType: s.pointer(3, s.string(), ''),
  volumeAttributes: s.optional(4, s.map(s.string()), ''),
  nodePublishSecretRef: s.pointer(5, localObjectReference, ''),
});
export type CSIVolumeSource = s.TypeOf<typeof csiVolumeSource>;

export const ephemeralVolumeSource = s.object('io.k8s.api.core.v1.EphemeralVolumeSource', '', {
  volumeClaimTemplate: s.pointer(1, persistentVolumeClaimTemplate, ''),
});
export type EphemeralVolumeSource = s.TypeOf<typeof ephemeralVolumeSource>;

export const imageVolumeSource = s.object('io.k8s.api.core.v1.ImageVolumeSource', '', {
  reference: s.optional(1, s.string(), ''),
  pullPolicy: s.optional(2, s.oneOf('v1.PullPolicy', ['Always', 'Never', 'IfNotPresent']), ''),
});
export type ImageVolumeSource = s.TypeOf<typeof imageVolumeSource>;

export const volumeSource = s.object('io.k8s.api.core.v1.VolumeSource', '', {
  hostPath: s.pointer(1, hostPathVolumeSource, ''),
  emptyDir: s.pointer(2, emptyDirVolumeSource, ''),
  gcePersistentDisk: s.pointer(3, gcePersistentDiskVolumeSource, ''),
  awsElasticBlockStore: s.pointer(4, awsElasticBlockStoreVolumeSource, ''),
  gitRepo: s.pointer(5, gitRepoVolumeSource, ''),
  secret: s.pointer(6, secretVolumeSource, ''),
  nfs: s.pointer(7, nfsVolumeSource, ''),
  iscsi: s.pointer(8, iscsiVolumeSource, ''),
  glusterfs: s.pointer(9, glusterfsVolumeSource, ''),
  persistentVolumeClaim: s.pointer(10, persistentVolumeClaimVolumeSource, ''),
  rbd: s.pointer(11, rbdVolumeSource, ''),
  flexVolume: s.pointer(12, flexVolumeSource, ''),
  cinder: s.pointer(13, cinderVolumeSource, ''),
  cephfs: s.pointer(14, cephFSVolumeSource, ''),
  flocker: s.pointer(15, flockerVolumeSource, ''),
  downwardAPI: s.pointer(16, downwardAPIVolumeSource, ''),
  fc: s.pointer(17, fcVolumeSource, ''),
  azureFile: s.pointer(18, azureFileVolumeSource, ''),
  configMap: s.pointer(19, configMapVolumeSource, ''),
  vsphereVolume: s.pointer(20, vsphereVirtualDiskVolumeSource, ''),
  quobyte: s.pointer(21, quobyteVolumeSource, ''),
  azureDisk: s.pointer(22, azureDiskVolumeSource, ''),
  photonPersistentDisk: s.pointer(23, photonPersistentDiskVolumeSource, ''),
  projected: s.pointer(26, projectedVolumeSource, ''),
  portworxVolume: s.pointer(24, portworxVolumeSource, ''),
  scaleIO: s.pointer(25, scaleIOVolumeSource, ''),
  storageos: s.pointer(27, storageOSVolumeSource, ''),
  csi: s.pointer(28, csiVolumeSource, ''),
  ephemeral: s.pointer(29, ephemeralVolumeSource, ''),
  image: s.pointer(30, imageVolumeSource, ''),
});
export type VolumeSource = s.TypeOf<typeof volumeSource>;

export const volume = s.object('io.k8s.api.core.v1.Volume', '', {
  name: s.required(1, s.string(), ''),
  volumeSource: s.inline(2, volumeSource),
});
export type Volume = s.TypeOf<typeof volume>;
