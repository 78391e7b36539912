import * as s from '@kruise/schema';
import { labelSelector } from '../meta/label-selector.ts';
import { persistentVolumeClaimTemplate } from './persistentvolumeclaim.ts';
import { localObjectReference } from './reference.ts';
import { objectFieldSelector, resourceFieldSelector } from './value-source.ts';

export const gcePersistentDiskVolumeSource = s.object(
  'io.k8s.api.core.v1.GCEPersistentDiskVolumeSource',
  'A disk of Google Compute Engine. Handled by the driver pd.csi.storage.gke.io.',
  {
    pdName: s.required(1, s.string(), 'Name of the disk.'),
    fsType: s.optional(2, s.string(), 'The file system: ext4 (the default), xfs or ntfs.'),
    partition: s.optional(3, s.int32(), 'Number of the partition to mount; 0 or unset for the whole disk.'),
    readOnly: s.optional(
      4,
      s.boolean(),
      'Read-only attachment, which is possible on many nodes at the same time. Default false.',
    ),
  },
);
export type GCEPersistentDiskVolumeSource = s.TypeOf<typeof gcePersistentDiskVolumeSource>;

export const awsElasticBlockStoreVolumeSource = s.object(
  'io.k8s.api.core.v1.AWSElasticBlockStoreVolumeSource',
  'A volume of Amazon EBS. Handled by the driver ebs.csi.aws.com.',
  {
    volumeID: s.required(1, s.string(), 'ID of the volume.'),
    fsType: s.optional(2, s.string(), 'The file system: ext4 (the default), xfs or ntfs.'),
    partition: s.optional(3, s.int32(), 'Number of the partition to mount; 0 or unset for the whole volume.'),
    readOnly: s.optional(4, s.boolean(), 'Read-only mount in every container. Default false.'),
  },
);
export type AWSElasticBlockStoreVolumeSource = s.TypeOf<typeof awsElasticBlockStoreVolumeSource>;

export const hostPathVolumeSource = s.object(
  'io.k8s.api.core.v1.HostPathVolumeSource',
  'A file or directory of the node. A Pod that can use it can often compromise the node.',
  {
    path: s.required(1, s.string(), 'Path on the node; symbolic links are followed. Must not contain "..".'),
    type: s.pointer(
      2,
      s.oneOf('v1.HostPathType', [
        '',
        'DirectoryOrCreate',
        'Directory',
        'FileOrCreate',
        'File',
        'Socket',
        'CharDevice',
        'BlockDevice',
      ]),
      'Required type of the path: Directory, File, Socket, CharDevice or BlockDevice; DirectoryOrCreate and FileOrCreate create it if it is missing. Unset: not checked.',
    ),
  },
);
export type HostPathVolumeSource = s.TypeOf<typeof hostPathVolumeSource>;

export const nfsVolumeSource = s.object('io.k8s.api.core.v1.NFSVolumeSource', 'A directory of an NFS server.', {
  server: s.required(1, s.string(), 'Name or address of the server.'),
  path: s.required(2, s.string(), 'The exported directory.'),
  readOnly: s.optional(3, s.boolean(), 'Read-only mount. Default false.'),
});
export type NFSVolumeSource = s.TypeOf<typeof nfsVolumeSource>;

export const fcVolumeSource = s.object('io.k8s.api.core.v1.FCVolumeSource', 'A disk reached by Fibre Channel.', {
  targetWWNs: s.optional(
    1,
    s.atomicList(s.string()),
    'World wide names of the target. Required together with lun, unless wwids is set.',
  ),
  lun: s.pointer(2, s.int32(), 'Number of the disk at the target.'),
  fsType: s.optional(3, s.string(), 'The file system; ext4 by default.'),
  readOnly: s.optional(4, s.boolean(), 'Read-only mount. Default false.'),
  wwids: s.optional(5, s.atomicList(s.string()), 'World wide identifiers of the disk, instead of targetWWNs and lun.', {
    goName: 'WWIDs',
  }),
});
export type FCVolumeSource = s.TypeOf<typeof fcVolumeSource>;

