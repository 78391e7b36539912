import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { objectMeta } from '../meta/object-meta.ts';
import { typedLocalObjectReference, typedObjectReference } from './reference.ts';
import { volumeResourceRequirements } from './resources.ts';

export const persistentVolumeClaimSpec = s.object(
  'io.k8s.api.core.v1.PersistentVolumeClaimSpec',
  'The storage that is asked for. Only size and attributes class can be changed once it is bound.',
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
      'How it will be mounted: ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod; at least one.',
    ),
    selector: s.pointer(4, labelSelector, 'Take only volumes with these labels. Not with provisioned ones.'),
    resources: s.optional(
      2,
      volumeResourceRequirements,
      'How large it must be. A larger request later enlarges the volume, if its class allows.',
    ),
    volumeName: s.optional(3, s.string(), 'Take this very volume.'),
    storageClassName: s.pointer(
      5,
      s.string(),
      'The class to take it from. Unset: the default class; empty: a volume without class.',
    ),
    volumeMode: s.pointer(
      6,
      s.oneOf('v1.PersistentVolumeMode', ['Block', 'Filesystem']),
      'Filesystem (the default), or Block for a raw device.',
    ),
    dataSource: s.pointer(
      7,
      typedLocalObjectReference,
      'What to fill it with: a VolumeSnapshot, or another claim to copy.',
    ),
    dataSourceRef: s.pointer(
      8,
      typedObjectReference,
      'What to fill it with, any kind that has a populator. Both sources agree if both are set.',
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
  'What is being done to a volume.',
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
    lastProbeTime: s.optional(3, s.time(), 'When it was last looked at.'),
    lastTransitionTime: s.optional(4, s.time(), 'When the status last changed.'),
    reason: s.optional(5, s.string(), 'Machine-readable reason for the status.'),
    message: s.optional(6, s.string(), 'Human-readable message with details.'),
  },
);
export type PersistentVolumeClaimCondition = s.TypeOf<typeof persistentVolumeClaimCondition>;

export const modifyVolumeStatus = s.object(
  'io.k8s.api.core.v1.ModifyVolumeStatus',
  'How a change of the attributes class gets on.',
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
      'Pending, Bound, or Lost if its volume is gone.',
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
      'How the volume can be mounted.',
    ),
    capacity: s.optional(3, s.map(s.quantity(), { goType: 'v1.ResourceList' }), 'How large the volume is.'),
    conditions: s.optional(
      4,
      s.listMap(persistentVolumeClaimCondition, ['type']),
      'What is being done to the volume.',
      { patchStrategy: 'merge', patchMergeKey: 'type' },
    ),
    allocatedResources: s.optional(
      5,
      s.map(s.quantity(), { goType: 'v1.ResourceList' }),
      'What the volume is being enlarged to; counts towards quota.',
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
      'How enlarging gets on, by resource: ControllerResizeInProgress, NodeResizePending and the like.',
    ),
    currentVolumeAttributesClassName: s.pointer(8, s.string(), 'The attributes class the volume has.'),
    modifyVolumeStatus: s.pointer(9, modifyVolumeStatus, 'How a change of the attributes class gets on.'),
  },
);
export type PersistentVolumeClaimStatus = s.TypeOf<typeof persistentVolumeClaimStatus>;

export const persistentVolumeClaim = kind(
  'io.k8s.api.core.v1.PersistentVolumeClaim',
  'Asks for storage that Pods then use by the name of the claim.',
  {
    group: '',
    version: 'v1',
    kind: 'PersistentVolumeClaim',
    plural: 'persistentvolumeclaims',
    scope: 'Namespaced',
    shortNames: ['pvc'],
    subresources: ['status'],
    fields: {
      spec: s.optional(2, persistentVolumeClaimSpec, 'What is asked for.'),
      status: s.optional(3, persistentVolumeClaimStatus, 'What was found.'),
    },
  },
);
export type PersistentVolumeClaim = s.TypeOf<typeof persistentVolumeClaim>;

export const persistentVolumeClaimTemplate = s.object(
  'io.k8s.api.core.v1.PersistentVolumeClaimTemplate',
  'A claim to be made for a Pod.',
  {
    metadata: s.optional(1, objectMeta, 'Labels and annotations for the claim; nothing else may be set.'),
    spec: s.required(2, persistentVolumeClaimSpec, 'What the claim asks for.'),
  },
);
export type PersistentVolumeClaimTemplate = s.TypeOf<typeof persistentVolumeClaimTemplate>;
