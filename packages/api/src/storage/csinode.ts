import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const volumeNodeResources = s.object(
  'io.k8s.api.storage.v1.VolumeNodeResources',
  'Limit of volumes on a node.',
  {
    count: s.pointer(
      1,
      s.int32(),
      'Maximum number of volumes of the driver that the node can use at the same time. Unset: no known limit.',
    ),
  },
);
export type VolumeNodeResources = s.TypeOf<typeof volumeNodeResources>;

export const csiNodeDriver = s.object('io.k8s.api.storage.v1.CSINodeDriver', 'A driver on a node.', {
  name: s.required(1, s.string(), 'Name of the driver.'),
  nodeID: s.required(2, s.string(), 'ID of the node at the driver.'),
  topologyKeys: s.optional(
    3,
    s.atomicList(s.string()),
    'Keys of the node labels that define the topology of the driver. Empty: the driver has no topology.',
    { omitEmpty: false },
  ),
  allocatable: s.pointer(4, volumeNodeResources, 'Limit of volumes of the driver on this node.'),
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