export const flockerVolumeSource = s.object(
  'io.k8s.api.core.v1.FlockerVolumeSource',
  'A Flocker dataset. Kubernetes no longer mounts it.',
  {
    datasetName: s.optional(1, s.string(), 'Name of the dataset. Deprecated in favour of datasetUUID.'),
    datasetUUID: s.optional(2, s.string(), 'ID of the dataset.'),
  },
);
export type FlockerVolumeSource = s.TypeOf<typeof flockerVolumeSource>;

export const vsphereVirtualDiskVolumeSource = s.object(
  'io.k8s.api.core.v1.VsphereVirtualDiskVolumeSource',
  'A disk of vSphere. Handled by the driver csi.vsphere.vmware.com.',
  {
    volumePath: s.required(1, s.string(), 'Path of the VMDK file, with its datastore.'),
    fsType: s.optional(2, s.string(), 'The file system; ext4 by default.'),
    storagePolicyName: s.optional(3, s.string(), 'Name of the storage policy.'),
    storagePolicyID: s.optional(4, s.string(), 'ID of the storage policy of that name.'),
  },
);
export type VsphereVirtualDiskVolumeSource = s.TypeOf<typeof vsphereVirtualDiskVolumeSource>;

export const quobyteVolumeSource = s.object(
  'io.k8s.api.core.v1.QuobyteVolumeSource',
  'A Quobyte volume. Kubernetes no longer mounts it.',
  {
    registry: s.required(1, s.string(), 'The Quobyte registries, as host:port, joined by commas.'),
    volume: s.required(2, s.string(), 'Name of the volume.'),
    readOnly: s.optional(3, s.boolean(), 'Read-only mount. Default false.'),
    user: s.optional(4, s.string(), "User to act as; the service account's by default."),
    group: s.optional(5, s.string(), 'Group to act as; none by default.'),
    tenant: s.optional(6, s.string(), 'Tenant that owns the volume.'),
  },
);
export type QuobyteVolumeSource = s.TypeOf<typeof quobyteVolumeSource>;

export const azureDiskVolumeSource = s.object(
  'io.k8s.api.core.v1.AzureDiskVolumeSource',
  'A data disk of Azure. Handled by the driver disk.csi.azure.com.',
  {
    diskName: s.required(1, s.string(), 'Name of the disk.'),
    diskURI: s.required(2, s.string(), 'URI of the disk in its storage account, or its resource ID if it is managed.', {
      goName: 'DataDiskURI',
    }),
    cachingMode: s.pointer(
      3,
      s.string({ goType: 'v1.AzureDataDiskCachingMode', default: 'ReadWrite' }),
      'Caching mode of the host: None, ReadOnly or ReadWrite (the default).',
    ),
    fsType: s.pointer(4, s.string({ default: 'ext4' }), 'The file system; ext4 by default.'),
    readOnly: s.pointer(5, s.boolean({ default: false }), 'Read-only mount. Default false.'),
    kind: s.pointer(
      6,
      s.string({ goType: 'v1.AzureDataDiskKind', default: 'Shared' }),
      'Shared (the default), Dedicated or Managed: how the disk relates to storage accounts.',
    ),
  },
);
export type AzureDiskVolumeSource = s.TypeOf<typeof azureDiskVolumeSource>;

export const photonPersistentDiskVolumeSource = s.object(
  'io.k8s.api.core.v1.PhotonPersistentDiskVolumeSource',
  'A disk of Photon Controller. Kubernetes no longer mounts it.',
  {
    pdID: s.required(1, s.string(), 'ID of the disk.', { goName: 'PdID' }),
    fsType: s.optional(2, s.string(), 'The file system; ext4 by default.'),
  },
);
export type PhotonPersistentDiskVolumeSource = s.TypeOf<typeof photonPersistentDiskVolumeSource>;

export const portworxVolumeSource = s.object(
  'io.k8s.api.core.v1.PortworxVolumeSource',
  'A Portworx volume. Handled by the driver pxd.portworx.com.',
  {
    volumeID: s.required(1, s.string(), 'ID of the volume.'),
    fsType: s.optional(2, s.string(), 'The file system; ext4 by default.'),
    readOnly: s.optional(3, s.boolean(), 'Read-only mount. Default false.'),
  },
);
export type PortworxVolumeSource = s.TypeOf<typeof portworxVolumeSource>;

