import * as s from '@kruise/schema';
import { condition } from '../meta/condition.ts';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';

export const podDisruptionBudgetSpec = s.object('io.k8s.api.policy.v1.PodDisruptionBudgetSpec', '', {
  minAvailable: s.pointer(1, s.intOrString(), ''),
  selector: s.pointer(2, labelSelector, '', { patchStrategy: 'replace' }),
  maxUnavailable: s.pointer(3, s.intOrString(), ''),
  unhealthyPodEvictionPolicy: s.pointer(4, s.oneOf('v1.UnhealthyPodEvictionPolicyType', ['IfHealthyBudget', 'AlwaysAllow']), ''),
});
export type PodDisruptionBudgetSpec = s.TypeOf<typeof podDisruptionBudgetSpec>;

export const podDisruptionBudgetStatus = s.object('io.k8s.api.policy.v1.PodDisruptionBudgetStatus', '', {
  observedGeneration: s.optional(1, s.int64(), ''),
  disruptedPods: s.optional(2, s.map(s.time()), ''),
  disruptionsAllowed: s.required(3, s.int32(), ''),
  currentHealthy: s.required(4, s.int32(), ''),
  desiredHealthy: s.required(5, s.int32(), ''),
  expectedPods: s.required(6, s.int32(), ''),
  conditions: s.optional(7, s.listMap(condition, ['type']), '', { patchStrategy: 'merge', patchMergeKey: 'type' }),
});
export type PodDisruptionBudgetStatus = s.TypeOf<typeof podDisruptionBudgetStatus>;

export const podDisruptionBudget = kind('io.k8s.api.policy.v1.PodDisruptionBudget', '', {
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  scope: 'Namespaced',
  shortNames: ['pdb'],
  subresources: ['status'],
  fields: {
    spec: s.optional(2, podDisruptionBudgetSpec, ''),
    status: s.optional(3, podDisruptionBudgetStatus, ''),
  },
});
export type PodDisruptionBudget = s.TypeOf<typeof podDisruptionBudget>;
