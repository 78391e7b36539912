import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { podTemplateSpec } from './pod-template.ts';

export const replicationControllerSpec = s.object(
  'io.k8s.api.core.v1.ReplicationControllerSpec',
  'Desired state of the Pods.',
  {
    replicas: s.pointer(1, s.int32({ default: 1 }), 'Number of desired Pods. Default 1.'),
    minReadySeconds: s.optional(
      4,
      s.int32({ default: 0 }),
      'Seconds a Pod must have been ready before it counts as available. Default 0.',
    ),
    selector: s.optional(
      2,
      s.map(s.string(), { mapType: 'atomic' }),
      'Labels of the counted Pods. Unset: the labels of the template.',
    ),
    template: s.pointer(3, podTemplateSpec, 'The Pod to make. Its restartPolicy is Always.'),
  },
);
export type ReplicationControllerSpec = s.TypeOf<typeof replicationControllerSpec>;

export const replicationControllerCondition = s.object(
  'io.k8s.api.core.v1.ReplicationControllerCondition',
  'A condition of a ReplicationController.',
  {
    type: s.required(
      1,
      s.string({ goType: 'v1.ReplicationControllerConditionType' }),
      'ReplicaFailure: a Pod could not be created or deleted.',
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
export type ReplicationControllerCondition = s.TypeOf<typeof replicationControllerCondition>;

export const replicationControllerStatus = s.object(
  'io.k8s.api.core.v1.ReplicationControllerStatus',
  'Observed state of the Pods.',
  {
    replicas: s.required(1, s.int32(), 'Pods there are.'),
    fullyLabeledReplicas: s.optional(2, s.int32(), 'Pods that have all labels of the template.'),
    readyReplicas: s.optional(4, s.int32(), 'Pods that are ready.'),
    availableReplicas: s.optional(5, s.int32(), 'Pods that have been ready for minReadySeconds.'),
    observedGeneration: s.optional(3, s.int64(), 'The metadata.generation that this status was observed for.'),
    conditions: s.optional(
      6,
      s.listMap(replicationControllerCondition, ['type']),
      'Conditions, in particular ReplicaFailure.',
      {
        patchStrategy: 'merge',
        patchMergeKey: 'type',
      },
    ),
  },
);
export type ReplicationControllerStatus = s.TypeOf<typeof replicationControllerStatus>;

export const replicationController = kind(
  'io.k8s.api.core.v1.ReplicationController',
  'Keeps a number of equal Pods running. Superseded by Deployment.',
  {
    group: '',
    version: 'v1',
    kind: 'ReplicationController',
    plural: 'replicationcontrollers',
    scope: 'Namespaced',
    shortNames: ['rc'],
    categories: ['all'],
    subresources: ['scale', 'status'],
    fields: {
      spec: s.optional(2, replicationControllerSpec, 'Desired state of the Pods.'),
      status: s.optional(3, replicationControllerStatus, 'Observed state of the Pods.'),
    },
  },
);
export type ReplicationController = s.TypeOf<typeof replicationController>;
