import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const queuingConfiguration = s.object(
  'io.k8s.api.flowcontrol.v1.QueuingConfiguration',
  'The queues of a priority level.',
  {
    queues: s.optional(1, s.int32(), 'Number of queues. Default 64; with 1, all flows share one queue.', {
      omitEmpty: false,
    }),
    handSize: s.optional(2, s.int32(), 'Among how many queues each flow is dealt; not more than queues. Default 8.', {
      omitEmpty: false,
    }),
    queueLengthLimit: s.optional(
      3,
      s.int32(),
      'Maximum number of waiting requests in a queue; further requests are rejected. Default 50.',
      {
        omitEmpty: false,
      },
    ),
  },
);
export type QueuingConfiguration = s.TypeOf<typeof queuingConfiguration>;

export const limitResponse = s.object(
  'io.k8s.api.flowcontrol.v1.LimitResponse',
  'Treatment of requests that cannot be executed at once.',
  {
    type: s.required(
      1,
      s.string({ goType: 'v1.LimitResponseType' }),
      'Type: Queue lets requests wait, Reject rejects them with 429.',
    ),
    queuing: s.pointer(2, queuingConfiguration, 'The queues. Only with Queue.'),
  },
);
export type LimitResponse = s.TypeOf<typeof limitResponse>;

export const limitedPriorityLevelConfiguration = s.object(
  'io.k8s.api.flowcontrol.v1.LimitedPriorityLevelConfiguration',
  'Concurrency limit of a priority level.',
  {
    nominalConcurrencyShares: s.pointer(
      1,
      s.int32(),
      'Share of the concurrency limit of the server, in proportion to the other levels. Default 30; with 0 the level has only borrowed seats.',
      { omitEmpty: false },
    ),
    limitResponse: s.optional(2, limitResponse, 'Treatment of requests above the limit.'),
    lendablePercent: s.pointer(
      3,
      s.int32(),
      'Share of the seats that other levels may borrow while they are unused, 0 to 100 percent. Default 0.',
    ),
    borrowingLimitPercent: s.pointer(
      4,
      s.int32(),
      'Maximum number of seats that the level may borrow, in percent of its own. Unset: no limit.',
    ),
  },
);
export type LimitedPriorityLevelConfiguration = s.TypeOf<typeof limitedPriorityLevelConfiguration>;

export const exemptPriorityLevelConfiguration = s.object(
  'io.k8s.api.flowcontrol.v1.ExemptPriorityLevelConfiguration',
  'Seats that an exempt priority level lends.',
  {
    nominalConcurrencyShares: s.pointer(
      1,
      s.int32(),
      'The share that counts as its own when shares are computed. Default 0. It is never held to it.',
    ),
    lendablePercent: s.pointer(
      2,
      s.int32(),
      'Share of the seats that other levels may borrow, 0 to 100 percent. Default 0.',
    ),
  },
);
export type ExemptPriorityLevelConfiguration = s.TypeOf<typeof exemptPriorityLevelConfiguration>;

export const priorityLevelConfigurationSpec = s.object(
  'io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationSpec',
  'Specification of a priority level.',
  {
    type: s.required(1, s.string({ goType: 'v1.PriorityLevelEnablement' }), 'Exempt is never limited, Limited is.'),
    limited: s.pointer(
      2,
      limitedPriorityLevelConfiguration,
      'Limits of the level. Required with type Limited, and not permitted otherwise.',
    ),
    exempt: s.pointer(3, exemptPriorityLevelConfiguration, 'Lending of seats. Only with type Exempt.'),
  },
);
export type PriorityLevelConfigurationSpec = s.TypeOf<typeof priorityLevelConfigurationSpec>;

export const priorityLevelConfigurationCondition = s.object(
  'io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationCondition',
  'A condition of a priority level.',
  {
    type: s.optional(
      1,
      s.string({ goType: 'v1.PriorityLevelConfigurationConditionType' }),
      'Type of the condition. Kubernetes itself sets none.',
    ),
    status: s.optional(
      2,
      s.string({ goType: 'v1.ConditionStatus' }),
      'Status of the condition: True, False or Unknown.',
    ),
    lastTransitionTime: s.optional(3, s.time(), 'Time at which the status of the condition last changed.'),
    reason: s.optional(4, s.string(), 'Machine-readable reason for the status.'),
    message: s.optional(5, s.string(), 'Human-readable message with details.'),
  },
);
export type PriorityLevelConfigurationCondition = s.TypeOf<typeof priorityLevelConfigurationCondition>;

export const priorityLevelConfigurationStatus = s.object(
  'io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationStatus',
  'Status of a priority level.',
  {
    conditions: s.optional(
      1,
      s.listMap(priorityLevelConfigurationCondition, ['type']),
      'Conditions of the priority level.',
      { patchStrategy: 'merge', patchMergeKey: 'type' },
    ),
  },
);
export type PriorityLevelConfigurationStatus = s.TypeOf<typeof priorityLevelConfigurationStatus>;

export const priorityLevelConfiguration = kind(
  'io.k8s.api.flowcontrol.v1.PriorityLevelConfiguration',
  'A class of requests that share what the server can do.',
  {
    group: 'flowcontrol.apiserver.k8s.io',
    version: 'v1',
    kind: 'PriorityLevelConfiguration',
    plural: 'prioritylevelconfigurations',
    scope: 'Cluster',
    subresources: ['status'],
    fields: {
      spec: s.optional(2, priorityLevelConfigurationSpec, 'Specification of the priority level.'),
      status: s.optional(3, priorityLevelConfigurationStatus, 'Status of the priority level.'),
    },
  },
);
export type PriorityLevelConfiguration = s.TypeOf<typeof priorityLevelConfiguration>;
