import * as s from '@kruise/schema';
import { persistentVolumeClaim } from '../core/persistentvolumeclaim.ts';
import { podTemplateSpec } from '../core/pod-template.ts';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';

export const rollingUpdateStatefulSetStrategy = s.object(
  'io.k8s.api.apps.v1.RollingUpdateStatefulSetStrategy',
  'Rolling update of a StatefulSet.',
  {
    partition: s.pointer(1, s.int32(), 'Pods with this number and above are updated, those below are not. Default 0.'),
    maxUnavailable: s.pointer(
      2,
      s.intOrString(),
      'Maximum number of unavailable Pods during the update: a number, or a percentage of replicas, rounded up. Default 1. Alpha, behind a feature gate.',
    ),
  },
);
export type RollingUpdateStatefulSetStrategy = s.TypeOf<typeof rollingUpdateStatefulSetStrategy>;

export const statefulSetUpdateStrategy = s.object(
  'io.k8s.api.apps.v1.StatefulSetUpdateStrategy',
  'Update strategy of a StatefulSet.',
  {
    type: s.optional(
      1,
      s.oneOf('v1.StatefulSetUpdateStrategyType', ['RollingUpdate', 'OnDelete']),
      'RollingUpdate (the default) replaces Pods from the highest ordinal down; OnDelete replaces a Pod only after it is deleted.',
    ),
    rollingUpdate: s.pointer(2, rollingUpdateStatefulSetStrategy, 'Parameters of RollingUpdate.'),
  },
);
export type StatefulSetUpdateStrategy = s.TypeOf<typeof statefulSetUpdateStrategy>;

export const statefulSetPersistentVolumeClaimRetentionPolicy = s.object(
  'io.k8s.api.apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy',
  'Retention of the PVCs of a StatefulSet.',
  {
    whenDeleted: s.optional(
      1,
      s.string({ goType: 'v1.PersistentVolumeClaimRetentionPolicyType' }),
      'Policy when the set is deleted: Retain (the default) or Delete.',
    ),
    whenScaled: s.optional(
      2,
      s.string({ goType: 'v1.PersistentVolumeClaimRetentionPolicyType' }),
      'Policy when Pods are scaled in: Retain (the default) or Delete.',
    ),
  },
);
export type StatefulSetPersistentVolumeClaimRetentionPolicy = s.TypeOf<
  typeof statefulSetPersistentVolumeClaimRetentionPolicy
>;

export const statefulSetOrdinals = s.object('io.k8s.api.apps.v1.StatefulSetOrdinals', 'Ordinals of the Pods.', {
  start: s.optional(1, s.int32(), 'Number of the first Pod. Default 0.', { omitEmpty: false }),
});
export type StatefulSetOrdinals = s.TypeOf<typeof statefulSetOrdinals>;