export const emptyDirVolumeSource = s.object(
  'io.k8s.api.core.v1.EmptyDirVolumeSource',
  'Empty directory that is deleted with the Pod.',
  {
    medium: s.optional(
      1,
      s.string({ goType: 'v1.StorageMedium' }),
      'Empty for the disk of the node, Memory for a tmpfs, HugePages or HugePages-<size> for huge pages.',
    ),
    sizeLimit: s.pointer(
      2,
      s.quantity(),
      'Size limit; a Pod that exceeds it is evicted. Unset: limited only by the space on the node, or for medium Memory by the memory limits of the Pod.',
    ),
  },
);
export type EmptyDirVolumeSource = s.TypeOf<typeof emptyDirVolumeSource>;

export const gitRepoVolumeSource = s.object(
  'io.k8s.api.core.v1.GitRepoVolumeSource',
  'A checkout of a Git repository. Deprecated, and disabled in kubelets by default: use an init container.',
  {
    repository: s.required(1, s.string(), 'URL of the repository.'),
    revision: s.optional(2, s.string(), 'Commit to check out.'),
    directory: s.optional(3, s.string(), 'Directory within the volume to check out into; must not contain "..".'),
  },
);
export type GitRepoVolumeSource = s.TypeOf<typeof gitRepoVolumeSource>;

export const keyToPath = s.object('io.k8s.api.core.v1.KeyToPath', 'Makes a file of one key.', {
  key: s.required(1, s.string(), 'The key whose value is the content.'),
  path: s.required(2, s.string(), 'Path of the file within the volume; relative, without "..".'),
  mode: s.pointer(
    3,
    s.int32(),
    'Permissions of the file, 0 to 0777, in JSON as a decimal number. Unset: defaultMode of the volume.',
  ),
});
export type KeyToPath = s.TypeOf<typeof keyToPath>;

export const secretVolumeSource = s.object(
  'io.k8s.api.core.v1.SecretVolumeSource',
  'Files made of the keys of a Secret.',
  {
    secretName: s.optional(1, s.string(), 'Name of the Secret, in the namespace of the Pod.'),
    items: s.optional(
      2,
      s.atomicList(keyToPath),
      'Files to create from keys. Unset: one file for each key, with the name of the key.',
    ),
    defaultMode: s.pointer(
      3,
      s.int32(),
      'Permissions of the files, 0 to 0777, in JSON as a decimal number. Default 0644 (420).',
    ),
    optional: s.pointer(4, s.boolean(), 'Missing Secrets or keys are permitted. Default false: the Pod waits.'),
  },
);
export type SecretVolumeSource = s.TypeOf<typeof secretVolumeSource>;

export const iscsiVolumeSource = s.object('io.k8s.api.core.v1.ISCSIVolumeSource', 'A disk reached by iSCSI.', {
  targetPortal: s.required(1, s.string(), 'Portal of the target, as host or host:port; the port is 3260 by default.'),
  iqn: s.required(2, s.string(), 'Qualified name of the target.'),
  lun: s.required(3, s.int32(), 'Number of the disk at the target.'),
  iscsiInterface: s.optional(4, s.string({ default: 'default' }), 'The initiator interface; default (tcp) unless set.'),
  fsType: s.optional(5, s.string(), 'The file system; ext4 by default.'),
  readOnly: s.optional(6, s.boolean(), 'Read-only attachment. Default false.'),
  portals: s.optional(7, s.atomicList(s.string()), 'Further portals of the same target, for several paths to it.'),
  chapAuthDiscovery: s.optional(8, s.boolean(), 'Authenticate by CHAP when looking for targets.', {
    goName: 'DiscoveryCHAPAuth',
  }),
  chapAuthSession: s.optional(11, s.boolean(), 'Authenticate by CHAP when opening a session.', {
    goName: 'SessionCHAPAuth',
  }),
  secretRef: s.pointer(10, localObjectReference, 'Secret with the CHAP credentials, in the namespace of the Pod.'),
  initiatorName: s.pointer(12, s.string(), 'Name of the initiator. If set, a new interface is created for the volume.'),
});
export type ISCSIVolumeSource = s.TypeOf<typeof iscsiVolumeSource>;

