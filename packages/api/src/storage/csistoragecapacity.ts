import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';

export const csiStorageCapacity = kind(
  'io.k8s.api.storage.v1.CSIStorageCapacity',
  'Available capacity of a storage class in a part of the cluster. Written by the driver.',
  {
    group: 'storage.k8s.io',
    version: 'v1',
    kind: 'CSIStorageCapacity',
    plural: 'csistoragecapacities',
    scope: 'Namespaced',
    fields: {
      nodeTopology: s.pointer(2, labelSelector, 'Label selector of the nodes. Unset: none. Immutable.'),
      storageClassName: s.required(3, s.string(), 'Name of the StorageClass. Immutable.'),
      capacity: s.pointer(4, s.quantity(), 'Available capacity. Unset: unknown.'),
      maximumVolumeSize: s.pointer(5, s.quantity(), 'Maximum size of one volume. Unset: as capacity.'),
    },
  },
);
export type CSIStorageCapacity = s.TypeOf<typeof csiStorageCapacity>;
