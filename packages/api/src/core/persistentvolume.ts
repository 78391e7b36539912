import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { nodeSelector } from './affinity.ts';
import { objectReference, secretReference } from './reference.ts';
import {
  awsElasticBlockStoreVolumeSource,
  azureDiskVolumeSource,
  fcVolumeSource,
  flockerVolumeSource,
  gcePersistentDiskVolumeSource,
  hostPathVolumeSource,
  nfsVolumeSource,
  photonPersistentDiskVolumeSource,
  portworxVolumeSource,
  quobyteVolumeSource,
  vsphereVirtualDiskVolumeSource,
} from './volume.ts';

export const glusterfsPersistentVolumeSource = s.object(
  'io.k8s.api.core.v1.GlusterfsPersistentVolumeSource',
  'A volume of GlusterFS. Kubernetes no longer mounts it.',
  {
    endpoints: s.required(1, s.string(), 'Name of the Endpoints object that lists the servers.'),
    path: s.required(2, s.string(), 'Name of the volume.'),
    readOnly: s.optional(3, s.boolean(), 'Read-only mount. Default false.'),
    endpointsNamespace: s.pointer(4, s.string(), 'Namespace of the Endpoints object. Unset: the namespace of the PVC.'),
  },
);
export type GlusterfsPersistentVolumeSource = s.TypeOf<typeof glusterfsPersistentVolumeSource>;

export const rbdPersistentVolumeSource = s.object(
  'io.k8s.api.core.v1.RBDPersistentVolumeSource',
  'A Ceph block device. Kubernetes no longer mounts it.',
  {
    monitors: s.required(1, s.atomicList(s.string()), 'The Ceph monitors, as host:port.'),
    image: s.required(2, s.string(), 'Name of the RBD image.'),
    fsType: s.optional(3, s.string(), 'The file system; ext4 by default.'),
    pool: s.optional(4, s.string({ default: 'rbd' }), 'The pool the image is in; rbd by default.'),
    user: s.optional(5, s.string({ default: 'admin' }), 'The Ceph user; admin by default.'),
    keyring: s.optional(
      6,
      s.string({ default: '/etc/ceph/keyring' }),
      "Path of the user's keyring on the node; /etc/ceph/keyring by default.",
    ),
    secretRef: s.pointer(7, secretReference, 'Secret with the key of the user. Wins over keyring.'),
    readOnly: s.optional(8, s.boolean(), 'Read-only mount. Default false.'),
  },
);
export type RBDPersistentVolumeSource = s.TypeOf<typeof rbdPersistentVolumeSource>;

export const iscsiPersistentVolumeSource = s.object(
  'io.k8s.api.core.v1.ISCSIPersistentVolumeSource',
  'A disk reached by iSCSI.',
  {
    targetPortal: s.required(1, s.string(), 'Portal of the target, as host or host:port; the port is 3260 by default.'),
    iqn: s.required(2, s.string(), 'Qualified name of the target.'),
    lun: s.required(3, s.int32(), 'Number of the disk at the target.'),
    iscsiInterface: s.optional(
      4,
      s.string({ default: 'default' }),
      'The initiator interface; default (tcp) unless set.',
    ),
    fsType: s.optional(5, s.string(), 'The file system; ext4 by default.'),
    readOnly: s.optional(6, s.boolean(), 'Read-only attachment. Default false.'),
    portals: s.optional(7, s.atomicList(s.string()), 'Further portals of the same target, for several paths to it.'),
    chapAuthDiscovery: s.optional(8, s.boolean(), 'Authenticate by CHAP when looking for targets.'),
    chapAuthSession: s.optional(11, s.boolean(), 'Authenticate by CHAP when opening a session.'),
    secretRef: s.pointer(10, secretReference, 'Secret with the CHAP credentials.'),
    initiatorName: s.pointer(
      12,
      s.string(),
      'Name of the initiator. If set, a new interface is created for the volume.',
    ),
  },
);
export type ISCSIPersistentVolumeSource = s.TypeOf<typeof iscsiPersistentVolumeSource>;