export const statefulSetSpec = s.object(
  'io.k8s.api.apps.v1.StatefulSetSpec',
  'The Pods to keep. Only replicas, ordinals, template, updateStrategy, revisionHistoryLimit, minReadySeconds and the retention policy can be changed.',
  {
    replicas: s.pointer(1, s.int32(), 'Number of desired Pods. Default 1.'),
    selector: s.required(
      2,
      labelSelector,
      'Label selector of the Pods that belong to the workload. Must match the labels of the template; immutable.',
      { pointer: true },
    ),
    template: s.required(
      3,
      podTemplateSpec,
      'The Pod to run, named after set and number. Its restartPolicy is Always.',
    ),
    volumeClaimTemplates: s.optional(
      4,
      s.atomicList(persistentVolumeClaim.root),
      'Volume claims each Pod keeps for life, named after template and Pod. Each replaces the volume of the template that has its name.',
    ),
    serviceName: s.optional(
      5,
      s.string(),
      'Name of the headless Service for the DNS names of the Pods. It must exist before the set; immutable.',
      { omitEmpty: false },
    ),
    podManagementPolicy: s.optional(
      6,
      s.oneOf('v1.PodManagementPolicyType', ['OrderedReady', 'Parallel']),
      'Management policy: OrderedReady (the default) creates and deletes Pods one at a time; Parallel all at once. Immutable.',
    ),
    updateStrategy: s.optional(7, statefulSetUpdateStrategy, 'Strategy for updating Pods to a changed template.'),
    revisionHistoryLimit: s.pointer(8, s.int32(), 'Number of old revisions to keep for rollbacks. Default 10.'),
    minReadySeconds: s.optional(
      9,
      s.int32(),
      'Seconds a Pod must have been ready before it counts as available. Default 0.',
    ),
    persistentVolumeClaimRetentionPolicy: s.pointer(
      10,
      statefulSetPersistentVolumeClaimRetentionPolicy,
      'Retention of PVCs. By default they are never deleted.',
    ),
    ordinals: s.pointer(11, statefulSetOrdinals, 'Ordinals of the Pods, in particular the first one.'),
  },
);
export type StatefulSetSpec = s.TypeOf<typeof statefulSetSpec>;

export const statefulSetCondition = s.object(
  'io.k8s.api.apps.v1.StatefulSetCondition',
  'A condition of a StatefulSet.',
  {
    type: s.required(
      1,
      s.string({ goType: 'v1.StatefulSetConditionType' }),
      'Type of the condition. Kubernetes itself sets none.',
    ),
    status: s.required(
      2,
      s.string({ goType: 'v1.ConditionStatus' }),
      'Status of the condition: True, False or Unknown.',
    ),
    lastTransitionTime: s.optional(3, s.time(), 'Time at which the status of the condition last changed.'),
    reason: s.optional(4, s.string(), 'Machine-readable reason for the status.'),
    message: s.optional(5, s.string(), 'Human-readable message with details.'),
  },
);
export type StatefulSetCondition = s.TypeOf<typeof statefulSetCondition>;

export const statefulSetStatus = s.object('io.k8s.api.apps.v1.StatefulSetStatus', 'Observed state of the Pods.', {
  observedGeneration: s.optional(1, s.int64(), 'The metadata.generation that this status was observed for.'),
  replicas: s.required(2, s.int32(), 'Pods that have been created.'),
  readyReplicas: s.optional(3, s.int32(), 'Pods that are ready.'),
  currentReplicas: s.optional(4, s.int32(), 'Pods at the current revision.'),
  updatedReplicas: s.optional(5, s.int32(), 'Pods at the update revision.'),
  currentRevision: s.optional(6, s.string(), 'Name of the revision Pods below the one being updated have.'),
  updateRevision: s.optional(7, s.string(), 'Name of the revision of the current template.'),
  collisionCount: s.pointer(9, s.int32(), 'Number of hash collisions of revision names.'),
  conditions: s.optional(10, s.listMap(statefulSetCondition, ['type']), 'Conditions of the current state.', {
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
  availableReplicas: s.optional(11, s.int32(), 'Pods that have been ready for minReadySeconds.', { omitEmpty: false }),
});
export type StatefulSetStatus = s.TypeOf<typeof statefulSetStatus>;

export const statefulSet = kind(
  'io.k8s.api.apps.v1.StatefulSet',
  'Keeps numbered Pods with stable names, addresses and volumes.',
  {
    group: 'apps',
    version: 'v1',
    kind: 'StatefulSet',
    plural: 'statefulsets',
    scope: 'Namespaced',
    shortNames: ['sts'],
    categories: ['all'],
    subresources: ['scale', 'status'],
    fields: {
      spec: s.optional(2, statefulSetSpec, 'Desired state of the Pods.'),
      status: s.optional(3, statefulSetStatus, 'Observed state of the Pods. May be stale.'),
    },
  },
);
export type StatefulSet = s.TypeOf<typeof statefulSet>;
