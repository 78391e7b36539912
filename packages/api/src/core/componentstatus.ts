import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const componentCondition = s.object(
  'io.k8s.api.core.v1.ComponentCondition',
  'A health condition of a component.',
  {
    type: s.required(
      1,
      s.string({ goType: 'v1.ComponentConditionType' }),
      'Type of the condition; Healthy is the only one.',
    ),
    status: s.required(
      2,
      s.string({ goType: 'v1.ConditionStatus' }),
      'The answer: True for healthy, False for not, Unknown if none came.',
    ),
    message: s.optional(3, s.string(), 'Response of the component, for example ok.'),
    error: s.optional(4, s.string(), 'Error that prevented the health check.'),
  },
);
export type ComponentCondition = s.TypeOf<typeof componentCondition>;

export const componentStatus = kind(
  'io.k8s.api.core.v1.ComponentStatus',
  'Health of a component of the control plane, checked when the object is read. Deprecated: use the health endpoints of the component.',
  {
    group: '',
    version: 'v1',
    kind: 'ComponentStatus',
    plural: 'componentstatuses',
    scope: 'Cluster',
    shortNames: ['cs'],
    verbs: ['get', 'list'],
    fields: {
      conditions: s.optional(2, s.listMap(componentCondition, ['type']), 'Conditions of the component.', {
        patchStrategy: 'merge',
        patchMergeKey: 'type',
      }),
    },
  },
);
export type ComponentStatus = s.TypeOf<typeof componentStatus>;
