import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';

export const csiStorageCapacity = kind('io.k8s.api.storage.v1.CSIStorageCapacity', '', {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSIStorageCapacity',
  plural: 'csistoragecapacities',
  scope: 'Namespaced',
  fields: {
    nodeTopology: s.pointer(2, labelSelector, ''),
    storageClassName: s.required(3, s.string(), ''),
    capacity: s.pointer(4, s.quantity(), ''),
    maximumVolumeSize: s.pointer(5, s.quantity(), ''),
  },
});
export type CSIStorageCapacity = s.TypeOf<typeof csiStorageCapacity>;
