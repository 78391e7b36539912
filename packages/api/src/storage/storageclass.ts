import * as s from '@kruise/schema';
import { topologySelectorTerm } from '../core/topology-selector.ts';
import { kind } from '../meta/kind.ts';

export const storageClass = kind(
  'io.k8s.api.storage.v1.StorageClass',
  'A class of storage, and how volumes of it are made. The annotation storageclass.kubernetes.io/is-default-class makes it the default.',
  {
    group: 'storage.k8s.io',
    version: 'v1',
    kind: 'StorageClass',
    plural: 'storageclasses',
    scope: 'Cluster',
    shortNames: ['sc'],
    fields: {
      provisioner: s.required(2, s.string(), 'Name of the provisioner, for example ebs.csi.aws.com. Immutable.'),
      parameters: s.optional(3, s.map(s.string()), 'Settings for the provisioner. Cannot be changed.'),
      reclaimPolicy: s.pointer(
        4,
        s.oneOf('v1.PersistentVolumeReclaimPolicy', ['Recycle', 'Delete', 'Retain']),
        'Reclaim policy of volumes whose PVC is deleted: Delete (the default) or Retain. Immutable.',
      ),
      mountOptions: s.optional(
        5,
        s.atomicList(s.string()),
        'Options for mount; unchecked, and mounting fails if one is wrong.',
      ),
      allowVolumeExpansion: s.pointer(6, s.boolean(), 'Permits the expansion of PVCs. Default false.'),
      volumeBindingMode: s.pointer(
        7,
        s.oneOf('v1.VolumeBindingMode', ['Immediate', 'WaitForFirstConsumer']),
        'Immediate (the default) makes volumes at once; WaitForFirstConsumer when a Pod that uses them is scheduled. Cannot be changed.',
      ),
      allowedTopologies: s.optional(
        8,
        s.atomicList(topologySelectorTerm),
        'Topology in which volumes can be provisioned. Unset: everywhere.',
      ),
    },
  },
);
export type StorageClass = s.TypeOf<typeof storageClass>;