export const glusterfsVolumeSource = s.object(
  'io.k8s.api.core.v1.GlusterfsVolumeSource',
  'A volume of GlusterFS. Kubernetes no longer mounts it.',
  {
    endpoints: s.required(1, s.string(), 'Name of the Endpoints object that lists the servers.', {
      goName: 'EndpointsName',
    }),
    path: s.required(2, s.string(), 'Name of the volume.'),
    readOnly: s.optional(3, s.boolean(), 'Read-only mount. Default false.'),
  },
);
export type GlusterfsVolumeSource = s.TypeOf<typeof glusterfsVolumeSource>;

export const persistentVolumeClaimVolumeSource = s.object(
  'io.k8s.api.core.v1.PersistentVolumeClaimVolumeSource',
  'The volume a claim is bound to.',
  {
    claimName: s.required(1, s.string(), 'Name of the claim, in the namespace of the Pod.'),
    readOnly: s.optional(2, s.boolean(), 'Read-only mount in every container. Default false.'),
  },
);
export type PersistentVolumeClaimVolumeSource = s.TypeOf<typeof persistentVolumeClaimVolumeSource>;

export const rbdVolumeSource = s.object(
  'io.k8s.api.core.v1.RBDVolumeSource',
  'A Ceph block device. Kubernetes no longer mounts it.',
  {
    monitors: s.required(1, s.atomicList(s.string()), 'The Ceph monitors, as host:port.', { goName: 'CephMonitors' }),
    image: s.required(2, s.string(), 'Name of the RBD image.', { goName: 'RBDImage' }),
    fsType: s.optional(3, s.string(), 'The file system; ext4 by default.'),
    pool: s.optional(4, s.string({ default: 'rbd' }), 'The pool the image is in; rbd by default.', {
      goName: 'RBDPool',
    }),
    user: s.optional(5, s.string({ default: 'admin' }), 'The Ceph user; admin by default.', { goName: 'RadosUser' }),
    keyring: s.optional(
      6,
      s.string({ default: '/etc/ceph/keyring' }),
      "Path of the user's keyring on the node; /etc/ceph/keyring by default.",
    ),
    secretRef: s.pointer(
      7,
      localObjectReference,
      'Secret with the key of the user, in the namespace of the Pod. Wins over keyring.',
    ),
    readOnly: s.optional(8, s.boolean(), 'Read-only mount. Default false.'),
  },
);
export type RBDVolumeSource = s.TypeOf<typeof rbdVolumeSource>;

export const flexVolumeSource = s.object(
  'io.k8s.api.core.v1.FlexVolumeSource',
  'A volume mounted by a program on the node. Deprecated in favour of CSI.',
  {
    driver: s.required(1, s.string(), 'Name of the driver, as vendor/driver.'),
    fsType: s.optional(2, s.string(), 'The file system. Unset: as the driver decides.'),
    secretRef: s.pointer(3, localObjectReference, 'Secret handed to the driver, in the namespace of the Pod.'),
    readOnly: s.optional(4, s.boolean(), 'Read-only mount. Default false.'),
    options: s.optional(5, s.map(s.string()), 'Further options for the driver.'),
  },
);
export type FlexVolumeSource = s.TypeOf<typeof flexVolumeSource>;

export const cinderVolumeSource = s.object(
  'io.k8s.api.core.v1.CinderVolumeSource',
  'A volume of OpenStack Cinder. Handled by the driver cinder.csi.openstack.org.',
  {
    volumeID: s.required(1, s.string(), 'ID of the volume.'),
    fsType: s.optional(2, s.string(), 'The file system; ext4 by default.'),
    readOnly: s.optional(3, s.boolean(), 'Read-only mount. Default false.'),
    secretRef: s.pointer(
      4,
      localObjectReference,
      'Secret with the OpenStack credentials, in the namespace of the Pod.',
    ),
  },
);
export type CinderVolumeSource = s.TypeOf<typeof cinderVolumeSource>;

