import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { podTemplateSpec } from '../core/pod-template.ts';

export const rollingUpdateDaemonSet = s.object('io.k8s.api.apps.v1.RollingUpdateDaemonSet', '', {
  maxUnavailable: s.pointer(1, s.intOrString(), ''),
  maxSurge: s.pointer(2, s.intOrString(), ''),
});
export type RollingUpdateDaemonSet = s.TypeOf<typeof rollingUpdateDaemonSet>;

export const daemonSetUpdateStrategy = s.object('io.k8s.api.apps.v1.DaemonSetUpdateStrategy', '', {
  type: s.optional(1, s.oneOf('v1.DaemonSetUpdateStrategyType', ['RollingUpdate', 'OnDelete']), ''),
  rollingUpdate: s.pointer(2, rollingUpdateDaemonSet, ''),
});
export type DaemonSetUpdateStrategy = s.TypeOf<typeof daemonSetUpdateStrategy>;

export const daemonSetSpec = s.object('io.k8s.api.apps.v1.DaemonSetSpec', '', {
  selector: s.required(1, labelSelector, '', { pointer: true }),
  template: s.required(2, podTemplateSpec, ''),
  updateStrategy: s.optional(3, daemonSetUpdateStrategy, ''),
  minReadySeconds: s.optional(4, s.int32(), ''),
  revisionHistoryLimit: s.pointer(6, s.int32(), ''),
});
export type DaemonSetSpec = s.TypeOf<typeof daemonSetSpec>;

export const daemonSetCondition = s.object('io.k8s.api.apps.v1.DaemonSetCondition', '', {
  type: s.required(1, s.string({ goType: 'v1.DaemonSetConditionType' }), ''),
  status: s.required(2, s.string({ goType: 'v1.ConditionStatus' }), ''),
  lastTransitionTime: s.optional(3, s.time(), ''),
  reason: s.optional(4, s.string(), ''),
  message: s.optional(5, s.string(), ''),
});
export type DaemonSetCondition = s.TypeOf<typeof daemonSetCondition>;

export const daemonSetStatus = s.object('io.k8s.api.apps.v1.DaemonSetStatus', '', {
  currentNumberScheduled: s.required(1, s.int32(), ''),
  numberMisscheduled: s.required(2, s.int32(), ''),
  desiredNumberScheduled: s.required(3, s.int32(), ''),
  numberReady: s.required(4, s.int32(), ''),
  observedGeneration: s.optional(5, s.int64(), ''),
  updatedNumberScheduled: s.optional(6, s.int32(), ''),
  numberAvailable: s.optional(7, s.int32(), ''),
  numberUnavailable: s.optional(8, s.int32(), ''),
  collisionCount: s.pointer(9, s.int32(), ''),
  conditions: s.optional(10, s.listMap(daemonSetCondition, ['type']), '', { patchStrategy: 'merge', patchMergeKey: 'type' }),
});
export type DaemonSetStatus = s.TypeOf<typeof daemonSetStatus>;

export const daemonSet = kind('io.k8s.api.apps.v1.DaemonSet', '', {
  group: 'apps',
  version: 'v1',
  kind: 'DaemonSet',
  plural: 'daemonsets',
  scope: 'Namespaced',
  shortNames: ['ds'],
  categories: ['all'],
  subresources: ['status'],
  fields: {
    spec: s.optional(2, daemonSetSpec, ''),
    status: s.optional(3, daemonSetStatus, ''),
  },
});
export type DaemonSet = s.TypeOf<typeof daemonSet>;
