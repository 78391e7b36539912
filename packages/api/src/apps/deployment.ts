import * as s from '@kruise/schema';
import { podTemplateSpec } from '../core/pod-template.ts';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';

export const rollingUpdateDeployment = s.object(
  'io.k8s.api.apps.v1.RollingUpdateDeployment',
  'Rolling update of a Deployment.',
  {
    maxUnavailable: s.pointer(
      1,
      s.intOrString(),
      'Maximum number of unavailable Pods during the update: a number, or a percentage of replicas, rounded down. Default 25%; must not be 0 if maxSurge is 0.',
    ),
    maxSurge: s.pointer(
      2,
      s.intOrString(),
      'Maximum number of Pods above replicas during the update: a number, or a percentage of replicas, rounded up. Default 25%.',
    ),
  },
);
export type RollingUpdateDeployment = s.TypeOf<typeof rollingUpdateDeployment>;

export const deploymentStrategy = s.object(
  'io.k8s.api.apps.v1.DeploymentStrategy',
  'Update strategy of a Deployment.',
  {
    type: s.optional(
      1,
      s.oneOf('v1.DeploymentStrategyType', ['Recreate', 'RollingUpdate']),
      'RollingUpdate (the default) replaces Pods gradually; Recreate deletes all old Pods first.',
    ),
    rollingUpdate: s.pointer(2, rollingUpdateDeployment, 'Parameters of RollingUpdate. Not with Recreate.'),
  },
);
export type DeploymentStrategy = s.TypeOf<typeof deploymentStrategy>;

export const deploymentSpec = s.object('io.k8s.api.apps.v1.DeploymentSpec', 'Desired state of the Pods.', {
  replicas: s.pointer(1, s.int32(), 'Number of desired Pods. Default 1.'),
  selector: s.required(
    2,
    labelSelector,
    'Label selector of the Pods that belong to the workload. Must match the labels of the template; immutable.',
    { pointer: true },
  ),
  template: s.required(3, podTemplateSpec, 'The Pod to run. Its restartPolicy is Always. A change begins a rollout.'),
  strategy: s.optional(4, deploymentStrategy, 'Strategy for updating Pods to a changed template.', {
    patchStrategy: 'retainKeys',
  }),
  minReadySeconds: s.optional(
    5,
    s.int32(),
    'Seconds a Pod must have been ready before it counts as available. Default 0.',
  ),
  revisionHistoryLimit: s.pointer(6, s.int32(), 'Number of old ReplicaSets to keep for rollbacks. Default 10.'),
  paused: s.optional(7, s.boolean(), 'Pauses rollouts; scaling continues. Default false.'),
  progressDeadlineSeconds: s.pointer(
    9,
    s.int32(),
    'Seconds without progress until the condition Progressing becomes False; the rollout continues. Default 600.',
  ),
});
export type DeploymentSpec = s.TypeOf<typeof deploymentSpec>;

export const deploymentCondition = s.object('io.k8s.api.apps.v1.DeploymentCondition', 'A condition of a Deployment.', {
  type: s.required(1, s.string({ goType: 'v1.DeploymentConditionType' }), 'Available, Progressing or ReplicaFailure.'),
  status: s.required(2, s.string({ goType: 'v1.ConditionStatus' }), 'Status of the condition: True, False or Unknown.'),
  lastUpdateTime: s.optional(6, s.time(), 'Time at which the condition was last updated.'),
  lastTransitionTime: s.optional(7, s.time(), 'Time at which the status of the condition last changed.'),
  reason: s.optional(
    4,
    s.string(),
    'Machine-readable reason, such as NewReplicaSetAvailable or ProgressDeadlineExceeded.',
  ),
  message: s.optional(5, s.string(), 'Human-readable message with details.'),
});
export type DeploymentCondition = s.TypeOf<typeof deploymentCondition>;

export const deploymentStatus = s.object('io.k8s.api.apps.v1.DeploymentStatus', 'Observed state of the Pods.', {
  observedGeneration: s.optional(1, s.int64(), 'The metadata.generation that this status was observed for.'),
  replicas: s.optional(2, s.int32(), 'Pods that are not being deleted.'),
  updatedReplicas: s.optional(3, s.int32(), 'Pods from the present template.'),
  readyReplicas: s.optional(7, s.int32(), 'Pods that are ready.'),
  availableReplicas: s.optional(4, s.int32(), 'Pods that have been ready for minReadySeconds.'),
  unavailableReplicas: s.optional(5, s.int32(), 'Pods still missing for all to be available.'),
  terminatingReplicas: s.pointer(9, s.int32(), 'Pods that are being deleted. Of alpha quality, behind a feature gate.'),
  conditions: s.optional(
    6,
    s.listMap(deploymentCondition, ['type']),
    'Conditions of the rollout, for example Progressing and Available.',
    {
      patchStrategy: 'merge',
      patchMergeKey: 'type',
    },
  ),
  collisionCount: s.pointer(8, s.int32(), 'Number of hash collisions of ReplicaSet names.'),
});
export type DeploymentStatus = s.TypeOf<typeof deploymentStatus>;

export const deployment = kind(
  'io.k8s.api.apps.v1.Deployment',
  'Keeps a number of identical Pods running, and replaces them gradually when the template changes.',
  {
    group: 'apps',
    version: 'v1',
    kind: 'Deployment',
    plural: 'deployments',
    scope: 'Namespaced',
    shortNames: ['deploy'],
    categories: ['all'],
    subresources: ['scale', 'status'],
    fields: {
      spec: s.optional(2, deploymentSpec, 'Desired state of the Pods.'),
      status: s.optional(3, deploymentStatus, 'Observed state of the Pods.'),
    },
  },
);
export type Deployment = s.TypeOf<typeof deployment>;