export const cephFSVolumeSource = s.object(
  'io.k8s.api.core.v1.CephFSVolumeSource',
  'A directory of a Ceph file system. Kubernetes no longer mounts it.',
  {
    monitors: s.required(1, s.atomicList(s.string()), 'The Ceph monitors, as host:port.'),
    path: s.optional(2, s.string(), 'The directory to mount; / by default.'),
    user: s.optional(3, s.string(), 'The Ceph user; admin by default.'),
    secretFile: s.optional(4, s.string(), "Path of the user's key on the node; /etc/ceph/user.secret by default."),
    secretRef: s.pointer(
      5,
      localObjectReference,
      'Secret with the key of the user, in the namespace of the Pod. Wins over secretFile.',
    ),
    readOnly: s.optional(6, s.boolean(), 'Read-only mount. Default false.'),
  },
);
export type CephFSVolumeSource = s.TypeOf<typeof cephFSVolumeSource>;

export const downwardAPIVolumeFile = s.object(
  'io.k8s.api.core.v1.DownwardAPIVolumeFile',
  'Makes a file of what the Pod knows about itself.',
  {
    path: s.required(1, s.string(), 'Path of the file within the volume; relative, without "..".'),
    fieldRef: s.pointer(2, objectFieldSelector, 'A field of the Pod: its name, namespace, uid, labels or annotations.'),
    resourceFieldRef: s.pointer(3, resourceFieldSelector, 'A request or limit of one of its containers.'),
    mode: s.pointer(
      4,
      s.int32(),
      'Permissions of the file, 0 to 0777, in JSON as a decimal number. Unset: defaultMode of the volume.',
    ),
  },
);
export type DownwardAPIVolumeFile = s.TypeOf<typeof downwardAPIVolumeFile>;

export const downwardAPIVolumeSource = s.object(
  'io.k8s.api.core.v1.DownwardAPIVolumeSource',
  'Files made of what the Pod knows about itself.',
  {
    items: s.optional(1, s.atomicList(downwardAPIVolumeFile), 'The files to make.'),
    defaultMode: s.pointer(
      2,
      s.int32(),
      'Permissions of the files, 0 to 0777, in JSON as a decimal number. Default 0644 (420).',
    ),
  },
);
export type DownwardAPIVolumeSource = s.TypeOf<typeof downwardAPIVolumeSource>;

export const azureFileVolumeSource = s.object(
  'io.k8s.api.core.v1.AzureFileVolumeSource',
  'A share of Azure Files. Handled by the driver file.csi.azure.com.',
  {
    secretName: s.required(
      1,
      s.string(),
      'Secret with name and key of the storage account, in the namespace of the Pod.',
    ),
    shareName: s.required(2, s.string(), 'Name of the share.'),
    readOnly: s.optional(3, s.boolean(), 'Read-only mount. Default false.'),
  },
);
export type AzureFileVolumeSource = s.TypeOf<typeof azureFileVolumeSource>;

export const configMapVolumeSource = s.object(
  'io.k8s.api.core.v1.ConfigMapVolumeSource',
  'Files made of the keys of a ConfigMap in the namespace of the Pod.',
  {
    localObjectReference: s.inline(1, localObjectReference),
    items: s.optional(
      2,
      s.atomicList(keyToPath),
      'Files to create from keys. Unset: one file for each key, with the name of the key.',
    ),
    defaultMode: s.pointer(
      3,
      s.int32(),
      'Permissions of the files, 0 to 0777, in JSON as a decimal number. Default 0644 (420).',
    ),
    optional: s.pointer(4, s.boolean(), 'Missing ConfigMaps or keys are permitted. Default false: the Pod waits.'),
  },
);
export type ConfigMapVolumeSource = s.TypeOf<typeof configMapVolumeSource>;

export const secretProjection = s.object(
  'io.k8s.api.core.v1.SecretProjection',
  'Keys of a Secret among the files of a projected volume.',
  {
    localObjectReference: s.inline(1, localObjectReference),
    items: s.optional(
      2,
      s.atomicList(keyToPath),
      'Files to create from keys. Unset: one file for each key, with the name of the key.',
    ),
    optional: s.pointer(4, s.boolean(), 'Missing Secrets or keys are permitted. Default false.'),
  },
);
export type SecretProjection = s.TypeOf<typeof secretProjection>;

