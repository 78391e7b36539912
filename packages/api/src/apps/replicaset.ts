import * as s from '@kruise/schema';
import { podTemplateSpec } from '../core/pod-template.ts';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';

export const replicaSetSpec = s.object('io.k8s.api.apps.v1.ReplicaSetSpec', 'Desired state of the Pods.', {
  replicas: s.pointer(1, s.int32(), 'Number of desired Pods. Default 1.'),
  minReadySeconds: s.optional(
    4,
    s.int32(),
    'Seconds a Pod must have been ready before it counts as available. Default 0.',
  ),
  selector: s.required(
    2,
    labelSelector,
    'Label selector of the counted Pods. Must match the labels of the template; immutable.',
    { pointer: true },
  ),
  template: s.optional(3, podTemplateSpec, 'The Pod to run. A change is for new Pods only.'),
});
export type ReplicaSetSpec = s.TypeOf<typeof replicaSetSpec>;

export const replicaSetCondition = s.object('io.k8s.api.apps.v1.ReplicaSetCondition', 'A condition of a ReplicaSet.', {
  type: s.required(
    1,
    s.string({ goType: 'v1.ReplicaSetConditionType' }),
    'ReplicaFailure: a Pod could not be created or deleted.',
  ),
  status: s.required(2, s.string({ goType: 'v1.ConditionStatus' }), 'Status of the condition: True, False or Unknown.'),
  lastTransitionTime: s.optional(3, s.time(), 'Time at which the status of the condition last changed.'),
  reason: s.optional(4, s.string(), 'Machine-readable reason for the status.'),
  message: s.optional(5, s.string(), 'Human-readable message with details.'),
});
export type ReplicaSetCondition = s.TypeOf<typeof replicaSetCondition>;

export const replicaSetStatus = s.object('io.k8s.api.apps.v1.ReplicaSetStatus', 'Observed state of the Pods.', {
  replicas: s.required(1, s.int32(), 'Pods that are not being deleted.'),
  fullyLabeledReplicas: s.optional(2, s.int32(), 'Pods that have all labels of the template.'),
  readyReplicas: s.optional(4, s.int32(), 'Pods that are ready.'),
  availableReplicas: s.optional(5, s.int32(), 'Pods that have been ready for minReadySeconds.'),
  terminatingReplicas: s.pointer(7, s.int32(), 'Pods that are being deleted. Of alpha quality, behind a feature gate.'),
  observedGeneration: s.optional(3, s.int64(), 'The metadata.generation that this status was observed for.'),
  conditions: s.optional(6, s.listMap(replicaSetCondition, ['type']), 'Conditions, in particular ReplicaFailure.', {
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
});
export type ReplicaSetStatus = s.TypeOf<typeof replicaSetStatus>;

export const replicaSet = kind(
  'io.k8s.api.apps.v1.ReplicaSet',
  'ReplicaSet maintains a number of identical Pods. Normally created by a Deployment.',
  {
    group: 'apps',
    version: 'v1',
    kind: 'ReplicaSet',
    plural: 'replicasets',
    scope: 'Namespaced',
    shortNames: ['rs'],
    categories: ['all'],
    subresources: ['scale', 'status'],
    fields: {
      spec: s.optional(2, replicaSetSpec, 'Desired state of the Pods.'),
      status: s.optional(3, replicaSetStatus, 'Observed state of the Pods.'),
    },
  },
);
export type ReplicaSet = s.TypeOf<typeof replicaSet>;
