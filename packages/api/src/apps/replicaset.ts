import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { podTemplateSpec } from '../core/pod-template.ts';

export const replicaSetSpec = s.object('io.k8s.api.apps.v1.ReplicaSetSpec', '', {
  replicas: s.pointer(1, s.int32(), ''),
  minReadySeconds: s.optional(4, s.int32(), ''),
  selector: s.required(2, labelSelector, '', { pointer: true }),
  template: s.optional(3, podTemplateSpec, ''),
});
export type ReplicaSetSpec = s.TypeOf<typeof replicaSetSpec>;

export const replicaSetCondition = s.object('io.k8s.api.apps.v1.ReplicaSetCondition', '', {
  type: s.required(1, s.string({ goType: 'v1.ReplicaSetConditionType' }), ''),
  status: s.required(2, s.string({ goType: 'v1.ConditionStatus' }), ''),
  lastTransitionTime: s.optional(3, s.time(), ''),
  reason: s.optional(4, s.string(), ''),
  message: s.optional(5, s.string(), ''),
});
export type ReplicaSetCondition = s.TypeOf<typeof replicaSetCondition>;

export const replicaSetStatus = s.object('io.k8s.api.apps.v1.ReplicaSetStatus', '', {
  replicas: s.required(1, s.int32(), ''),
  fullyLabeledReplicas: s.optional(2, s.int32(), ''),
  readyReplicas: s.optional(4, s.int32(), ''),
  availableReplicas: s.optional(5, s.int32(), ''),
  terminatingReplicas: s.pointer(7, s.int32(), ''),
  observedGeneration: s.optional(3, s.int64(), ''),
  conditions: s.optional(6, s.listMap(replicaSetCondition, ['type']), '', { patchStrategy: 'merge', patchMergeKey: 'type' }),
});
export type ReplicaSetStatus = s.TypeOf<typeof replicaSetStatus>;

export const replicaSet = kind('io.k8s.api.apps.v1.ReplicaSet', '', {
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  scope: 'Namespaced',
  shortNames: ['rs'],
  categories: ['all'],
  subresources: ['scale', 'status'],
  fields: {
    spec: s.optional(2, replicaSetSpec, ''),
    status: s.optional(3, replicaSetStatus, ''),
  },
});
export type ReplicaSet = s.TypeOf<typeof replicaSet>;
