import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { topologySelectorTerm } from '../core/topology-selector.ts';

export const storageClass = kind('io.k8s.api.storage.v1.StorageClass', '', {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'StorageClass',
  plural: 'storageclasses',
  scope: 'Cluster',
  shortNames: ['sc'],
  fields: {
    provisioner: s.required(2, s.string(), ''),
    parameters: s.optional(3, s.map(s.string()), ''),
    reclaimPolicy: s.pointer(4, s.oneOf('v1.PersistentVolumeReclaimPolicy', ['Recycle', 'Delete', 'Retain']), ''),
    mountOptions: s.optional(5, s.atomicList(s.string()), ''),
    allowVolumeExpansion: s.pointer(6, s.boolean(), ''),
    volumeBindingMode: s.pointer(7, s.oneOf('v1.VolumeBindingMode', ['Immediate', 'WaitForFirstConsumer']), ''),
    allowedTopologies: s.optional(8, s.atomicList(topologySelectorTerm), ''),
  },
});
export type StorageClass = s.TypeOf<typeof storageClass>;
