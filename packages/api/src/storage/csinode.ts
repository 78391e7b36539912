import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const volumeNodeResources = s.object(
  'io.k8s.api.storage.v1.VolumeNodeResources',
  'How many volumes a node takes.',
  {
    count: s.pointer(
      1,
      s.int32(),
      'How many volumes of the driver can be used on the node at once. Unset: no limit is known.',
    ),
  },
);
export type VolumeNodeResources = s.TypeOf<typeof volumeNodeResources>;

export const csiNodeDriver = s.object('io.k8s.api.storage.v1.CSINodeDriver', 'A driver on a node.', {
  name: s.required(1, s.string(), 'Name of the driver.'),
  nodeID: s.required(2, s.string(), 'What the driver calls the node.'),
  topologyKeys: s.optional(
    3,
    s.atomicList(s.string()),
    'Node labels the driver tells domains apart by. Empty: it does not.',
    { omitEmpty: false },
  ),
  allocatable: s.pointer(4, volumeNodeResources, 'How many volumes it takes on this node.'),
});
export type CSINodeDriver = s.TypeOf<typeof csiNodeDriver>;

export const csiNodeSpec = s.object('io.k8s.api.storage.v1.CSINodeSpec', 'The drivers of a node.', {
  drivers: s.required(1, s.listMap(csiNodeDriver, ['name']), 'The drivers. Empty if all have been removed.', {
    patchStrategy: 'merge',
    patchMergeKey: 'name',
  }),
});
export type CSINodeSpec = s.TypeOf<typeof csiNodeSpec>;

export const csiNode = kind(
  'io.k8s.api.storage.v1.CSINode',
  'The CSI drivers of a node. Has the name of the node; written by its kubelet.',
  {
    group: 'storage.k8s.io',
    version: 'v1',
    kind: 'CSINode',
    plural: 'csinodes',
    scope: 'Cluster',
    fields: {
      spec: s.required(2, csiNodeSpec, 'The drivers.'),
    },
  },
);
export type CSINode = s.TypeOf<typeof csiNode>;