export const cinderPersistentVolumeSource = s.object(
  'io.k8s.api.core.v1.CinderPersistentVolumeSource',
  'A volume of OpenStack Cinder. Handled by the driver cinder.csi.openstack.org.',
  {
    volumeID: s.required(1, s.string(), 'ID of the volume.'),
    fsType: s.optional(2, s.string(), 'The file system; ext4 by default.'),
    readOnly: s.optional(3, s.boolean(), 'Read-only mount. Default false.'),
    secretRef: s.pointer(4, secretReference, 'Secret with the OpenStack credentials.'),
  },
);
export type CinderPersistentVolumeSource = s.TypeOf<typeof cinderPersistentVolumeSource>;

export const cephFSPersistentVolumeSource = s.object(
  'io.k8s.api.core.v1.CephFSPersistentVolumeSource',
  'A directory of a Ceph file system. Kubernetes no longer mounts it.',
  {
    monitors: s.required(1, s.atomicList(s.string()), 'The Ceph monitors, as host:port.'),
    path: s.optional(2, s.string(), 'The directory to mount; / by default.'),
    user: s.optional(3, s.string(), 'The Ceph user; admin by default.'),
    secretFile: s.optional(4, s.string(), "Path of the user's key on the node; /etc/ceph/user.secret by default."),
    secretRef: s.pointer(5, secretReference, 'Secret with the key of the user. Wins over secretFile.'),
    readOnly: s.optional(6, s.boolean(), 'Read-only mount. Default false.'),
  },
);
export type CephFSPersistentVolumeSource = s.TypeOf<typeof cephFSPersistentVolumeSource>;

export const flexPersistentVolumeSource = s.object(
  'io.k8s.api.core.v1.FlexPersistentVolumeSource',
  'A volume mounted by a program on the node. Deprecated in favour of CSI.',
  {
    driver: s.required(1, s.string(), 'Name of the driver, as vendor/driver.'),
    fsType: s.optional(2, s.string(), 'The file system. Unset: as the driver decides.'),
    secretRef: s.pointer(3, secretReference, 'Secret handed to the driver, in any namespace.'),
    readOnly: s.optional(4, s.boolean(), 'Read-only mount. Default false.'),
    options: s.optional(5, s.map(s.string()), 'Further options for the driver.'),
  },
);
export type FlexPersistentVolumeSource = s.TypeOf<typeof flexPersistentVolumeSource>;

export const azureFilePersistentVolumeSource = s.object(
  'io.k8s.api.core.v1.AzureFilePersistentVolumeSource',
  'A share of Azure Files. Handled by the driver file.csi.azure.com.',
  {
    secretName: s.required(1, s.string(), 'Secret with name and key of the storage account.'),
    shareName: s.required(2, s.string(), 'Name of the share.'),
    readOnly: s.optional(3, s.boolean(), 'Read-only mount. Default false.'),
    secretNamespace: s.pointer(4, s.string(), 'Namespace of the Secret. Unset: the namespace of the Pod.', {
      omitEmpty: false,
    }),
  },
);
export type AzureFilePersistentVolumeSource = s.TypeOf<typeof azureFilePersistentVolumeSource>;

