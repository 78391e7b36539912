import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { objectMeta } from '../meta/object-meta.ts';
import { typedLocalObjectReference, typedObjectReference } from './reference.ts';
import { volumeResourceRequirements } from './resources.ts';

export const persistentVolumeClaimSpec = s.object(
  'io.k8s.api.core.v1.PersistentVolumeClaimSpec',
  'Requested storage. Only the size and the attributes class are mutable after binding.',
  {
    accessModes: s.optional(
      1,
      s.atomicList(
        s.oneOf('v1.PersistentVolumeAccessMode', [
          'ReadWriteOnce',
          'ReadOnlyMany',
          'ReadWriteMany',
          'ReadWriteOncePod',
        ]),
      ),
      'Requested access modes: ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod; at least one.',
    ),
    selector: s.pointer(4, labelSelector, 'Label selector of the volume. Not supported with dynamic provisioning.'),
    resources: s.optional(
      2,
      volumeResourceRequirements,
      'Requested size. A later, larger request expands the volume if the storage class permits it.',
    ),
    volumeName: s.optional(3, s.string(), 'Name of the volume to bind.'),
    storageClassName: s.pointer(
      5,
      s.string(),
      'Storage class. Unset: the default class; empty: a volume without a class.',
    ),
    volumeMode: s.pointer(
      6,
      s.oneOf('v1.PersistentVolumeMode', ['Block', 'Filesystem']),
      'Filesystem (the default), or Block for a raw device.',
    ),
    dataSource: s.pointer(
      7,
      typedLocalObjectReference,
      'Source of the initial content: a VolumeSnapshot, or another PVC to clone.',
    ),
    dataSourceRef: s.pointer(
      8,
      typedObjectReference,
      'Source of the initial content, of any kind that has a volume populator. Equal to dataSource if both are set.',
    ),
    volumeAttributesClassName: s.pointer(
      9,
      s.string(),
      'The VolumeAttributesClass to give the volume; unset, the default one. May be changed later. Behind a feature gate, off by default.',
    ),
  },
);
export type PersistentVolumeClaimSpec = s.TypeOf<typeof persistentVolumeClaimSpec>;

export const persistentVolumeClaimCondition = s.object(
  'io.k8s.api.core.v1.PersistentVolumeClaimCondition',
  'Condition of a PVC, for example Resizing.',
  {
    type: s.required(
      1,
      s.string({ goType: 'v1.PersistentVolumeClaimConditionType' }),
      'Resizing, FileSystemResizePending, ControllerResizeError, NodeResizeError, ModifyVolumeError or ModifyingVolume.',
    ),
    status: s.required(
      2,
      s.string({ goType: 'v1.ConditionStatus' }),
      'Status of the condition: True, False or Unknown.',
    ),
    lastProbeTime: s.optional(3, s.time(), 'Time at which the condition was last probed.'),
    lastTransitionTime: s.optional(4, s.time(), 'Time at which the status of the condition last changed.'),
    reason: s.optional(5, s.string(), 'Machine-readable reason for the status.'),
    message: s.optional(6, s.string(), 'Human-readable message with details.'),
  },
);
export type PersistentVolumeClaimCondition = s.TypeOf<typeof persistentVolumeClaimCondition>;

export const modifyVolumeStatus = s.object(
  'io.k8s.api.core.v1.ModifyVolumeStatus',
  'Status of a change of the volume attributes class.',
  {
    targetVolumeAttributesClassName: s.optional(1, s.string(), 'The class the volume is being given.'),
    status: s.required(
      2,
      s.oneOf('v1.PersistentVolumeClaimModifyVolumeStatus', ['Pending', 'InProgress', 'Infeasible']),
      'Pending, InProgress or Infeasible: the driver refused.',
    ),
  },
);
export type ModifyVolumeStatus = s.TypeOf<typeof modifyVolumeStatus>;

export const persistentVolumeClaimStatus = s.object(
  'io.k8s.api.core.v1.PersistentVolumeClaimStatus',
  'The storage that was found.',
  {
    phase: s.optional(
      1,
      s.oneOf('v1.PersistentVolumeClaimPhase', ['Pending', 'Bound', 'Lost']),
      'Phase: Pending, Bound, or Lost if the volume no longer exists.',
    ),
    accessModes: s.optional(
      2,
      s.atomicList(
        s.oneOf('v1.PersistentVolumeAccessMode', [
          'ReadWriteOnce',
          'ReadOnlyMany',
          'ReadWriteMany',
          'ReadWriteOncePod',
        ]),
      ),
      'Actual access modes of the volume.',
    ),
    capacity: s.optional(3, s.map(s.quantity(), { goType: 'v1.ResourceList' }), 'Actual capacity of the volume.'),
    conditions: s.optional(
      4,
      s.listMap(persistentVolumeClaimCondition, ['type']),
      'Conditions of the PVC, for example Resizing and FileSystemResizePending.',
      { patchStrategy: 'merge', patchMergeKey: 'type' },
    ),
    allocatedResources: s.optional(
      5,
      s.map(s.quantity(), { goType: 'v1.ResourceList' }),
      'Size to which the volume is being expanded; counted by quotas.',
    ),
    allocatedResourceStatuses: s.optional(
      7,
      s.map(
        s.oneOf('v1.ClaimResourceStatus', [
          'ControllerResizeInProgress',
          'ControllerResizeInfeasible',
          'NodeResizePending',
          'NodeResizeInProgress',
          'NodeResizeInfeasible',
        ]),
        { goType: 'map[v1.ResourceName]v1.ClaimResourceStatus', mapType: 'granular' },
      ),
      'Status of the expansion for each resource, for example ControllerResizeInProgress or NodeResizePending.',
    ),
    currentVolumeAttributesClassName: s.pointer(8, s.string(), 'The attributes class the volume has.'),
    modifyVolumeStatus: s.pointer(9, modifyVolumeStatus, 'Status of a change of the volume attributes class.'),
  },
);
export type PersistentVolumeClaimStatus = s.TypeOf<typeof persistentVolumeClaimStatus>;

export const persistentVolumeClaim = kind(
  'io.k8s.api.core.v1.PersistentVolumeClaim',
  'PersistentVolumeClaim requests storage, which Pods use by the name of the PVC.',
  {
    group: '',
    version: 'v1',
    kind: 'PersistentVolumeClaim',
    plural: 'persistentvolumeclaims',
    scope: 'Namespaced',
    shortNames: ['pvc'],
    subresources: ['status'],
    fields: {
      spec: s.optional(2, persistentVolumeClaimSpec, 'Specification: requested properties of the volume.'),
      status: s.optional(3, persistentVolumeClaimStatus, 'Status of the PVC.'),
    },
  },
);
export type PersistentVolumeClaim = s.TypeOf<typeof persistentVolumeClaim>;

export const persistentVolumeClaimTemplate = s.object(
  'io.k8s.api.core.v1.PersistentVolumeClaimTemplate',
  'A claim to be made for a Pod.',
  {
    metadata: s.optional(1, objectMeta, 'Labels and annotations of the PVC; no other metadata is permitted.'),
    spec: s.required(2, persistentVolumeClaimSpec, 'Specification of the PVC.'),
  },
);
export type PersistentVolumeClaimTemplate = s.TypeOf<typeof persistentVolumeClaimTemplate>;
