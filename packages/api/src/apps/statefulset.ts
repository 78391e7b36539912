import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { persistentVolumeClaim } from '../core/persistentvolumeclaim.ts';
import { podTemplateSpec } from '../core/pod-template.ts';

export const rollingUpdateStatefulSetStrategy = s.object('io.k8s.api.apps.v1.RollingUpdateStatefulSetStrategy', '', {
  partition: s.pointer(1, s.int32(), ''),
  maxUnavailable: s.pointer(2, s.intOrString(), ''),
});
export type RollingUpdateStatefulSetStrategy = s.TypeOf<typeof rollingUpdateStatefulSetStrategy>;

export const statefulSetUpdateStrategy = s.object('io.k8s.api.apps.v1.StatefulSetUpdateStrategy', '', {
  type: s.optional(1, s.oneOf('v1.StatefulSetUpdateStrategyType', ['RollingUpdate', 'OnDelete']), ''),
  rollingUpdate: s.pointer(2, rollingUpdateStatefulSetStrategy, ''),
});
export type StatefulSetUpdateStrategy = s.TypeOf<typeof statefulSetUpdateStrategy>;

export const statefulSetPersistentVolumeClaimRetentionPolicy = s.object('io.k8s.api.apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy', '', {
  whenDeleted: s.optional(1, s.string({ goType: 'v1.PersistentVolumeClaimRetentionPolicyType' }), ''),
  whenScaled: s.optional(2, s.string({ goType: 'v1.PersistentVolumeClaimRetentionPolicyType' }), ''),
});
export type StatefulSetPersistentVolumeClaimRetentionPolicy = s.TypeOf<typeof statefulSetPersistentVolumeClaimRetentionPolicy>;

export const statefulSetOrdinals = s.object('io.k8s.api.apps.v1.StatefulSetOrdinals', '', {
  start: s.optional(1, s.int32(), '', { omitEmpty: false }),
});
export type StatefulSetOrdinals = s.TypeOf<typeof statefulSetOrdinals>;

export const statefulSetSpec = s.object('io.k8s.api.apps.v1.StatefulSetSpec', '', {
  replicas: s.pointer(1, s.int32(), ''),
  selector: s.required(2, labelSelector, '', { pointer: true }),
  template: s.required(3, podTemplateSpec, ''),
  volumeClaimTemplates: s.optional(4, s.atomicList(persistentVolumeClaim.root), ''),
  serviceName: s.optional(5, s.string(), '', { omitEmpty: false }),
  podManagementPolicy: s.optional(6, s.oneOf('v1.PodManagementPolicyType', ['OrderedReady', 'Parallel']), ''),
  updateStrategy: s.optional(7, statefulSetUpdateStrategy, ''),
  revisionHistoryLimit: s.pointer(8, s.int32(), ''),
  minReadySeconds: s.optional(9, s.int32(), ''),
  persistentVolumeClaimRetentionPolicy: s.pointer(10, statefulSetPersistentVolumeClaimRetentionPolicy, ''),
  ordinals: s.pointer(11, statefulSetOrdinals, ''),
});
export type StatefulSetSpec = s.TypeOf<typeof statefulSetSpec>;

export const statefulSetCondition = s.object('io.k8s.api.apps.v1.StatefulSetCondition', '', {
  type: s.required(1, s.string({ goType: 'v1.StatefulSetConditionType' }), ''),
  status: s.required(2, s.string({ goType: 'v1.ConditionStatus' }), ''),
  lastTransitionTime: s.optional(3, s.time(), ''),
  reason: s.optional(4, s.string(), ''),
  message: s.optional(5, s.string(), ''),
});
export type StatefulSetCondition = s.TypeOf<typeof statefulSetCondition>;

export const statefulSetStatus = s.object('io.k8s.api.apps.v1.StatefulSetStatus', '', {
  observedGeneration: s.optional(1, s.int64(), ''),
  replicas: s.required(2, s.int32(), ''),
  readyReplicas: s.optional(3, s.int32(), ''),
  currentReplicas: s.optional(4, s.int32(), ''),
  updatedReplicas: s.optional(5, s.int32(), ''),
  currentRevision: s.optional(6, s.string(), ''),
  updateRevision: s.optional(7, s.string(), ''),
  collisionCount: s.pointer(9, s.int32(), ''),
  conditions: s.optional(10, s.listMap(statefulSetCondition, ['type']), '', { patchStrategy: 'merge', patchMergeKey: 'type' }),
  availableReplicas: s.optional(11, s.int32(), '', { omitEmpty: false }),
});
export type StatefulSetStatus = s.TypeOf<typeof statefulSetStatus>;

export const statefulSet = kind('io.k8s.api.apps.v1.StatefulSet', '', {
  group: 'apps',
  version: 'v1',
  kind: 'StatefulSet',
  plural: 'statefulsets',
  scope: 'Namespaced',
  shortNames: ['sts'],
  categories: ['all'],
  subresources: ['scale', 'status'],
  fields: {
    spec: s.optional(2, statefulSetSpec, ''),
    status: s.optional(3, statefulSetStatus, ''),
  },
});
export type StatefulSet = s.TypeOf<typeof statefulSet>;
