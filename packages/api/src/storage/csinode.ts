import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const volumeNodeResources = s.object('io.k8s.api.storage.v1.VolumeNodeResources', '', {
  count: s.pointer(1, s.int32(), ''),
});
export type VolumeNodeResources = s.TypeOf<typeof volumeNodeResources>;

export const csiNodeDriver = s.object('io.k8s.api.storage.v1.CSINodeDriver', '', {
  name: s.required(1, s.string(), ''),
  nodeID: s.required(2, s.string(), ''),
  topologyKeys: s.optional(3, s.atomicList(s.string()), '', { omitEmpty: false }),
  allocatable: s.pointer(4, volumeNodeResources, ''),
});
export type CSINodeDriver = s.TypeOf<typeof csiNodeDriver>;

export const csiNodeSpec = s.object('io.k8s.api.storage.v1.CSINodeSpec', '', {
  drivers: s.required(1, s.listMap(csiNodeDriver, ['name']), '', { patchStrategy: 'merge', patchMergeKey: 'name' }),
});
export type CSINodeSpec = s.TypeOf<typeof csiNodeSpec>;

export const csiNode = kind('io.k8s.api.storage.v1.CSINode', '', {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSINode',
  plural: 'csinodes',
  scope: 'Cluster',
  fields: {
    spec: s.required(2, csiNodeSpec, ''),
  },
});
export type CSINode = s.TypeOf<typeof csiNode>;
