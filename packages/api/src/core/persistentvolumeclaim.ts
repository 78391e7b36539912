import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { objectMeta } from '../meta/object-meta.ts';
import { typedLocalObjectReference, typedObjectReference } from './reference.ts';
import { volumeResourceRequirements } from './resources.ts';

export const persistentVolumeClaimSpec = s.object('io.k8s.api.core.v1.PersistentVolumeClaimSpec', '', {
  accessModes: s.optional(1, s.atomicList(s.oneOf('v1.PersistentVolumeAccessMode', ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'])), ''),
  selector: s.pointer(4, labelSelector, ''),
  resources: s.optional(2, volumeResourceRequirements, ''),
  volumeName: s.optional(3, s.string(), ''),
  storageClassName: s.pointer(5, s.string(), ''),
  volumeMode: s.pointer(6, s.oneOf('v1.PersistentVolumeMode', ['Block', 'Filesystem']), ''),
  dataSource: s.pointer(7, typedLocalObjectReference, ''),
  dataSourceRef: s.pointer(8, typedObjectReference, ''),
  volumeAttributesClassName: s.pointer(9, s.string(), ''),
});
export type PersistentVolumeClaimSpec = s.TypeOf<typeof persistentVolumeClaimSpec>;

export const persistentVolumeClaimCondition = s.object('io.k8s.api.core.v1.PersistentVolumeClaimCondition', '', {
  type: s.required(1, s.string({ goType: 'v1.PersistentVolumeClaimConditionType' }), ''),
  status: s.required(2, s.string({ goType: 'v1.ConditionStatus' }), ''),
  lastProbeTime: s.optional(3, s.time(), ''),
  lastTransitionTime: s.optional(4, s.time(), ''),
  reason: s.optional(5, s.string(), ''),
  message: s.optional(6, s.string(), ''),
});
export type PersistentVolumeClaimCondition = s.TypeOf<typeof persistentVolumeClaimCondition>;

export const modifyVolumeStatus = s.object('io.k8s.api.core.v1.ModifyVolumeStatus', '', {
  targetVolumeAttributesClassName: s.optional(1, s.string(), ''),
  status: s.required(2, s.oneOf('v1.PersistentVolumeClaimModifyVolumeStatus', ['Pending', 'InProgress', 'Infeasible']), ''),
});
export type ModifyVolumeStatus = s.TypeOf<typeof modifyVolumeStatus>;

export const persistentVolumeClaimStatus = s.object('io.k8s.api.core.v1.PersistentVolumeClaimStatus', '', {
  phase: s.optional(1, s.oneOf('v1.PersistentVolumeClaimPhase', ['Pending', 'Bound', 'Lost']), ''),
  accessModes: s.optional(2, s.atomicList(s.oneOf('v1.PersistentVolumeAccessMode', ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'])), ''),
  capacity: s.optional(3, s.map(s.quantity(), { goType: 'v1.ResourceList' }), ''),
  conditions: s.optional(4, s.listMap(persistentVolumeClaimCondition, ['type']), '', { patchStrategy: 'merge', patchMergeKey: 'type' }),
  allocatedResources: s.optional(5, s.map(s.quantity(), { goType: 'v1.ResourceList' }), ''),
  allocatedResourceStatuses: s.optional(7, s.map(s.oneOf('v1.ClaimResourceStatus', ['ControllerResizeInProgress', 'ControllerResizeInfeasible', 'NodeResizePending', 'NodeResizeInProgress', 'NodeResizeInfeasible']), { goType: 'map[v1.ResourceName]v1.ClaimResourceStatus', mapType: 'granular' }), ''),
  currentVolumeAttributesClassName: s.pointer(8, s.string(), ''),
  modifyVolumeStatus: s.pointer(9, modifyVolumeStatus, ''),
});
export type PersistentVolumeClaimStatus = s.TypeOf<typeof persistentVolumeClaimStatus>;

export const persistentVolumeClaim = kind('io.k8s.api.core.v1.PersistentVolumeClaim', '', {
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  scope: 'Namespaced',
  shortNames: ['pvc'],
  subresources: ['status'],
  fields: {
    spec: s.optional(2, persistentVolumeClaimSpec, ''),
    status: s.optional(3, persistentVolumeClaimStatus, ''),
  },
});
export type PersistentVolumeClaim = s.TypeOf<typeof persistentVolumeClaim>;

export const persistentVolumeClaimTemplate = s.object('io.k8s.api.core.v1.PersistentVolumeClaimTemplate', '', {
  metadata: s.optional(1, objectMeta, ''),
  spec: s.required(2, persistentVolumeClaimSpec, ''),
});
export type PersistentVolumeClaimTemplate = s.TypeOf<typeof persistentVolumeClaimTemplate>;
