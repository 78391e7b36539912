import { ageColumn, flag, integer, type Loose, nameColumn, tableOfColumns, text, wide } from './cells.ts';
import type { TableColumns } from './table.ts';

const terminatingOr = (object: Loose, otherwise: string): string =>
  object.metadata.deletionTimestamp ? 'Terminating' : otherwise;

const modeNames: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

function accessModes(modes: readonly string[] | undefined): string {
  return modeNames
    .filter(([mode]) => modes?.includes(mode))
    .map(([, short]) => short)
    .join(',');
}

const betaClass = 'volume.beta.kubernetes.io/storage-class';

const storageClass = ({ metadata, spec }: Loose) => metadata.annotations?.[betaClass] ?? spec?.storageClassName ?? '';

const defaultClass = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

export const storageTables: { readonly [kind: string]: TableColumns } = {
  PersistentVolume: tableOfColumns([
    nameColumn,
    text(
      'Capacity',
      "capacity is the description of the persistent volume's resources and capacity. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#capacity",
      ({ spec }) => spec?.capacity?.storage ?? '',
    ),
    text(
      'Access Modes',
      'accessModes contains all ways the volume can be mounted. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#access-modes',
      ({ spec }) => accessModes(spec?.accessModes),
    ),
    text(
      'Reclaim Policy',
      'persistentVolumeReclaimPolicy defines what happens to a persistent volume when released from its claim. Valid options are Retain (default for manually created PersistentVolumes), Delete (default for dynamically provisioned PersistentVolumes), and Recycle (deprecated). Recycle must be supported by the volume plugin underlying this PersistentVolume. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#reclaiming',
      ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? '',
    ),
    text(
      'Status',
      'phase indicates if a volume is available, bound to a claim, or released by a claim. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#phase',
      (volume) => terminatingOr(volume, volume.status?.phase ?? ''),
    ),
    text(
      'Claim',
      'claimRef is part of a bi-directional binding between PersistentVolume and PersistentVolumeClaim. Expected to be non-nil when bound. claim.VolumeName is the authoritative bind between PV and PVC. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#binding',
      ({ spec }) => (spec?.claimRef ? `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}` : ''),
    ),
    text('StorageClass', 'StorageClass of the pv', storageClass),
    text(
      'VolumeAttributesClass',
      'VolumeAttributesClass of the pv',
      ({ spec }) => spec?.volumeAttributesClassName ?? '<unset>',
    ),
    text(
      'Reason',
      'reason is a brief CamelCase string that describes any failure and is meant for machine parsing and tidy display in the CLI.',
      ({ status }) => status?.reason ?? '',
    ),
    ageColumn,
    wide(
      text(
        'VolumeMode',
        'volumeMode defines if a volume is intended to be used with a formatted filesystem or to remain in raw block state. Value of Filesystem is implied when not included in spec.',
        ({ spec }) => spec?.volumeMode ?? '<unset>',
      ),
    ),
  ]),
  PersistentVolumeClaim: tableOfColumns([
    nameColumn,
    text('Status', 'phase represents the current phase of PersistentVolumeClaim.', (claim) =>
      terminatingOr(claim, claim.status?.phase ?? ''),
    ),
    text(
      'Volume',
      'volumeName is the binding reference to the PersistentVolume backing this claim.',
      ({ spec }) => spec?.volumeName ?? '',
    ),
    text('Capacity', 'capacity represents the actual resources of the underlying volume.', ({ spec, status }) =>
      spec?.volumeName ? (status?.capacity?.storage ?? '0') : '',
    ),
    text(
      'Access Modes',
      'accessModes contains the actual access modes the volume backing the PVC has. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#access-modes-1',
      ({ spec, status }) => (spec?.volumeName ? accessModes(status?.accessModes) : ''),
    ),
    text('StorageClass', 'StorageClass of the pvc', storageClass),
    text(
      'VolumeAttributesClass',
      'VolumeAttributesClass of the pvc',
      ({ spec }) => spec?.volumeAttributesClassName ?? '<unset>',
    ),
    ageColumn,
    wide(
      text(
        'VolumeMode',
        'volumeMode defines what type of volume is required by the claim. Value of Filesystem is implied when not included in claim spec.',
        ({ spec }) => spec?.volumeMode ?? '<unset>',
      ),
    ),
  ]),
  StorageClass: tableOfColumns([
    {
      ...nameColumn,
      cell: ({ metadata }) =>
        defaultClass.some((key) => metadata.annotations?.[key] === 'true')
          ? `${metadata.name} (default)`
          : metadata.name,
    },
    text('Provisioner', 'provisioner indicates the type of the provisioner.', ({ provisioner }) => provisioner ?? ''),
    text(
      'ReclaimPolicy',
      'reclaimPolicy controls the reclaimPolicy for dynamically provisioned PersistentVolumes of this storage class. Defaults to Delete.',
      ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete',
    ),
    text(
      'VolumeBindingMode',
      'volumeBindingMode indicates how PersistentVolumeClaims should be provisioned and bound.  When unset, VolumeBindingImmediate is used. This field is only honored by servers that enable the VolumeScheduling feature.',
      ({ volumeBindingMode }) => volumeBindingMode ?? 'Immediate',
    ),
    text(
      'AllowVolumeExpansion',
      'allowVolumeExpansion shows whether the storage class allow volume expand.',
      ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false,
    ),
    ageColumn,
  ]),
  VolumeAttachment: tableOfColumns([
    nameColumn,
    {
      ...text(
        'Attacher',
        'attacher indicates the name of the volume driver that MUST handle this request. This is the name returned by GetPluginName().',
        ({ spec }) => spec?.attacher ?? '',
      ),
      format: 'name',
    },
    text(
      'PV',
      'persistentVolumeName represents the name of the persistent volume to attach.',
      ({ spec }) => spec?.source?.persistentVolumeName ?? '',
    ),
    text(
      'Node',
      'nodeName represents the node that the volume should be attached to.',
      ({ spec }) => spec?.nodeName ?? '',
    ),
    flag(
      'Attached',
      'attached indicates the volume is successfully attached. This field must only be set by the entity completing the attach operation, i.e. the external-attacher.',
      ({ status }) => status?.attached ?? false,
    ),
    ageColumn,
  ]),
  CSINode: tableOfColumns([
    nameColumn,
    integer(
      'Drivers',
      'Drivers indicates the number of CSI drivers registered on the node',
      ({ spec }) => (spec?.drivers ?? []).length,
    ),
    ageColumn,
  ]),
  CSIDriver: tableOfColumns([
    nameColumn,
    flag(
      'AttachRequired',
      'attachRequired indicates this CSI volume driver requires an attach operation (because it implements the CSI ControllerPublishVolume() method), and that the Kubernetes attach detach controller should call the attach volume interface which checks the volumeattachment status and waits until the volume is attached before proceeding to mounting. The CSI external-attacher coordinates with CSI volume driver and updates the volumeattachment status when the attach operation is complete. If the CSIDriverRegistry feature gate is enabled and the value is specified to false, the attach operation will be skipped. Otherwise the attach operation will be called.\n\nThis field is immutable.',
      ({ spec }) => spec?.attachRequired ?? true,
    ),
    flag(
      'PodInfoOnMount',
      'podInfoOnMount indicates this CSI volume driver requires additional pod information (like podName, podUID, etc.) during mount operations, if set to true. If set to false, pod information will not be passed on mount. Default is false.\n\nThe CSI driver specifies podInfoOnMount as part of driver deployment. If true, Kubelet will pass pod information as VolumeContext in the CSI NodePublishVolume() calls. The CSI driver is responsible for parsing and validating the information passed in as VolumeContext.\n\nThe following VolumeContext will be passed if podInfoOnMount is set to true. This list might grow, but the prefix will be used. "csi.storage.k8s.io/pod.name": pod.Name "csi.storage.k8s.io/pod.namespace": pod.Namespace "csi.storage.k8s.io/pod.uid": string(pod.UID) "csi.storage.k8s.io/ephemeral": "true" if the volume is an ephemeral inline volume\n                                defined by a CSIVolumeSource, otherwise "false"\n\n"csi.storage.k8s.io/ephemeral" is a new feature in Kubernetes 1.16. It is only required for drivers which support both the "Persistent" and "Ephemeral" VolumeLifecycleMode. Other drivers can leave pod info disabled and/or ignore this field. As Kubernetes 1.15 doesn\'t support this field, drivers can only support one mode when deployed on such a cluster and the deployment determines which mode that is, for example via a command line parameter of the driver.\n\nThis field was immutable in Kubernetes < 1.29 and now is mutable.',
      ({ spec }) => spec?.podInfoOnMount ?? false,
    ),
    flag(
      'StorageCapacity',
      'storageCapacity indicates that the CSI volume driver wants pod scheduling to consider the storage capacity that the driver deployment will report by creating CSIStorageCapacity objects with capacity information, if set to true.\n\nThe check can be enabled immediately when deploying a driver. In that case, provisioning new volumes with late binding will pause until the driver deployment has published some suitable CSIStorageCapacity object.\n\nAlternatively, the driver can be deployed with the field unset or false and it can be flipped later when storage capacity information has been published.\n\nThis field was immutable in Kubernetes <= 1.22 and now is mutable.',
      ({ spec }) => spec?.storageCapacity ?? false,
    ),
    text(
      'TokenRequests',
      'tokenRequests indicates the CSI driver needs pods\' service account tokens it is mounting volume for to do necessary authentication. Kubelet will pass the tokens in VolumeContext in the CSI NodePublishVolume calls. The CSI driver should parse and validate the following VolumeContext: "csi.storage.k8s.io/serviceAccount.tokens": {\n  "<audience>": {\n    "token": <token>,\n    "expirationTimestamp": <expiration timestamp in RFC3339>,\n  },\n  ...\n}\n\nNote: Audience in each TokenRequest should be different and at most one token is empty string. To receive a new token after expiry, RequiresRepublish can be used to trigger NodePublishVolume periodically.',
      ({ spec }) => {
        const requests: Loose[] = spec?.tokenRequests ?? [];
        return requests.length === 0 ? '<unset>' : requests.map(({ audience }) => audience).join(',');
      },
    ),
    flag(
      'RequiresRepublish',
      'requiresRepublish indicates the CSI driver wants `NodePublishVolume` being periodically called to reflect any possible change in the mounted volume. This field defaults to false.\n\nNote: After a successful initial NodePublishVolume call, subsequent calls to NodePublishVolume should only update the contents of the volume. New mount points will not be seen by a running container.',
      ({ spec }) => spec?.requiresRepublish ?? false,
    ),
    text(
      'Modes',
      'volumeLifecycleModes defines what kind of volumes this CSI volume driver supports. The default if the list is empty is "Persistent", which is the usage defined by the CSI specification and implemented in Kubernetes via the usual PV/PVC mechanism.\n\nThe other mode is "Ephemeral". In this mode, volumes are defined inline inside the pod spec with CSIVolumeSource and their lifecycle is tied to the lifecycle of that pod. A driver has to be aware of this because it is only going to get a NodePublishVolume call for such a volume.\n\nFor more information about implementing this mode, see https://kubernetes-csi.github.io/docs/ephemeral-local-volumes.html A driver can support one or more of these modes and more modes may be added in the future.\n\nThis field is beta. This field is immutable.',
      ({ spec }) => (spec?.volumeLifecycleModes ?? []).join(',') || '<none>',
    ),
    ageColumn,
  ]),
};
