import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const queuingConfiguration = s.object('io.k8s.api.flowcontrol.v1.QueuingConfiguration', '', {
  queues: s.optional(1, s.int32(), '', { omitEmpty: false }),
  handSize: s.optional(2, s.int32(), '', { omitEmpty: false }),
  queueLengthLimit: s.optional(3, s.int32(), '', { omitEmpty: false }),
});
export type QueuingConfiguration = s.TypeOf<typeof queuingConfiguration>;

export const limitResponse = s.object('io.k8s.api.flowcontrol.v1.LimitResponse', '', {
  type: s.required(1, s.string({ goType: 'v1.LimitResponseType' }), ''),
  queuing: s.pointer(2, queuingConfiguration, ''),
});
export type LimitResponse = s.TypeOf<typeof limitResponse>;

export const limitedPriorityLevelConfiguration = s.object('io.k8s.api.flowcontrol.v1.LimitedPriorityLevelConfiguration', '', {
  nominalConcurrencyShares: s.pointer(1, s.int32(), '', { omitEmpty: false }),
  limitResponse: s.optional(2, limitResponse, ''),
  lendablePercent: s.pointer(3, s.int32(), ''),
  borrowingLimitPercent: s.pointer(4, s.int32(), ''),
});
export type LimitedPriorityLevelConfiguration = s.TypeOf<typeof limitedPriorityLevelConfiguration>;

export const exemptPriorityLevelConfiguration = s.object('io.k8s.api.flowcontrol.v1.ExemptPriorityLevelConfiguration', '', {
  nominalConcurrencyShares: s.pointer(1, s.int32(), ''),
  lendablePercent: s.pointer(2, s.int32(), ''),
});
export type ExemptPriorityLevelConfiguration = s.TypeOf<typeof exemptPriorityLevelConfiguration>;

export const priorityLevelConfigurationSpec = s.object('io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationSpec', '', {
  type: s.required(1, s.string({ goType: 'v1.PriorityLevelEnablement' }), ''),
  limited: s.pointer(2, limitedPriorityLevelConfiguration, ''),
  exempt: s.pointer(3, exemptPriorityLevelConfiguration, ''),
});
export type PriorityLevelConfigurationSpec = s.TypeOf<typeof priorityLevelConfigurationSpec>;

export const priorityLevelConfigurationCondition = s.object('io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationCondition', '', {
  type: s.optional(1, s.string({ goType: 'v1.PriorityLevelConfigurationConditionType' }), ''),
  status: s.optional(2, s.string({ goType: 'v1.ConditionStatus' }), ''),
  lastTransitionTime: s.optional(3, s.time(), ''),
  reason: s.optional(4, s.string(), ''),
  message: s.optional(5, s.string(), ''),
});
export type PriorityLevelConfigurationCondition = s.TypeOf<typeof priorityLevelConfigurationCondition>;

export const priorityLevelConfigurationStatus = s.object('io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationStatus', '', {
  conditions: s.optional(1, s.listMap(priorityLevelConfigurationCondition, ['type']), '', { patchStrategy: 'merge', patchMergeKey: 'type' }),
});
export type PriorityLevelConfigurationStatus = s.TypeOf<typeof priorityLevelConfigurationStatus>;

export const priorityLevelConfiguration = kind('io.k8s.api.flowcontrol.v1.PriorityLevelConfiguration', '', {
  group: 'flowcontrol.apiserver.k8s.io',
  version: 'v1',
  kind: 'PriorityLevelConfiguration',
  plural: 'prioritylevelconfigurations',
  scope: 'Cluster',
  subresources: ['status'],
  fields: {
    spec: s.optional(2, priorityLevelConfigurationSpec, ''),
    status: s.optional(3, priorityLevelConfigurationStatus, ''),
  },
});
export type PriorityLevelConfiguration = s.TypeOf<typeof priorityLevelConfiguration>;