export const scaleIOPersistentVolumeSource = s.object(
  'io.k8s.api.core.v1.ScaleIOPersistentVolumeSource',
  'A ScaleIO volume. Kubernetes no longer mounts it.',
  {
    gateway: s.required(1, s.string(), 'Address of the ScaleIO gateway.'),
    system: s.required(2, s.string(), 'Name of the storage system.'),
    secretRef: s.required(3, secretReference, 'Secret with the user and password; must be given.', { pointer: true }),
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
export type ScaleIOPersistentVolumeSource = s.TypeOf<typeof scaleIOPersistentVolumeSource>;

export const localVolumeSource = s.object(
  'io.k8s.api.core.v1.LocalVolumeSource',
  'A disk or directory of one node, with that node given in nodeAffinity.',
  {
    path: s.required(1, s.string(), 'Path of the volume on the node: a directory or a block device.'),
    fsType: s.pointer(2, s.string(), 'The file system for a block device; as the system chooses by default.'),
  },
);
export type LocalVolumeSource = s.TypeOf<typeof localVolumeSource>;

export const storageOSPersistentVolumeSource = s.object(
  'io.k8s.api.core.v1.StorageOSPersistentVolumeSource',
  'A StorageOS volume. Kubernetes no longer mounts it.',
  {
    volumeName: s.optional(1, s.string(), 'Name of the volume, unique in its namespace.'),
    volumeNamespace: s.optional(2, s.string(), 'The StorageOS namespace. Unset: the namespace of the Pod.'),
    fsType: s.optional(3, s.string(), 'The file system; ext4 by default.'),
    readOnly: s.optional(4, s.boolean(), 'Read-only mount. Default false.'),
    secretRef: s.pointer(5, objectReference, 'Secret with the credentials.'),
  },
);
export type StorageOSPersistentVolumeSource = s.TypeOf<typeof storageOSPersistentVolumeSource>;

export const csiPersistentVolumeSource = s.object(
  'io.k8s.api.core.v1.CSIPersistentVolumeSource',
  'A volume of a CSI driver.',
  {
    driver: s.required(1, s.string(), 'Name of the driver, as its CSIDriver object has it.'),
    volumeHandle: s.required(2, s.string(), 'ID of the volume at the driver. Immutable.'),
    readOnly: s.optional(3, s.boolean(), 'Read-only volume. Default false.'),
    fsType: s.optional(4, s.string(), 'The file system; as the driver decides by default.'),
    volumeAttributes: s.optional(
      5,
      s.map(s.string()),
      'Attributes of the volume that the driver set when it created the volume.',
    ),
    controllerPublishSecretRef: s.pointer(
      6,
      secretReference,
      'Secret for attaching the volume to a node and detaching it.',
    ),
    nodeStageSecretRef: s.pointer(7, secretReference, 'Secret for preparing the volume on a node.'),
    nodePublishSecretRef: s.pointer(8, secretReference, 'Secret for mounting the volume into a Pod.'),
    controllerExpandSecretRef: s.pointer(9, secretReference, 'Secret for enlarging the volume.'),
    nodeExpandSecretRef: s.pointer(10, secretReference, 'Secret for enlarging the volume on a node.'),
  },
);
export type CSIPersistentVolumeSource = s.TypeOf<typeof csiPersistentVolumeSource>;

export const persistentVolumeSource = s.object(
  'io.k8s.api.core.v1.PersistentVolumeSource',
  'Source of a volume. Exactly one is required; immutable.',
  {
    gcePersistentDisk: s.pointer(1, gcePersistentDiskVolumeSource, 'A disk of Google Compute Engine.'),
    awsElasticBlockStore: s.pointer(2, awsElasticBlockStoreVolumeSource, 'A volume of Amazon EBS.'),
    hostPath: s.pointer(3, hostPathVolumeSource, 'A directory of whichever node; for tests on a single node only.'),
    glusterfs: s.pointer(4, glusterfsPersistentVolumeSource, 'A volume of GlusterFS; no longer mounted.'),
    nfs: s.pointer(5, nfsVolumeSource, 'A directory of an NFS server.'),
    rbd: s.pointer(6, rbdPersistentVolumeSource, 'A Ceph block device; no longer mounted.'),
    iscsi: s.pointer(7, iscsiPersistentVolumeSource, 'A disk reached by iSCSI.'),
    cinder: s.pointer(8, cinderPersistentVolumeSource, 'A volume of OpenStack Cinder.'),
    cephfs: s.pointer(9, cephFSPersistentVolumeSource, 'A directory of a Ceph file system; no longer mounted.'),
    fc: s.pointer(10, fcVolumeSource, 'A disk reached by Fibre Channel.'),
    flocker: s.pointer(11, flockerVolumeSource, 'A Flocker dataset; no longer mounted.'),
    flexVolume: s.pointer(12, flexPersistentVolumeSource, 'A volume mounted by a program on the node; deprecated.'),
    azureFile: s.pointer(13, azureFilePersistentVolumeSource, 'A share of Azure Files.'),
    vsphereVolume: s.pointer(14, vsphereVirtualDiskVolumeSource, 'A disk of vSphere.'),
    quobyte: s.pointer(15, quobyteVolumeSource, 'A Quobyte volume; no longer mounted.'),
    azureDisk: s.pointer(16, azureDiskVolumeSource, 'A data disk of Azure.'),
    photonPersistentDisk: s.pointer(
      17,
      photonPersistentDiskVolumeSource,
      'A disk of Photon Controller; no longer mounted.',
    ),
    portworxVolume: s.pointer(18, portworxVolumeSource, 'A Portworx volume.'),
    scaleIO: s.pointer(19, scaleIOPersistentVolumeSource, 'A ScaleIO volume; no longer mounted.'),
    local: s.pointer(20, localVolumeSource, 'A disk or directory of one node.'),
    storageos: s.pointer(21, storageOSPersistentVolumeSource, 'A StorageOS volume; no longer mounted.'),
    csi: s.pointer(22, csiPersistentVolumeSource, 'A volume of a CSI driver.'),
  },
);
export type PersistentVolumeSource = s.TypeOf<typeof persistentVolumeSource>;

export const volumeNodeAffinity = s.object(
  'io.k8s.api.core.v1.VolumeNodeAffinity',
  'The nodes a volume can be reached from.',
  {
    required: s.pointer(1, nodeSelector, 'Pods that use the volume run on these nodes only.'),
  },
);
export type VolumeNodeAffinity = s.TypeOf<typeof volumeNodeAffinity>;

export const persistentVolumeSpec = s.object(
  'io.k8s.api.core.v1.PersistentVolumeSpec',
  'A volume, and what may be done with it.',
  {
    capacity: s.optional(
      1,
      s.map(s.quantity(), { goType: 'v1.ResourceList' }),
      'Capacity of the volume, under the key storage.',
    ),
    persistentVolumeSource: s.inline(2, persistentVolumeSource),
    accessModes: s.optional(
      3,
      s.atomicList(
        s.oneOf('v1.PersistentVolumeAccessMode', [
          'ReadWriteOnce',
          'ReadOnlyMany',
          'ReadWriteMany',
          'ReadWriteOncePod',
        ]),
      ),
      'Supported access modes: ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod.',
    ),
    claimRef: s.pointer(4, objectReference, 'PVC to which the volume is bound or reserved.', { mapType: 'granular' }),
    persistentVolumeReclaimPolicy: s.optional(
      5,
      s.oneOf('v1.PersistentVolumeReclaimPolicy', ['Recycle', 'Delete', 'Retain']),
      'Reclaim policy after the deletion of the PVC: Retain (the default of volumes that were created manually), Delete (of provisioned ones) or the deprecated Recycle.',
    ),
    storageClassName: s.optional(
      6,
      s.string(),
      'Storage class; empty for none. Only PVCs of the same class are bound to the volume.',
    ),
    mountOptions: s.optional(
      7,
      s.atomicList(s.string()),
      'Options for mount, such as ro; unchecked, and mounting fails if one is wrong.',
    ),
    volumeMode: s.pointer(
      8,
      s.oneOf('v1.PersistentVolumeMode', ['Block', 'Filesystem']),
      'Filesystem (the default), or Block for a raw device.',
    ),
    nodeAffinity: s.pointer(9, volumeNodeAffinity, 'Nodes from which the volume is accessible. Unset: all.'),
    volumeAttributesClassName: s.pointer(
      10,
      s.string(),
      'Current VolumeAttributesClass. Changed only by a driver. Behind a feature gate that is disabled by default.',
    ),
  },
);
export type PersistentVolumeSpec = s.TypeOf<typeof persistentVolumeSpec>;

export const persistentVolumeStatus = s.object(
  'io.k8s.api.core.v1.PersistentVolumeStatus',
  'Status of a volume: its phase.',
  {
    phase: s.optional(
      1,
      s.oneOf('v1.PersistentVolumePhase', ['Pending', 'Available', 'Bound', 'Released', 'Failed']),
      'Phase: Pending, Available, Bound, Released (the PVC was deleted) or Failed.',
    ),
    message: s.optional(2, s.string(), 'Human-readable message with the reason.'),
    reason: s.optional(3, s.string(), 'Machine-readable reason for the status.'),
    lastPhaseTransitionTime: s.pointer(4, s.time(), 'Time at which the phase last changed.'),
  },
);
export type PersistentVolumeStatus = s.TypeOf<typeof persistentVolumeStatus>;

export const persistentVolume = kind(
  'io.k8s.api.core.v1.PersistentVolume',
  'A piece of storage of the cluster, which outlives the Pods that use it.',
  {
    group: '',
    version: 'v1',
    kind: 'PersistentVolume',
    plural: 'persistentvolumes',
    scope: 'Cluster',
    shortNames: ['pv'],
    subresources: ['status'],
    fields: {
      spec: s.optional(2, persistentVolumeSpec, 'Specification of the volume.'),
      status: s.optional(3, persistentVolumeStatus, 'Status of the volume: its phase.'),
    },
  },
);
export type PersistentVolume = s.TypeOf<typeof persistentVolume>;