export const downwardAPIProjection = s.object(
  'io.k8s.api.core.v1.DownwardAPIProjection',
  'Fields of the Pod as files of a projected volume.',
  {
    items: s.optional(1, s.atomicList(downwardAPIVolumeFile), 'The files to make.'),
  },
);
export type DownwardAPIProjection = s.TypeOf<typeof downwardAPIProjection>;

export const configMapProjection = s.object(
  'io.k8s.api.core.v1.ConfigMapProjection',
  'Keys of a ConfigMap among the files of a projected volume.',
  {
    localObjectReference: s.inline(1, localObjectReference),
    items: s.optional(
      2,
      s.atomicList(keyToPath),
      'Files to create from keys. Unset: one file for each key, with the name of the key.',
    ),
    optional: s.pointer(4, s.boolean(), 'Missing ConfigMaps or keys are permitted. Default false.'),
  },
);
export type ConfigMapProjection = s.TypeOf<typeof configMapProjection>;

export const serviceAccountTokenProjection = s.object(
  'io.k8s.api.core.v1.ServiceAccountTokenProjection',
  "A token of the Pod's service account, renewed before it expires.",
  {
    audience: s.optional(
      1,
      s.string(),
      'Audience of the token. Unset: the API server. Other recipients must reject the token.',
    ),
    expirationSeconds: s.pointer(
      2,
      s.int64(),
      'Lifetime of the token in seconds; at least 600, 3600 by default. The token is renewed after 80 percent of it, or after a day.',
    ),
    path: s.required(3, s.string(), 'Path of the file within the volume.'),
  },
);
export type ServiceAccountTokenProjection = s.TypeOf<typeof serviceAccountTokenProjection>;

export const clusterTrustBundleProjection = s.object(
  'io.k8s.api.core.v1.ClusterTrustBundleProjection',
  'Certificates of authorities to trust, in one file.',
  {
    name: s.pointer(1, s.string(), 'Name of a ClusterTrustBundle. Excludes signerName.'),
    signerName: s.pointer(2, s.string(), 'Name of the signer of the bundles.'),
    labelSelector: s.pointer(3, labelSelector, 'Label selector of the bundles of the signer. Unset: none; empty: all.'),
    optional: s.pointer(
      5,
      s.boolean(),
      'Missing bundles are permitted and result in an empty file. Default false: the Pod waits.',
    ),
    path: s.required(4, s.string(), 'Path of the file within the volume.'),
  },
);
export type ClusterTrustBundleProjection = s.TypeOf<typeof clusterTrustBundleProjection>;

export const volumeProjection = s.object(
  'io.k8s.api.core.v1.VolumeProjection',
  'Source of a projected volume; exactly one type.',
  {
    secret: s.pointer(1, secretProjection, 'Keys of a Secret.'),
    downwardAPI: s.pointer(2, downwardAPIProjection, 'Fields of the Pod as files.'),
    configMap: s.pointer(3, configMapProjection, 'Keys of a ConfigMap.'),
    serviceAccountToken: s.pointer(4, serviceAccountTokenProjection, "A token of the Pod's service account."),
    clusterTrustBundle: s.pointer(
      5,
      clusterTrustBundleProjection,
      'Certificates to trust; of alpha quality, behind a feature gate.',
    ),
  },
);
export type VolumeProjection = s.TypeOf<typeof volumeProjection>;

export const projectedVolumeSource = s.object(
  'io.k8s.api.core.v1.ProjectedVolumeSource',
  'Files from several sources in one directory.',
  {
    sources: s.optional(1, s.atomicList(volumeProjection), 'Sources of the files.', { omitEmpty: false }),
    defaultMode: s.pointer(
      2,
      s.int32(),
      'Permissions of the files, 0 to 0777, in JSON as a decimal number. Default 0644 (420).',
    ),
  },
);
export type ProjectedVolumeSource = s.TypeOf<typeof projectedVolumeSource>;

