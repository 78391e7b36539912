import * as s from '@kruise/schema';
import { podTemplateSpec } from '../core/pod-template.ts';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';

export const rollingUpdateDaemonSet = s.object(
  'io.k8s.api.apps.v1.RollingUpdateDaemonSet',
  'Rolling update of a DaemonSet.',
  {
    maxUnavailable: s.pointer(
      1,
      s.intOrString(),
      'Maximum number of nodes without an available Pod during the update: a number, or a percentage of the desired nodes, rounded up. Default 1; must not be 0 if maxSurge is 0.',
    ),
    maxSurge: s.pointer(
      2,
      s.intOrString(),
      'Maximum number of nodes on which the new Pod is started before the old one is deleted: a number, or a percentage of the nodes, rounded up. Default 0.',
    ),
  },
);
export type RollingUpdateDaemonSet = s.TypeOf<typeof rollingUpdateDaemonSet>;

export const daemonSetUpdateStrategy = s.object(
  'io.k8s.api.apps.v1.DaemonSetUpdateStrategy',
  'Update strategy of a DaemonSet.',
  {
    type: s.optional(
      1,
      s.oneOf('v1.DaemonSetUpdateStrategyType', ['RollingUpdate', 'OnDelete']),
      'RollingUpdate (the default) replaces Pods automatically; OnDelete replaces a Pod only after it is deleted.',
    ),
    rollingUpdate: s.pointer(2, rollingUpdateDaemonSet, 'Parameters of RollingUpdate.'),
  },
);
export type DaemonSetUpdateStrategy = s.TypeOf<typeof daemonSetUpdateStrategy>;

export const daemonSetSpec = s.object('io.k8s.api.apps.v1.DaemonSetSpec', 'The Pods to keep on nodes.', {
  selector: s.required(
    1,
    labelSelector,
    'Label selector of the Pods that belong to the workload. Must match the labels of the template; immutable.',
    { pointer: true },
  ),
  template: s.required(
    2,
    podTemplateSpec,
    'The Pod to run; its nodeSelector, affinity and tolerations choose the nodes. Its restartPolicy is Always.',
  ),
  updateStrategy: s.optional(3, daemonSetUpdateStrategy, 'Strategy for updating Pods to a changed template.'),
  minReadySeconds: s.optional(
    4,
    s.int32(),
    'Seconds a Pod must have been ready before it counts as available. Default 0.',
  ),
  revisionHistoryLimit: s.pointer(6, s.int32(), 'Number of old revisions to keep for rollbacks. Default 10.'),
});
export type DaemonSetSpec = s.TypeOf<typeof daemonSetSpec>;

export const daemonSetCondition = s.object('io.k8s.api.apps.v1.DaemonSetCondition', 'A condition of a DaemonSet.', {
  type: s.required(
    1,
    s.string({ goType: 'v1.DaemonSetConditionType' }),
    'Type of the condition. Kubernetes itself sets none.',
  ),
  status: s.required(2, s.string({ goType: 'v1.ConditionStatus' }), 'Status of the condition: True, False or Unknown.'),
  lastTransitionTime: s.optional(3, s.time(), 'Time at which the status of the condition last changed.'),
  reason: s.optional(4, s.string(), 'Machine-readable reason for the status.'),
  message: s.optional(5, s.string(), 'Human-readable message with details.'),
});
export type DaemonSetCondition = s.TypeOf<typeof daemonSetCondition>;

export const daemonSetStatus = s.object(
  'io.k8s.api.apps.v1.DaemonSetStatus',
  'The nodes, counted by what their Pods are like.',
  {
    currentNumberScheduled: s.required(1, s.int32(), 'Nodes that should have a Pod and have at least one.'),
    numberMisscheduled: s.required(2, s.int32(), 'Nodes that have a Pod and should not.'),
    desiredNumberScheduled: s.required(3, s.int32(), 'Nodes that should have a Pod.'),
    numberReady: s.required(4, s.int32(), 'Nodes that should have a Pod and whose Pod is ready.'),
    observedGeneration: s.optional(5, s.int64(), 'The metadata.generation that this status was observed for.'),
    updatedNumberScheduled: s.optional(6, s.int32(), 'Nodes whose Pod is from the present template.'),
    numberAvailable: s.optional(7, s.int32(), 'Nodes whose Pod has been ready for minReadySeconds.'),
    numberUnavailable: s.optional(8, s.int32(), 'Nodes that should have a Pod and have none that is available.'),
    collisionCount: s.pointer(9, s.int32(), 'Number of hash collisions of revision names.'),
    conditions: s.optional(10, s.listMap(daemonSetCondition, ['type']), 'Conditions of the current state.', {
      patchStrategy: 'merge',
      patchMergeKey: 'type',
    }),
  },
);
export type DaemonSetStatus = s.TypeOf<typeof daemonSetStatus>;

export const daemonSet = kind(
  'io.k8s.api.apps.v1.DaemonSet',
  'Keeps one Pod on every node, or on every node that fits.',
  {
    group: 'apps',
    version: 'v1',
    kind: 'DaemonSet',
    plural: 'daemonsets',
    scope: 'Namespaced',
    shortNames: ['ds'],
    categories: ['all'],
    subresources: ['status'],
    fields: {
      spec: s.optional(2, daemonSetSpec, 'Desired state of the Pods.'),
      status: s.optional(3, daemonSetStatus, 'Observed state of the Pods on the nodes. May be stale.'),
    },
  },
);
export type DaemonSet = s.TypeOf<typeof daemonSet>;
