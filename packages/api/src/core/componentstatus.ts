import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const componentCondition = s.object('io.k8s.api.core.v1.ComponentCondition', '', {
  type: s.required(1, s.string({ goType: 'v1.ComponentConditionType' }), ''),
  status: s.required(2, s.string({ goType: 'v1.ConditionStatus' }), ''),
  message: s.optional(3, s.string(), ''),
  error: s.optional(4, s.string(), ''),
});
export type ComponentCondition = s.TypeOf<typeof componentCondition>;

export const componentStatus = kind('io.k8s.api.core.v1.ComponentStatus', '', {
  group: '',
  version: 'v1',
  kind: 'ComponentStatus',
  plural: 'componentstatuses',
  scope: 'Cluster',
  shortNames: ['cs'],
  verbs: ['get', 'list'],
  fields: {
    conditions: s.optional(2, s.listMap(componentCondition, ['type']), '', { patchStrategy: 'merge', patchMergeKey: 'type' }),
  },
});
export type ComponentStatus = s.TypeOf<typeof componentStatus>;