export const scaleIOVolumeSource = s.object(
  'io.k8s.api.core.v1.ScaleIOVolumeSource',
  'A ScaleIO volume. Kubernetes no longer mounts it.',
  {
    gateway: s.required(1, s.string(), 'Address of the ScaleIO gateway.'),
    system: s.required(2, s.string(), 'Name of the storage system.'),
    secretRef: s.required(
      3,
      localObjectReference,
      'Secret with the user and password, in the namespace of the Pod; must be given.',
      { pointer: true },
    ),
    sslEnabled: s.optional(4, s.boolean(), 'Speak TLS with the gateway. Default false.'),
    protectionDomain: s.optional(5, s.string(), 'Name of the protection domain.'),
    storagePool: s.optional(6, s.string(), 'The pool of the domain the volume is in.'),
    storageMode: s.optional(
      7,
      s.string({ default: 'ThinProvisioned' }),
      'ThinProvisioned (the default) or ThickProvisioned.',
    ),
    volumeName: s.optional(8, s.string(), 'Name of the volume.'),
    fsType: s.optional(9, s.string({ default: 'xfs' }), 'The file system; xfs by default.'),
    readOnly: s.optional(10, s.boolean(), 'Read-only mount. Default false.'),
  },
);
export type ScaleIOVolumeSource = s.TypeOf<typeof scaleIOVolumeSource>;

export const storageOSVolumeSource = s.object(
  'io.k8s.api.core.v1.StorageOSVolumeSource',
  'A StorageOS volume. Kubernetes no longer mounts it.',
  {
    volumeName: s.optional(1, s.string(), 'Name of the volume, unique in its namespace.'),
    volumeNamespace: s.optional(2, s.string(), 'The StorageOS namespace. Unset: the namespace of the Pod.'),
    fsType: s.optional(3, s.string(), 'The file system; ext4 by default.'),
    readOnly: s.optional(4, s.boolean(), 'Read-only mount. Default false.'),
    secretRef: s.pointer(5, localObjectReference, 'Secret with the credentials, in the namespace of the Pod.'),
  },
);
export type StorageOSVolumeSource = s.TypeOf<typeof storageOSVolumeSource>;

export const csiVolumeSource = s.object(
  'io.k8s.api.core.v1.CSIVolumeSource',
  'Volume that a CSI driver creates for the Pod and deletes with it.',
  {
    driver: s.required(1, s.string(), 'Name of the driver, as its CSIDriver object has it.'),
    readOnly: s.pointer(2, s.boolean(), 'Read-only mount. Default false.'),
    fsType: s.pointer(3, s.string(), 'The file system; as the driver decides by default.'),
    volumeAttributes: s.optional(4, s.map(s.string()), 'Options for the driver.'),
    nodePublishSecretRef: s.pointer(
      5,
      localObjectReference,
      'Secret in the namespace of the Pod that is passed to the driver when it mounts the volume.',
    ),
  },
);
export type CSIVolumeSource = s.TypeOf<typeof csiVolumeSource>;

export const ephemeralVolumeSource = s.object(
  'io.k8s.api.core.v1.EphemeralVolumeSource',
  'Volume with a PVC that is created for the Pod and deleted with it.',
  {
    volumeClaimTemplate: s.pointer(
      1,
      persistentVolumeClaimTemplate,
      'The claim to make; it is named after Pod and volume.',
    ),
  },
);
export type EphemeralVolumeSource = s.TypeOf<typeof ephemeralVolumeSource>;

export const imageVolumeSource = s.object(
  'io.k8s.api.core.v1.ImageVolumeSource',
  'The content of an image or artifact of a registry, mounted read-only.',
  {
    reference: s.optional(
      1,
      s.string(),
      'Reference to the image or artifact. Optional only in templates in which it is set later.',
    ),
    pullPolicy: s.optional(
      2,
      s.oneOf('v1.PullPolicy', ['Always', 'Never', 'IfNotPresent']),
      'Pull policy: Always, Never or IfNotPresent. Default: Always for the tag latest or no tag, otherwise IfNotPresent.',
    ),
  },
);
export type ImageVolumeSource = s.TypeOf<typeof imageVolumeSource>;

