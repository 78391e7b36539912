import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { podTemplateSpec } from '../core/pod-template.ts';

export const rollingUpdateDeployment = s.object('io.k8s.api.apps.v1.RollingUpdateDeployment', '', {
  maxUnavailable: s.pointer(1, s.intOrString(), ''),
  maxSurge: s.pointer(2, s.intOrString(), ''),
});
export type RollingUpdateDeployment = s.TypeOf<typeof rollingUpdateDeployment>;

export const deploymentStrategy = s.object('io.k8s.api.apps.v1.DeploymentStrategy', '', {
  type: s.optional(1, s.oneOf('v1.DeploymentStrategyType', ['Recreate', 'RollingUpdate']), ''),
  rollingUpdate: s.pointer(2, rollingUpdateDeployment, ''),
});
export type DeploymentStrategy = s.TypeOf<typeof deploymentStrategy>;

export const deploymentSpec = s.object('io.k8s.api.apps.v1.DeploymentSpec', '', {
  replicas: s.pointer(1, s.int32(), ''),
  selector: s.required(2, labelSelector, '', { pointer: true }),
  template: s.required(3, podTemplateSpec, ''),
  strategy: s.optional(4, deploymentStrategy, '', { patchStrategy: 'retainKeys' }),
  minReadySeconds: s.optional(5, s.int32(), ''),
  revisionHistoryLimit: s.pointer(6, s.int32(), ''),
  paused: s.optional(7, s.boolean(), ''),
  progressDeadlineSeconds: s.pointer(9, s.int32(), ''),
});
export type DeploymentSpec = s.TypeOf<typeof deploymentSpec>;

export const deploymentCondition = s.object('io.k8s.api.apps.v1.DeploymentCondition', '', {
  type: s.required(1, s.string({ goType: 'v1.DeploymentConditionType' }), ''),
  status: s.required(2, s.string({ goType: 'v1.ConditionStatus' }), ''),
  lastUpdateTime: s.optional(6, s.time(), ''),
  lastTransitionTime: s.optional(7, s.time(), ''),
  reason: s.optional(4, s.string(), ''),
  message: s.optional(5, s.string(), ''),
});
export type DeploymentCondition = s.TypeOf<typeof deploymentCondition>;

export const deploymentStatus = s.object('io.k8s.api.apps.v1.DeploymentStatus', '', {
  observedGeneration: s.optional(1, s.int64(), ''),
  replicas: s.optional(2, s.int32(), ''),
  updatedReplicas: s.optional(3, s.int32(), ''),
  readyReplicas: s.optional(7, s.int32(), ''),
  availableReplicas: s.optional(4, s.int32(), ''),
  unavailableReplicas: s.optional(5, s.int32(), ''),
  terminatingReplicas: s.pointer(9, s.int32(), ''),
  conditions: s.optional(6, s.listMap(deploymentCondition, ['type']), '', { patchStrategy: 'merge', patchMergeKey: 'type' }),
  collisionCount: s.pointer(8, s.int32(), ''),
});
export type DeploymentStatus = s.TypeOf<typeof deploymentStatus>;

export const deployment = kind('io.k8s.api.apps.v1.Deployment', '', {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  scope: 'Namespaced',
  shortNames: ['deploy'],
  categories: ['all'],
  subresources: ['scale', 'status'],
  fields: {
    spec: s.optional(2, deploymentSpec, ''),
    status: s.optional(3, deploymentStatus, ''),
  },
});
export type Deployment = s.TypeOf<typeof deployment>;
