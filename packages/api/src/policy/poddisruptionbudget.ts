import * as s from '@kruise/schema';
import { condition } from '../meta/condition.ts';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';

export const podDisruptionBudgetSpec = s.object(
  'io.k8s.api.policy.v1.PodDisruptionBudgetSpec',
  'How many Pods must stay.',
  {
    minAvailable: s.pointer(
      1,
      s.intOrString(),
      'How many must stay available: a number, or a percentage rounded up. Not together with maxUnavailable.',
    ),
    selector: s.pointer(2, labelSelector, 'The Pods, by label. Empty: all of the namespace; unset: none.', {
      patchStrategy: 'replace',
    }),
    maxUnavailable: s.pointer(
      3,
      s.intOrString(),
      'How many may be unavailable: a number, or a percentage rounded up. Not together with minAvailable.',
    ),
    unhealthyPodEvictionPolicy: s.pointer(
      4,
      s.oneOf('v1.UnhealthyPodEvictionPolicyType', ['IfHealthyBudget', 'AlwaysAllow']),
      'Whether Pods that are not ready may be evicted: IfHealthyBudget (the default) if enough others are healthy, AlwaysAllow in any case.',
    ),
  },
);
export type PodDisruptionBudgetSpec = s.TypeOf<typeof podDisruptionBudgetSpec>;

export const podDisruptionBudgetStatus = s.object(
  'io.k8s.api.policy.v1.PodDisruptionBudgetStatus',
  'How much of a budget is left.',
  {
    observedGeneration: s.optional(1, s.int64(), 'The metadata.generation that this status was observed for.'),
    disruptedPods: s.optional(
      2,
      s.map(s.time()),
      'Pods whose eviction was allowed and that have not been seen to go, with the time.',
    ),
    disruptionsAllowed: s.required(3, s.int32(), 'How many Pods may be evicted now.'),
    currentHealthy: s.required(4, s.int32(), 'Pods that are healthy.'),
    desiredHealthy: s.required(5, s.int32(), 'Pods that must be healthy.'),
    expectedPods: s.required(6, s.int32(), 'Pods that are counted.'),
    conditions: s.optional(
      7,
      s.listMap(condition, ['type']),
      'DisruptionAllowed says whether any Pod may be evicted.',
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
      spec: s.optional(2, podDisruptionBudgetSpec, 'How many must stay.'),
      status: s.optional(3, podDisruptionBudgetStatus, 'How much is left.'),
    },
  },
);
export type PodDisruptionBudget = s.TypeOf<typeof podDisruptionBudget>;