export const volumeSource = s.object(
  'io.k8s.api.core.v1.VolumeSource',
  'Source of a volume; exactly one. Default emptyDir.',
  {
    hostPath: s.pointer(1, hostPathVolumeSource, 'A file or directory of the node.'),
    emptyDir: s.pointer(2, emptyDirVolumeSource, 'Empty directory that is deleted with the Pod.'),
    gcePersistentDisk: s.pointer(3, gcePersistentDiskVolumeSource, 'A disk of Google Compute Engine.'),
    awsElasticBlockStore: s.pointer(4, awsElasticBlockStoreVolumeSource, 'A volume of Amazon EBS.'),
    gitRepo: s.pointer(5, gitRepoVolumeSource, 'A checkout of a Git repository; deprecated.'),
    secret: s.pointer(6, secretVolumeSource, 'Files made of a Secret.'),
    nfs: s.pointer(7, nfsVolumeSource, 'A directory of an NFS server.'),
    iscsi: s.pointer(8, iscsiVolumeSource, 'A disk reached by iSCSI.'),
    glusterfs: s.pointer(9, glusterfsVolumeSource, 'A volume of GlusterFS; no longer mounted.'),
    persistentVolumeClaim: s.pointer(10, persistentVolumeClaimVolumeSource, 'The volume a claim is bound to.'),
    rbd: s.pointer(11, rbdVolumeSource, 'A Ceph block device; no longer mounted.'),
    flexVolume: s.pointer(12, flexVolumeSource, 'A volume mounted by a program on the node; deprecated.'),
    cinder: s.pointer(13, cinderVolumeSource, 'A volume of OpenStack Cinder.'),
    cephfs: s.pointer(14, cephFSVolumeSource, 'A directory of a Ceph file system; no longer mounted.', {
      goName: 'CephFS',
    }),
    flocker: s.pointer(15, flockerVolumeSource, 'A Flocker dataset; no longer mounted.'),
    downwardAPI: s.pointer(16, downwardAPIVolumeSource, 'Files made of what the Pod knows about itself.'),
    fc: s.pointer(17, fcVolumeSource, 'A disk reached by Fibre Channel.'),
    azureFile: s.pointer(18, azureFileVolumeSource, 'A share of Azure Files.'),
    configMap: s.pointer(19, configMapVolumeSource, 'Files made of a ConfigMap.'),
    vsphereVolume: s.pointer(20, vsphereVirtualDiskVolumeSource, 'A disk of vSphere.'),
    quobyte: s.pointer(21, quobyteVolumeSource, 'A Quobyte volume; no longer mounted.'),
    azureDisk: s.pointer(22, azureDiskVolumeSource, 'A data disk of Azure.'),
    photonPersistentDisk: s.pointer(
      23,
      photonPersistentDiskVolumeSource,
      'A disk of Photon Controller; no longer mounted.',
    ),
    projected: s.pointer(26, projectedVolumeSource, 'Files from several sources in one directory.'),
    portworxVolume: s.pointer(24, portworxVolumeSource, 'A Portworx volume.'),
    scaleIO: s.pointer(25, scaleIOVolumeSource, 'A ScaleIO volume; no longer mounted.'),
    storageos: s.pointer(27, storageOSVolumeSource, 'A StorageOS volume; no longer mounted.', { goName: 'StorageOS' }),
    csi: s.pointer(28, csiVolumeSource, 'A volume a CSI driver makes for the Pod.'),
    ephemeral: s.pointer(
      29,
      ephemeralVolumeSource,
      'Volume with a PVC that is created for the Pod and deleted with it.',
    ),
    image: s.pointer(30, imageVolumeSource, 'The content of an image or artifact, read-only.'),
  },
);
export type VolumeSource = s.TypeOf<typeof volumeSource>;

export const volume = s.object('io.k8s.api.core.v1.Volume', 'A volume of a Pod, for its containers to mount.', {
  name: s.required(1, s.string(), 'Name of the volume in the Pod, a DNS label; volumeMounts refer to it.'),
  volumeSource: s.inline(2, volumeSource),
});
export type Volume = s.TypeOf<typeof volume>;
