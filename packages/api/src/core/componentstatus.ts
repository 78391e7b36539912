import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const componentCondition = s.object(
  'io.k8s.api.core.v1.ComponentCondition',
  'A health condition of a component.',
  {
    type: s.required(
      1,
      s.string({ goType: 'v1.ComponentConditionType' }),
      'What was asked; Healthy is the only question there is.',
    ),
    status: s.required(
      2,
      s.string({ goType: 'v1.ConditionStatus' }),
      'The answer: True for healthy, False for not, Unknown if none came.',
    ),
    message: s.optional(3, s.string(), 'What the component answered, such as ok.'),
    error: s.optional(4, s.string(), 'Why the component could not be asked.'),
  },
);
export type ComponentCondition = s.TypeOf<typeof componentCondition>;

export const componentStatus = kind(
  'io.k8s.api.core.v1.ComponentStatus',
  'The health of a part of the control plane, asked for when it is read. Deprecated: ask the component itself.',
  {
    group: '',
    version: 'v1',
    kind: 'ComponentStatus',
    plural: 'componentstatuses',
    scope: 'Cluster',
    shortNames: ['cs'],
    verbs: ['get', 'list'],
    fields: {
      conditions: s.optional(2, s.listMap(componentCondition, ['type']), 'What was found out about the component.', {
        patchStrategy: 'merge',
        patchMergeKey: 'type',
      }),
    },
  },
);
export type ComponentStatus = s.TypeOf<typeof componentStatus>;
