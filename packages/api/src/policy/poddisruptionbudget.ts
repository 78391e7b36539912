import * as s from '@kruise/schema';
import { condition } from '../meta/condition.ts';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';

export const podDisruptionBudgetSpec = s.object(
  'io.k8s.api.policy.v1.PodDisruptionBudgetSpec',
  'Specification: limits of disruptions and the selected Pods.',
  {
    minAvailable: s.pointer(
      1,
      s.intOrString(),
      'Minimum number of available Pods: a number, or a percentage rounded up. Excludes maxUnavailable.',
    ),
    selector: s.pointer(2, labelSelector, 'The Pods, by label. Empty: all of the namespace; unset: none.', {
      patchStrategy: 'replace',
    }),
    maxUnavailable: s.pointer(
      3,
      s.intOrString(),
      'Maximum number of unavailable Pods: a number, or a percentage rounded up. Excludes minAvailable.',
    ),
    unhealthyPodEvictionPolicy: s.pointer(
      4,
      s.oneOf('v1.UnhealthyPodEvictionPolicyType', ['IfHealthyBudget', 'AlwaysAllow']),
      'Eviction of Pods that are not ready: IfHealthyBudget (the default) permits it if enough other Pods are healthy, AlwaysAllow in any case.',
    ),
  },
);
export type PodDisruptionBudgetSpec = s.TypeOf<typeof podDisruptionBudgetSpec>;

export const podDisruptionBudgetStatus = s.object(
  'io.k8s.api.policy.v1.PodDisruptionBudgetStatus',
  'Status of a budget: current counts and permitted disruptions.',
  {
    observedGeneration: s.optional(1, s.int64(), 'The metadata.generation that this status was observed for.'),
    disruptedPods: s.optional(
      2,
      s.map(s.time()),
      'Pods whose eviction was permitted and that are not terminating yet, with the time.',
    ),
    disruptionsAllowed: s.required(3, s.int32(), 'Number of Pods that may be evicted at present.'),
    currentHealthy: s.required(4, s.int32(), 'Pods that are healthy.'),
    desiredHealthy: s.required(5, s.int32(), 'Pods that must be healthy.'),
    expectedPods: s.required(6, s.int32(), 'Pods that are counted.'),
    conditions: s.optional(
      7,
      s.listMap(condition, ['type']),
      'Conditions; DisruptionAllowed is True if a Pod may be evicted.',
      { patchStrategy: 'merge', patchMergeKey: 'type' },
    ),
  },
);
export type PodDisruptionBudgetStatus = s.TypeOf<typeof podDisruptionBudgetStatus>;

export const podDisruptionBudget = kind(
  'io.k8s.api.policy.v1.PodDisruptionBudget',
  'Limits how many Pods may be evicted at once, as when nodes are drained.',
  {
    group: 'policy',
    version: 'v1',
    kind: 'PodDisruptionBudget',
    plural: 'poddisruptionbudgets',
    scope: 'Namespaced',
    shortNames: ['pdb'],
    subresources: ['status'],
    fields: {
      spec: s.optional(2, podDisruptionBudgetSpec, 'Specification: limits of disruptions and the selected Pods.'),
      status: s.optional(3, podDisruptionBudgetStatus, 'Status: current counts and permitted disruptions.'),
    },
  },
);
export type PodDisruptionBudget = s.TypeOf<typeof podDisruptionBudget>;
