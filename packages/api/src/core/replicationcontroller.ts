import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { podTemplateSpec } from './pod-template.ts';

export const replicationControllerSpec = s.object('io.k8s.api.core.v1.ReplicationControllerSpec', '', {
  replicas: s.pointer(1, s.int32({ default: 1 }), ''),
  minReadySeconds: s.optional(4, s.int32({ default: 0 }), ''),
  selector: s.optional(2, s.map(s.string(), { mapType: 'atomic' }), ''),
  template: s.pointer(3, podTemplateSpec, ''),
});
export type ReplicationControllerSpec = s.TypeOf<typeof replicationControllerSpec>;

export const replicationControllerCondition = s.object('io.k8s.api.core.v1.ReplicationControllerCondition', '', {
  type: s.required(1, s.string({ goType: 'v1.ReplicationControllerConditionType' }), ''),
  status: s.required(2, s.string({ goType: 'v1.ConditionStatus' }), ''),
  lastTransitionTime: s.optional(3, s.time(), ''),
  reason: s.optional(4, s.string(), ''),
  message: s.optional(5, s.string(), ''),
});
export type ReplicationControllerCondition = s.TypeOf<typeof replicationControllerCondition>;

export const replicationControllerStatus = s.object('io.k8s.api.core.v1.ReplicationControllerStatus', '', {
  replicas: s.required(1, s.int32(), ''),
  fullyLabeledReplicas: s.optional(2, s.int32(), ''),
  readyReplicas: s.optional(4, s.int32(), ''),
  availableReplicas: s.optional(5, s.int32(), ''),
  observedGeneration: s.optional(3, s.int64(), ''),
  conditions: s.optional(6, s.listMap(replicationControllerCondition, ['type']), '', { patchStrategy: 'merge', patchMergeKey: 'type' }),
});
export type ReplicationControllerStatus = s.TypeOf<typeof replicationControllerStatus>;

export const replicationController = kind('io.k8s.api.core.v1.ReplicationController', '', {
  group: '',
  version: 'v1',
  kind: 'ReplicationController',
  plural: 'replicationcontrollers',
  scope: 'Namespaced',
  shortNames: ['rc'],
  categories: ['all'],
  subresources: ['scale', 'status'],
  fields: {
    spec: s.optional(2, replicationControllerSpec, ''),
    status: s.optional(3, replicationControllerStatus, ''),
  },
});
export type ReplicationController = s.TypeOf<typeof replicationController>;
